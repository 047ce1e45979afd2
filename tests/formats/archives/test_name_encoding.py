"""Guessing the code page of names in zip archives."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from chalicelib.domain.datasets.upload_format import checked_encoding
from chalicelib.formats.archives.name_encoding import (
    _CANDIDATES,
    _OTHERS,
    DEFAULT,
    guess_name_encoding,
)

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


def _guess(names: Iterable[bytes]) -> str:
    return guess_name_encoding(names).encodings[0]


@pytest.mark.parametrize("encoding", NAMES)
def test_names_of_one_system_are_read_by_its_code_page(encoding: str) -> None:
    """The names of an archive are decoded together with the code page they were written in."""
    assert _guess(name.encode(encoding) for name in NAMES[encoding]) == encoding


def test_one_letter_before_others_is_not_asian() -> None:
    """`Äpfel` in a Windows code page is not read as Big5."""
    names = ["Äpfel/1.jpg", "Birnen/Äpfel.jpg"]

    assert _guess(name.encode("cp1252") for name in names) != "big5"


def test_names_without_a_clear_winner_stay_as_the_format_says() -> None:
    """Names that no code page fits clearly are read as code page 437."""
    assert _guess([b"50\xf8C/1.jpg"]) == "cp437"


@pytest.mark.parametrize("name", ["één", "créée", "réélu", "année"])
def test_marks_of_thai_do_not_stand_on_latin_letters(name: str) -> None:
    """A French or Dutch name of a Windows code page is not read as Thai."""
    assert _guess([name.encode("cp1252")]) != "cp874"


@pytest.mark.parametrize(
    ("name", "encoding"), [("Maçã", "cp860"), ("PRÊT À JETER", "cp863"), ("Mängel", "cp437")]
)
def test_a_guess_names_the_code_pages_that_read_the_names_otherwise(
    name: str, encoding: str
) -> None:
    """The code page that wrote the names is guessed, or named with its reading of a name."""
    guess = guess_name_encoding([f"{name}/1.jpg".encode(encoding)])

    assert encoding in guess.encodings
    assert len(guess.encodings) > 1
    assert f"{encoding} ('{name}')" in guess.describe()


@pytest.mark.parametrize("names", [[], [b"cat"]])
def test_plain_names_are_no_guess(names: list[bytes]) -> None:
    """Without letters beyond ASCII nothing is guessed, so there is no warning."""
    assert not guess_name_encoding(names).sample


@pytest.mark.parametrize("encoding", [DEFAULT, *_CANDIDATES, *_OTHERS])
def test_every_guess_can_be_requested(encoding: str) -> None:
    """A caller can confirm the code page that a warning names."""
    assert checked_encoding(encoding)
