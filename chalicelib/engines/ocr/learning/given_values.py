"""Finds known values of a document among the texts of its pages.

People write "2024-03-05" or "1234.5" where a page has "March 5, 2024" or "$1,234.50". They drop
punctuation, and join lines. So amounts are compared as numbers, dates by day, month and year, and
other texts by letters and digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from rapidfuzz import fuzz

from chalicelib.domain.documents.page import Rect, around
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.kinds.amounts import (
    CURRENCY_CODES,
    CURRENCY_SIGNS,
    find_money,
    find_numbers,
)
from chalicelib.engines.ocr.kinds.dates import find_dates, month_number
from chalicelib.engines.ocr.kinds.span import Span

# Maximum number of places of one value on one page. More places, as of "1", are not informative.
MOST_PLACES = 6
# Maximum number of lines of a value.
_MOST_LINES = 6
# Minimum similarity, 0 to 100, of a misread value to the known one, and minimum length of a value
# that may be misread.
_MISREAD, _MISREAD_CHARACTERS = 85, 5
# Maximum distance of the lines of a value, in heights of a line.
_LINE_DISTANCE = 1.3
# Maximum distance of the parts of a value on one line, in heights of the line.
_WORD_DISTANCE = 3.0
_TOKEN = re.compile(r"[^\W_]+")
# Marks that join parts of one number or code.
_JOINTS = "-/.,'"
_CURRENCY = rf"(?:{CURRENCY_CODES}|{CURRENCY_SIGNS})"
_AMOUNT = re.compile(rf"[-+(]? ?{_CURRENCY}? ?-?(\d[\d.,' ]*) ?{_CURRENCY}?-?\)?", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_DATE_PART = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """The position of a value on a page."""

    segments: tuple[LineSegment, ...]
    """Parts of lines that contain the value, from the first line to the last."""
    numbers: tuple[int, ...]
    """For each part, the index of the segment of the page that contains it."""

    @property
    def rect(self) -> Rect:
        """Rectangle on the deskewed page."""
        return around(each.rect for each in self.segments)

    @property
    def text(self) -> str:
        """The value as it is written on the page."""
        return " ".join(each.text for each in self.segments)


def compact(text: str) -> str:
    """Return only the letters and digits of a text, in lower case."""
    return "".join(_TOKEN.findall(text)).casefold()


def is_same_value(first: str, second: str) -> bool:
    """Return whether two texts are the same value, even in different formats."""
    if compact(first) == compact(second) and _sign(first) == _sign(second):
        return True
    dates = date_of(first), date_of(second)
    if None not in dates:
        return dates[0] == dates[1]
    return bool(amounts_of(first) & amounts_of(second))


def amounts_of(text: str) -> frozenset[Decimal]:
    """Return the numbers that a text may stand for; empty if it is not a number.

    `1,234` gives two numbers, because the comma may be a decimal mark or separate thousands.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return frozenset()
    digits = re.sub(r"[' ]", "", found[1]).rstrip(".,")
    sign = -1 if _sign(text) else 1
    readings = {_plain(digits)}
    if _GROUPED.fullmatch(digits):
        readings.add(re.sub(r"[.,]", "", digits))
    return frozenset(sign * Decimal(each) for each in readings if each)


def _plain(digits: str) -> str:
    """Replace the last separator in a number by a decimal point, and remove other separators.

    Return an empty text if the last separator occurs twice, because it separates thousands.
    """
    head, mark, tail = digits.rpartition(".") if "." in digits else ("", "", digits)
    if digits.rfind(",") > digits.rfind("."):
        head, mark, tail = digits.rpartition(",")
    if not mark:
        return digits
    whole = re.sub(r"[.,]", "", head) or "0"
    return "" if mark in head else f"{whole}.{tail}"


def _sign(text: str) -> bool:
    """Return whether a text is written like a negative amount."""
    stripped = text.strip().lstrip("$£€ ")
    return stripped[:1] in "-(" and stripped[1:2].isalnum() if stripped else False


def date_of(text: str) -> tuple[int, ...] | None:
    """Return the day, month and two-digit year of a date, sorted; None for other texts.

    They are sorted because the order of day and month is unknown in 03/04/2024.
    """
    spans = find_dates(text)
    if not spans or spans[0].start or len(text.rstrip(" .")) > spans[0].end:
        return None
    return _date_parts(spans[0].text)


def _date_parts(text: str) -> tuple[int, ...] | None:
    parts = []
    for word in _DATE_PART.findall(text):
        if word.isdecimal():
            # A date without marks, such as 20240305, is not split.
            if len(word) > len("2024"):
                return None
            parts.append(int(word) % 100)
        elif month := month_number(word):
            parts.append(month)
    return tuple(sorted(parts)) if len(parts) > 1 else None


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a segment."""

    spans: tuple[tuple[int, int], ...]
    """Start and end index of each word in the segment's text."""
    texts: tuple[str, ...]
    """The words in lower case."""


class PageTexts:
    """The texts of a page, prepared for searching many values."""

    def __init__(self, segments: Sequence[LineSegment], *, is_exact: bool) -> None:
        """Split the texts into words.

        Args:
            segments: segments of the page.
            is_exact: whether they come from a text layer, which has no misread characters.
        """
        self.segments = segments
        self._is_exact = is_exact
        self._words = [_words(segment.text) for segment in segments]
        self._places: dict[str, list[tuple[int, int]]] = {}
        for number, words in enumerate(self._words):
            for at, text in enumerate(words.texts):
                self._places.setdefault(text, []).append((number, at))

    def find(self, value: str) -> list[ValuePlace]:
        """Find a value on the page.

        Returns:
            Places with the same letters and digits. If there are none, places with the value in
            another format, then places with a similar text, which may be misread. For dates, and
            for amounts with punctuation, other formats are searched first.
        """
        wanted = compact(value)
        if not wanted:
            return []
        is_typed = date_of(value) is not None or (bool(amounts_of(value)) and not value.isalnum())
        searches = [self._exact(wanted), self._formatted(value)]
        for search in (*(reversed(searches) if is_typed else searches), self._misread(wanted)):
            found = list(islice(search, MOST_PLACES))
            if found:
                return found
        return []

    def _exact(self, value: str) -> Iterator[ValuePlace]:
        """Yield places with exactly the letters and digits of `value`, on one or several lines."""
        for length in range(1, len(value) + 1):
            for number, first in self._places.get(value[:length], ()):
                found = self._from(number, first, value, (), ())
                if found is not None:
                    yield found

    def _from(
        self,
        number: int,
        first: int,
        value: str,
        numbers: tuple[int, ...],
        parts: tuple[LineSegment, ...],
    ) -> ValuePlace | None:
        """Return the place of a value that begins at word `first` of a segment, or None."""
        segment, words = self.segments[number], self._words[number]
        last, length = _matched(words.texts, first, value)
        if last < first:
            return None
        start, end = words.spans[first][0], words.spans[last][1]
        if not _is_whole(segment.text, start, end):
            return None
        numbers, parts = (*numbers, number), (*parts, segment.part(start, end))
        if length == len(value):
            return ValuePlace(parts, numbers)
        if last < len(words.texts) - 1 or len(parts) == _MOST_LINES:
            return None
        for below, other in enumerate(self.segments):
            if below not in numbers and _is_next_line(parts[-1], other):
                found = self._from(below, 0, value[length:], numbers, parts)
                if found is not None:
                    return found
        return None

    def _formatted(self, value: str) -> Iterator[ValuePlace]:
        """Yield amounts and dates of the page that equal the value in another format."""
        date, amounts = date_of(value), amounts_of(value)
        if date is None and not amounts:
            return
        for number, segment in enumerate(self.segments):
            spans: list[Span] = []
            if date is not None:
                spans += [one for one in self._dates(number) if _date_parts(one.text) == date]
            elif any(letter.isdecimal() for letter in segment.text):
                spans += _spans_of(segment.text, find_money, amounts)
                spans = spans or _spans_of(segment.text, find_numbers, amounts)
            for span in spans:
                yield ValuePlace((segment.part(span.start, span.end),), (number,))

    def _dates(self, number: int) -> tuple[Span, ...]:
        text = self.segments[number].text
        return find_dates(text) if any(letter.isdecimal() for letter in text) else ()

    def _misread(self, value: str) -> Iterator[ValuePlace]:
        """Yield places with almost the letters and digits of `value`, the most similar first."""
        if len(value) < _MISREAD_CHARACTERS or self._is_exact:
            return
        found: list[tuple[float, int, int, int]] = []
        for number, words in enumerate(self._words):
            best = max(_similar(words, value), default=(0.0, 0, 0))
            if best[0]:
                found.append((best[0], number, best[1], best[2]))
        for _, number, start, end in sorted(found, key=lambda each: (-each[0], each[1])):
            yield ValuePlace((self.segments[number].part(start, end),), (number,))


def _words(text: str) -> _Words:
    spans = tuple(match.span() for match in _TOKEN.finditer(text))
    return _Words(spans, tuple(text[start:end].casefold() for start, end in spans))


def _matched(words: Sequence[str], first: int, value: str) -> tuple[int, int]:
    """Return the index of the last word of a match, and the number of characters matched."""
    length, last = 0, first - 1
    for number in range(first, len(words)):
        if not value.startswith(words[number], length):
            break
        last, length = number, length + len(words[number])
        if length == len(value):
            break
    return last, length


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text is a whole number or code, not a part of a longer one."""
    before = start >= len("1-") and text[start - 1] in _JOINTS and text[start - 2].isalnum()
    after = end + 1 < len(text) and text[end] in _JOINTS and text[end + 1].isalnum()
    return not before and not after


def _is_next_line(upper: LineSegment, lower: LineSegment) -> bool:
    """Return whether a segment is directly below another one, or to its right on the same line."""
    step = lower.rect.min_y - upper.rect.max_y
    shared = min(upper.rect.max_x, lower.rect.max_x) - max(upper.rect.min_x, lower.rect.min_x)
    if -upper.height / 2 < step < _LINE_DISTANCE * upper.height:
        return shared > 0
    is_level = abs(upper.rect.center[1] - lower.rect.center[1]) < upper.height / 2
    return is_level and 0 <= lower.rect.min_x - upper.rect.max_x < _WORD_DISTANCE * upper.height


def _spans_of(
    text: str, find: Callable[[str], tuple[Span, ...]], amounts: frozenset[Decimal]
) -> list[Span]:
    """Return the spans of a text that are numbers equal to one of `amounts`."""
    return [
        span
        for span in find(text)
        if amounts_of(span.text) & amounts and _is_whole(text, span.start, span.end)
    ]


def _similar(words: _Words, value: str) -> Iterator[tuple[float, int, int]]:
    """Yield similarity, start and end of the parts of a line that may be the misread value."""
    for first in range(len(words.texts)):
        text = ""
        for last in range(first, len(words.texts)):
            text += words.texts[last]
            if len(text) > len(value) + 2:
                break
            ratio = fuzz.ratio(text, value, score_cutoff=_MISREAD)
            yield ratio, words.spans[first][0], words.spans[last][1]
