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
    "cp852": ["Ślimak/1.jpg", "Żółw", "Źrebię"],
    "cp1252": ["Blüten/1.jpg", "größe", "façade", "œuvre d'été", "señal", "Straßenbahn", "naïve"],
    "cp437": ["Blüten/1.jpg", "größer", "façade", "été", "señal", "Åland", "naïve"],
}


@pytest.mark.parametrize("encoding", NAMES)
def test_names_of_one_system_are_read_by_its_code_page(encoding: str) -> None:
    """All names of an archive together are read as they were written."""
    assert guess_name_encoding(name.encode(encoding) for name in NAMES[encoding]) == encoding


def test_one_letter_before_others_is_not_asian() -> None:
    """`Äpfel` of Windows is two bytes that Big5 would read as one character and `pfel`."""
    names = ["Äpfel/1.jpg", "Birnen/Äpfel.jpg"]

    assert guess_name_encoding(name.encode("cp1252") for name in names) != "big5"


@pytest.mark.parametrize("names", [[], [b"50\xf8C/1.jpg"], [b"a\xf6\xfb b\x9f"]])
def test_names_without_a_clear_winner_stay_as_the_format_says(names: list[bytes]) -> None:
    """Names of signs, and no names, are read as code page 437."""
    assert guess_name_encoding(names) == "cp437"
