"""Checks whether a text, or a part of it, has the type that a template requires.

Section 6 of the contract defines these types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.kinds.amounts import find_money, find_numbers
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.internet import find_mails
from chalicelib.engines.ocr.kinds.phone import find_phones
from chalicelib.engines.ocr.kinds.span import Span


def _find_numbers(text: str) -> tuple[Span, ...]:
    """Return the numbers of a text that are not parts of dates; `-$5` and `(5.00)` are whole."""
    for spans in (find_numbers(text), find_money(text) if set(text) & set("-−–(") else ()):
        if any(span.end - span.start == len(text) for span in spans):
            return spans
    for day in find_dates(text):
        text = text[: day.start] + " " * (day.end - day.start) + text[day.end :]
    return find_numbers(text)


_FINDERS: Mapping[str, Callable[[str], tuple[Span, ...]]] = {
    "NUMBER": _find_numbers,
    "DATE": find_dates,
    "PHONE": find_phones,
    "EMAIL": find_mails,
    "CURRENCY": lambda text: (
        find_money(text) or tuple(each for each in _find_numbers(text) if each.text[-1] != "%")
    ),
}
_ONE_LINE = frozenset(_FINDERS)
_FREE = frozenset(("TEXT", "ADDRESS", "NAME"))
# An amount with a space after a narrow 1 or a comma, as typewriters print, or with points instead
# of commas.
_LOOSE = re.compile(
    r"\d{1,3} \d{4,6}|(?:1 \d\d?|\d1 \d)(?:,\d{3})+(?:\.\d\d)?"
    r"|[-(]?(?:\$ ?)?\d{1,3}(?:[.,] ?\d{3})+(?:[.,] ?\d\d)?\)?"
)
_BLANK_INSIDE = re.compile(r"(?<=[\d.,]) (?=\d)")


def fitness(types: Sequence[str], text: str) -> float:
    """Return a factor that expresses how well a text matches one of the required types.

    It is 1 if any text is allowed, above 1 if the text has a required type, and below 1 if not.
    Types are in upper case; an empty list or an unknown type means TEXT.
    """
    known = [kind for kind in types if kind in _FINDERS or kind in _FREE]
    if len(known) < len(types) or not known or "TEXT" in known:
        return 1.0
    return max(_fits(kind, text[: settings.LONGEST_TYPED_CHARACTERS]) for kind in known)


def _fits(kind: str, text: str) -> float:
    if kind in _FINDERS:
        spans = _FINDERS[kind](text)
        before = text[: spans[0].start].split() if spans else []
        if sum(word.isalpha() for word in before) > settings.COLUMN_CAPTION_WORDS:
            return settings.MISFIT
        return settings.FIT if spans else settings.MISFIT
    words = text.split()
    letters = sum(letter.isalpha() for letter in text)
    if kind == "NAME":
        digits = sum(letter.isdecimal() for letter in text)
        is_name = letters >= 2 > digits and len(words) <= settings.NAME_WORDS and "@" not in text
        return settings.NAME_FIT if is_name else settings.MISFIT
    if normalized_address(text):
        return settings.FIT
    return 1.0 if letters and any(letter.isdecimal() for letter in text) else settings.MISFIT


def is_one_line(types: Sequence[str]) -> bool:
    """Return whether a value of these types always has a single line."""
    return bool(types) and all(kind in _ONE_LINE for kind in types)


def is_spaced(text: str) -> bool:
    """Return whether a text consists of single characters with spaces, as in a row of boxes."""
    return all(len(word) == 1 and word.isalnum() for word in text.split())


def is_boxed_row(text: str) -> bool:
    """Return whether a text is one whole number whose digits are in one-character boxes."""
    return len(text.split()) >= settings.COMB_DIGITS and is_spaced(text)


def join_boxed_digits(text: str) -> str:
    """Return a number from one-character boxes without the spaces between its digits."""
    digits = sum(map(str.isdecimal, text))
    # A digit that touches a tick looks like a currency sign.
    single = text.replace("$", "5") if len(text.split()) > settings.COMB_DIGITS else text
    closed = single.replace(" ", "")
    return closed if digits >= settings.COMB_DIGITS and is_spaced(single) else text


def remove_spaces(text: str) -> str:
    """Remove misread spaces from an amount; a space that separates thousands stays: `1 234`."""
    return _BLANK_INSIDE.sub("", text) if _LOOSE.fullmatch(text) else text


def is_split(types: Sequence[str], text: str, word: str) -> bool:
    """Return whether a value of one of `types` begins in `text` and ends in the next word.

    All types must be single-line. The caller has checked that `text` alone has none of them.
    """
    joined = f"{text} {word}"[: settings.LONGEST_TYPED_CHARACTERS]
    return any(span.start < len(text) for kind in types for span in _FINDERS[kind](joined))


def has_span(types: Sequence[str], text: str) -> bool:
    """Return whether any part of a text has one of `types`, which must all be single-line."""
    return any(_FINDERS[kind](text[: settings.LONGEST_TYPED_CHARACTERS]) for kind in types)


def span_of(types: Sequence[str], text: str) -> tuple[int, int] | None:
    """Return start and end of the first part of a text that has one of `types`.

    Return None if the whole text is the value: all of it matches, no part matches, or one of the
    types allows several lines.
    """
    if (
        not is_one_line(types)
        or len(text) > settings.LONGEST_TYPED_CHARACTERS
        or ("CURRENCY" in types and _LOOSE.fullmatch(text))
    ):
        return None
    spans = list(chain.from_iterable(_FINDERS[kind](text) for kind in types))
    if not spans:
        return None
    first = min(spans, key=lambda span: (span.start, -span.end))
    start, end = first.start, first.end
    if "CURRENCY" in types and text[:start].endswith("(") and text.startswith(")", end):
        start, end = start - 1, end + 1  # a loss
    return (start, end) if (start, end) != (0, len(text)) else None
