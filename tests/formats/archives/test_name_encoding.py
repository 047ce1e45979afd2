"""Tests of guessing the code page of names in zip archives."""

from __future__ import annotations

import pytest

from chalicelib.formats.archives.name_encoding import guess_name_encoding

NAMES = {
    "cp932": ["猫の絵/001.jpg", "犬の写真/002.jpg", "ネコ/3.png", "東京駅", "赤い花"],
    "gb18030": ["猫的图片/001.jpg", "红色的花/2.jpg", "北京", "发动机故障", "苹果"],
    "cp866": ["кошки/001.jpg", "Собаки/IMG_2.jpg", "красный цветок", "Неисправность", "ёлка"],
    "cp1251": ["кошки/001.jpg", "Собаки/IMG_2.jpg", "Брак", "Царапина"],
    "cp949": ["고양이/001.jpg", "강아지", "불량", "A급", "정상"],
    "big5": ["貓/001.jpg", "刮痕瑕疵", "正常產品", "兔子"],
    "cp850": ["Não conforme/1.jpg", "Padrão", "Ótimo", "AVIÓN"],
    "cp852": ["Ślimak/1.jpg", "Żółw", "Źrebię", "Kočka", "Vůz"],
    "cp857": ["Köpek/1.jpg", "Kuş", "Balık", "Şişe", "Sağlam"],
    "cp874": ["แมว/1.jpg", "สุนัข", "รถยนต์"],
    "cp862": ["כלב/1.jpg", "חתול", "ציפור"],
    "cp775": ["Katė/1.jpg", "Žuvis", "Įbrėžimas"],
    "cp737": ["γάτα/1.jpg", "σκύλος", "ΚΑΛΟ"],
    "cp1252": ["Blüten/1.jpg", "größe", "façade", "œuvre d'été", "señal", "Straßenbahn", "naïve"],
    "cp437": ["Blüten/1.jpg", "größer", "façade", "été", "señal", "Åland", "naïve"],
}


@pytest.mark.parametrize("encoding", NAMES)
def test_names_of_one_system_are_read_by_its_code_page(encoding: str) -> None:
    """All names of an archive together are read as they were written."""
    assert guess_name_encoding(name.encode(encoding) for name in NAMES[encoding])[0] == encoding


def test_one_letter_before_others_is_not_asian() -> None:
    """`Äpfel` of Windows is two bytes that Big5 would read as one character and `pfel`."""
    names = ["Äpfel/1.jpg", "Birnen/Äpfel.jpg"]

    assert guess_name_encoding(name.encode("cp1252") for name in names)[0] != "big5"


def test_names_without_a_clear_winner_stay_as_the_format_says() -> None:
    """Names of signs are read as code page 437."""
    assert guess_name_encoding([b"50\xf8C/1.jpg"])[0] == "cp437"


@pytest.mark.parametrize("name", ["Balık", "Mısır", "ağaç", "süllő", "plátano"])
@pytest.mark.parametrize("encoding", ["cp857", "cp852", "cp1250"])
def test_a_name_that_other_code_pages_read_differently_is_a_guess(name: str, encoding: str) -> None:
    """No name is read wrongly without a warning, not even one with a single letter."""
    raw = name.encode(encoding, "ignore")
    found, is_certain = guess_name_encoding([raw])

    assert not is_certain or raw.decode(found) == raw.decode(encoding)


@pytest.mark.parametrize("names", [[], [b"cat"], ["Größe".encode("cp437"), b"M\x84ngel"]])
def test_names_that_all_western_code_pages_read_alike_are_no_guess(names: list[bytes]) -> None:
    """Names that only code page 437 and its relatives can have written need no warning."""
    assert guess_name_encoding(names) == ("cp437", True)
