"""Compares the fields printed on a page with its machine-readable zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
# Pairs: transliteration of a letter with an accent (Doc 9303, part 3, section 6), and the letter
# without the accent.
_TRANSCRIBED = (("AE", "A"), ("OE", "O"), ("UE", "U"), ("AA", "A"), ("SS", "S"))
_NUMERIC = re.compile(r"\d{1,2}/\d{1,2}/\d{4}")
_WORDED = re.compile(rf"\d{{1,2}} ?(?:{'|'.join(MONTHS)})[A-Z/ ]* ?\d{{4}}")
_CODE_LENGTH = 3


def is_same_number(text: str, number: str) -> bool:
    """Return whether a printed text and a number have the same letters and digits."""
    return _bare(text) == _bare(number)


def is_same_name(text: str, name: str, *, is_cut: bool) -> bool:
    """Return whether a printed name equals the zone's name.

    The zone replaces accented letters by basic ones. If `is_cut`, the zone may lack the end of the
    name.
    """
    whole, part = _untranscribed(text), _untranscribed(name)
    return bool(whole) and (whole == part or (is_cut and whole.startswith(part)))


def word_count(text: str) -> int:
    """Count the words of a name; a hyphenated name has several."""
    return len(re.findall(r"[^\W_]+", text.replace("'", "")))


def is_same_sex(text: str, sex: str) -> bool:
    """Return whether two texts name the same sex, judged by the first letter."""
    return _bare(text)[:1] == sex


def is_same_state(text: str, code: str) -> bool:
    """Return whether a printed state fits a code: it contains the code's letters in order."""
    letters = iter(_bare(text))
    return _bare(text)[:1] == code[:1] and all(letter in letters for letter in code)


def is_state_name(text: str) -> bool:
    """Return whether a printed nationality is a name, and not a three-letter code."""
    return len(_bare(text)) > _CODE_LENGTH


def is_same_day(text: str, day: date) -> bool:
    """Return whether a printed date can be `day`, in any order of day, month and year."""
    words = re.findall(r"[A-Z]+|\d+", text.upper())
    numbers = sorted(int(word) % 100 for word in words if word.isdigit())
    if any(word.startswith(MONTHS[day.month - 1]) for word in words):
        return sorted((day.day, day.year % 100)) == numbers
    return sorted((day.day, day.month, day.year % 100)) == numbers


def format_day(day: date, values: Sequence[str], *, in_words: bool) -> str:
    """Format a day like the dates on a page.

    Args:
        day: the day.
        values: values of the page; the first date among them defines the format.
        in_words: whether to write the month as a word if the page has no other date.

    Returns:
        The date as text: 02 JAN 2030, or 01/02/2030 as on U.S. cards.
    """
    for text in values:
        if _NUMERIC.fullmatch(text.strip()):
            in_words = False
            break
        if _WORDED.fullmatch(text.strip().upper()):
            in_words = True
            break
    if in_words:
        return f"{day.day:02d} {MONTHS[day.month - 1]} {day.year}"
    return f"{day.month:02d}/{day.day:02d}/{day.year}"


def _bare(text: str) -> str:
    return "".join(letter for letter in text.upper() if letter.isalnum())


def _untranscribed(name: str) -> str:
    """Return a name's letters with transliterations undone: AE becomes A."""
    letters = _bare(name)
    for long, short in _TRANSCRIBED:
        letters = letters.replace(long, short)
    return letters
