"""Tests of chalicelib/engines/ocr/forms/spelling.py."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

from chalicelib.engines.ocr.forms.spelling import (
    fold,
    least_ratio,
    numbers,
    similarity,
    tokens,
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Policy No.", "policy no"),
        ("E-mail", "Email"),
        ("Invoice", "lnvo1ce"),
        ("USCIS#", "USCIS #"),
        ("Date of Birth", "Date ofBirth"),
    ],
)
def test_what_does_not_matter_is_folded(first: str, second: str) -> None:
    """Case, accents, spaces and look-alike letters are ignored."""
    assert fold(first) == fold(second)


@pytest.mark.parametrize(
    ("wanted", "read", "is_alike"),
    [
        ("Occupation", "Occupatlon", True),
        ("Total Amount", "Total Amouut", True),
        ("Date", "Data", False),
        ("DOB", "D0B", True),
        ("DOB", "DDB", False),
        ("Filter", "Nonfilter", False),
        ("Phone Number", "Account Number", False),
        ("", "", False),
    ],
)
def test_one_error_is_allowed_in_long_words_only(wanted: str, read: str, is_alike: bool) -> None:
    """One misread letter is tolerated in a long text, not in a short one."""
    assert bool(similarity(fold(wanted), fold(read))) is is_alike


def test_glued_words_are_taken_apart() -> None:
    """A capital after a small letter, and digits after letters, may start a new word."""
    words = [token.folded for token in tokens("PlaintiffWard LEADERMary Date12")]

    assert words == [fold(word) for word in ("Plaintiff", "Ward", "LEADER", "Mary", "Date", "12")]


def test_numbers_are_words_with_digits() -> None:
    """Only words that contain a digit count as numbers."""
    assert numbers("Box 12a of form W-2") == {fold("12a"), "2"}


def test_text_that_was_read_badly_may_have_more_errors() -> None:
    """A key matches a text with more wrong letters if the engine was unsure of the text."""
    key = fold("Federal income tax withheld")
    read = fold("Fedeia! ircome zax wettheld")

    assert least_ratio(key) > fuzz.ratio(key, read) > least_ratio(key, 0.75)
    assert least_ratio("sex", 0.5) == 100.0


def test_accents_do_not_distinguish_keys() -> None:
    """Engines miss accents, so `Città` and `Citta` are the same key."""
    assert fold("Città") == fold("Citta")
    assert fold("Apólice n.º") == fold("Apolice n.o")
