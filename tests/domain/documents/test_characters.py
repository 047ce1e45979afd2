"""The documented characters, and the mapping of others to them."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.documents.characters import (
    ASCII,
    CHARACTERS,
    LATIN_CHARACTERS,
    LATIN_LETTERS,
    SPACE,
    SYMBOLS,
    to_documented,
    to_latin,
)


def test_the_set_is_what_is_documented():
    """Printable ASCII, the symbols of English documents and the space, each once."""
    assert [ord(character) for character in ASCII] == list(range(33, 127))
    assert "£" in SYMBOLS
    assert "≈" in SYMBOLS
    assert CHARACTERS[-1] == SPACE
    assert len(set(CHARACTERS)) == len(CHARACTERS) == 123
    assert all(character.isprintable() for character in CHARACTERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café naïve Łódź Ærø", "Cafe naive Lodz AEro"),
        ("ｆｕｌｌ　ｗｉｄｔｈ！", "full width!"),
        ("ﬁnal oﬀer… №5", "final offer... No5"),
        ("a‐b−c―d", "a-b-c—d"),
        ("«quoted» „low‟", "“quoted” “low“"),
        ("½ ™ ° £5 ≈ €6", "½ ™ ° £5 ≈ €6"),
        ("a\u00a0b\u2009c\td\ne", "a b c d e"),
        ("漢字 Россия ☃", ""),
        ("a ≠ b ≮ c", "a b c"),
        ("x\x00\x1by\u200bz\ufeff", "xyz"),
        ("  spaced   out  ", "spaced out"),
        ("´ ¨ a", "a"),
        ("", ""),
    ],
)
def test_other_characters_become_plain_ones_or_nothing(text, expected):
    """Accents, ligatures, widths and look-alikes are mapped; others are dropped."""
    assert to_documented(text) == expected


def test_every_character_of_unicode_is_answered_within_the_set():
    """Any Unicode character is mapped into the set; documented ones stay."""
    known = set(CHARACTERS)
    for code in (*range(0x20000), *range(0x20000, sys.maxunicode, 997)):
        assert set(to_documented(chr(code))) <= known
    assert all(to_documented(character) == character for character in CHARACTERS.strip())


@given(st.text())
def test_what_was_kept_is_kept_again(text):
    """Mapping a result again does not change it."""
    once = to_documented(text)

    assert to_documented(once) == once
    assert once.split(" ") == once.split() or not once


def test_the_larger_set_is_the_documented_one_and_accented_letters():
    """Each once, the space last; every added letter is in both cases."""
    assert set(CHARACTERS) < set(LATIN_CHARACTERS)
    assert len(set(LATIN_CHARACTERS)) == len(LATIN_CHARACTERS)
    assert LATIN_CHARACTERS[-1] == SPACE
    for letter in set(LATIN_LETTERS) - {"ß"}:
        assert letter.swapcase() in LATIN_LETTERS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café naïve Łódź Ærø straße", "Café naïve Łódź Ærø straße"),
        ("Cafe\u0301 nin\u0303o", "Café niño"),
        ("Dvořák № ｆｕｌｌ", "Dvorák No full"),
        ("«quoted» „low“", "«quoted» “low“"),
        ("漢字 Россия ☃", ""),
    ],
)
def test_accents_of_western_europe_are_kept(text, expected):
    """Other letters become plain ones or nothing, as in the smaller set."""
    assert to_latin(text) == expected
    assert to_latin(expected) == expected


@given(st.text())
def test_nothing_but_the_larger_set_is_answered(text):
    """Whatever is read, nothing else comes out."""
    assert set(to_latin(text)) <= set(LATIN_CHARACTERS)
