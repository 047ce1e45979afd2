"""Guessing the code page of names in zip archives."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.upload_format import checked_encoding
from chalicelib.formats.archives import name_encoding
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
    "cp861": ["Köttur/1.jpg", "Rauður", "Kýr", "Þvottur"],
    "cp862": ["כלב/1.jpg", "חתול", "ציפור"],
    "cp775": ["Katė/1.jpg", "Žuvis", "Įbrėžimas"],
    "cp737": ["γάτα/1.jpg", "σκύλος", "ΚΑΛΟ"],
    "cp1252": ["Blüten/1.jpg", "größe", "façade", "œuvre d'été", "señal", "Straßenbahn", "naïve"],
    "cp437": ["Blüten/1.jpg", "größer", "façade", "été", "señal", "Åland", "naïve"],
}


@pytest.mark.parametrize("encoding", NAMES)
def test_names_of_one_system_are_read_by_its_code_page(encoding: str) -> None:
    """The names of an archive are decoded together with the code page they were written in."""
    assert guess_name_encoding(name.encode(encoding) for name in NAMES[encoding])[0] == encoding


def test_one_letter_before_others_is_not_asian() -> None:
    """`Äpfel` in a Windows code page is not read as Big5."""
    names = ["Äpfel/1.jpg", "Birnen/Äpfel.jpg"]

    assert guess_name_encoding(name.encode("cp1252") for name in names)[0] != "big5"


def test_names_without_a_clear_winner_stay_as_the_format_says() -> None:
    """Names that no code page fits clearly are read as code page 437."""
    assert guess_name_encoding([b"50\xf8C/1.jpg"])[0] == "cp437"


@pytest.mark.parametrize("name", ["één", "créée", "réélu", "année"])
def test_marks_of_thai_do_not_stand_on_latin_letters(name: str) -> None:
    """A French or Dutch name of a Windows code page is not read as Thai."""
    assert guess_name_encoding([name.encode("cp1252")])[0] != "cp874"


@pytest.mark.parametrize("name", ["Balık", "Mısır", "ağaç", "süllő", "plátano"])
@pytest.mark.parametrize("encoding", ["cp857", "cp852", "cp1250"])
def test_a_name_that_other_code_pages_read_differently_is_a_guess(name: str, encoding: str) -> None:
    """Names that could be read in other code pages cause a warning, even a single letter."""
    raw = name.encode(encoding, "ignore")
    found, is_certain = guess_name_encoding([raw])

    assert not is_certain or raw.decode(found) == raw.decode(encoding)


@pytest.mark.parametrize("names", [[], [b"cat"], ["Größe".encode("cp437"), b"M\x84ngel"]])
def test_names_that_all_western_code_pages_read_alike_are_no_guess(names: list[bytes]) -> None:
    """Names that only code page 437 and its variants can produce cause no warning."""
    assert guess_name_encoding(names) == ("cp437", True)


@pytest.mark.parametrize("encoding", [name_encoding.DEFAULT, *name_encoding._CANDIDATES])
def test_every_guess_can_be_requested(encoding: str) -> None:
    """A caller can confirm the code page that a warning names."""
    assert checked_encoding(encoding)
