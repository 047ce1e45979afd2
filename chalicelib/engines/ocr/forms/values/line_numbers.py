"""Finds the line numbers of tax forms.

Each number is printed twice: before the text of its line, and before the amount. The amount after
the second copy is the value.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import inf
from string import ascii_letters

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.fragments import FormFragment, UnmatchedText
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.values.by_top import ByTop
from chalicelib.engines.ocr.grouping import grouped

_NUMBER = re.compile(r"(?P<number>\d{1,2}(?: ?[a-z])?|[A-Za-z])(?=\W*$|\s\W{0,3}\d)")
_FIRST = re.compile(r"(?P<number>\d{1,2}(?: ?[a-z])?|[a-z])[.)]?(?=$|\s+[^\s\d]|\s+$)")
_LEADERS = " ._·…"


@dataclass(frozen=True, slots=True)
class LineNumber:
    """One printed copy of the number of a form's line."""

    text: str
    """Digits and a letter, or only the letter."""
    place: int
    """Index of the text that begins with the number, in the list that was searched.

    The first copy is searched among the segments of the page, the second among its fragments.
    """
    end: int
    """Index of the first character after the number, in that text."""
    is_alone: bool
    """Whether the text is only the number."""
    rect: Rect
    """Rectangle on the deskewed page."""

    @property
    def rank(self) -> tuple[int, str]:
        """Key for sorting numbers: the digits as a number, then the letter."""
        digits = self.text.rstrip(ascii_letters)
        return int(digits or 0), self.text[len(digits) :]


class NumberedLines:
    """The line numbers of a form."""

    def __init__(self, segments: Sequence[LineSegment], fragments: Sequence[FormFragment]) -> None:
        """Find numbers that are printed twice in the same line."""
        firsts = _printings(segments, _FIRST)
        seconds = _printings([fragment.segment for fragment in fragments], _NUMBER)
        if max(len(firsts), len(seconds)) > settings.MOST_ALIKE:
            firsts, seconds = [], []
        self._firsts, self._seconds = ByTop(firsts, _place), ByTop(seconds, _place)
        seconds = [
            each for each in seconds if each.text != "0" and not _is_in_comb(each, self._seconds)
        ]
        repeated = _growing(each for each in seconds if self._is_repeated(each))
        columns = sorted(each.rect.center[0] for each in repeated)
        self._texts = [fragment.segment.rect for fragment in fragments]
        again = [each for each in seconds if each in repeated or _is_in_column(each, columns)]
        self._codes = _growing(
            (each for each in seconds if each not in again and each.is_alone),
            settings.FEWEST_CAPTIONS,
        )
        self._seconds = ByTop((*again, *self._codes), _place)
        alone = _printings([fragment.segment for fragment in fragments], _FIRST)
        self._alone = {
            each.place
            for each in alone
            if each.is_alone and self._is_again(each) and not _is_in_comb(each, self._firsts)
        }

    def _is_repeated(self, second: LineNumber) -> bool:
        """Return whether a copy of a line number, or of its letter, is further left in the line.

        Return False if the number also occurs between the two copies.
        """
        same = [
            each.rect.min_x
            for each in self._firsts.level(second.rect)
            if each.rect.max_x < second.rect.min_x and _is_same(each.text, second.text)
        ]
        return bool(same) and not any(
            each.text == second.text and min(same) < each.rect.min_x < second.rect.min_x
            for each in self._seconds.level(second.rect)
        )

    def _is_again(self, first: LineNumber) -> bool:
        return any(
            first.text == each.text and first.rect.max_x < each.rect.min_x
            for each in self._seconds.level(first.rect)
        )

    def is_nearest(self, number: Rect, text: Rect) -> bool:
        """Return whether no other number in the same column is nearer to the baseline of a text."""
        off = abs(text.max_y - number.max_y)
        return not any(
            abs(text.max_y - each.rect.max_y) < off
            and min(number.max_x, each.rect.max_x) > max(number.min_x, each.rect.min_x)
            for each in self._seconds.level(text)
        )

    def before_value(self, key: FoundKey, others: Sequence[Rect]) -> LineNumber | None:
        """Return the second copy of a key's line number, after which the value is expected.

        None if the key has no line number.
        """
        rect = key.segments[-1].rect
        level = [each for each in self._seconds.level(rect) if each.rect.min_x >= rect.max_x]
        left = [each for each in self._firsts.level(rect) if each.rect.min_x <= rect.min_x]
        own = max(left, key=lambda each: each.rect.min_x, default=None)
        if own is not None:
            search_area = replace(rect, max_y=rect.max_y + settings.BELOW_HEIGHTS * key.height)
            below = [
                each for each in self._seconds.level(search_area) if each.rect.min_y > rect.min_y
            ]
            for each in (*level, *sorted(below, key=lambda each: each.rect.min_y)):
                if _is_same(own.text, each.text) and each.rect.min_x > own.rect.max_x:
                    return each
        if not level:
            return None
        found = min(level, key=lambda each: each.rect.min_x)
        between = list(chain(others, (each.rect for each in self._firsts.level(rect))))
        if found in self._codes:
            # A number before another caption, or after a value, is the number of another caption.
            numbers = {each.rect for each in self._seconds.every}
            after = replace(found.rect, min_x=inf, max_x=inf)
            between += [one for one in self._texts if one not in numbers]
            if any(_is_between(found.rect, one, after) for one in others):
                return None
        return None if any(_is_between(rect, one, found.rect) for one in between) else found

    def without_numbers(self, unmatched: UnmatchedText) -> UnmatchedText:
        """Remove all copies of line numbers from the possible values."""
        ends = {each.place: each.end for each in self._seconds.every}
        ends |= {place: len(unmatched.fragments[place].segment.text) for place in self._alone}
        return replace(unmatched, fragments=tuple(_without(unmatched.fragments, ends)))


def _place(number: LineNumber) -> Rect:
    return number.rect


def _printings(segments: Iterable[LineSegment], pattern: re.Pattern[str]) -> list[LineNumber]:
    """Return the line numbers at the beginning of texts, as matched by a pattern."""
    found = []
    for place, segment in enumerate(segments):
        text = segment.text
        match = pattern.match(text, len(text) - len(text.lstrip(_LEADERS)))
        if match is not None:
            start, end = match.span("number")
            number, rect = match.group("number").replace(" ", ""), segment.part(start, end).rect
            is_alone = not any(map(str.isalnum, text[end:]))
            found.append(LineNumber(number, place, end, is_alone, rect))
    return found


def _is_in_comb(number: LineNumber, others: ByTop[LineNumber]) -> bool:
    rect = number.rect
    return len(number.text) == 1 and any(
        len(each.text) == 1
        and 0 < abs(each.rect.center[0] - rect.center[0]) < settings.BELOW_HEIGHTS * rect.height
        for each in others.level(rect)
    )


def _is_same(first: str, second: str) -> bool:
    return first == second or (first.isalpha() and second.endswith(first) and second != first)


def _growing(numbers: Iterable[LineNumber], least: int = 1) -> frozenset[LineNumber]:
    """Return the numbers in columns of at least `least` numbers that grow downwards."""
    columns = grouped(
        sorted(numbers, key=lambda each: each.rect.center[0]),
        lambda column, each: (
            each.rect.center[0] - column[-1].rect.center[0]
            <= settings.SAME_MIDDLE_HEIGHTS * each.rect.height
        ),
        only_last=True,
    )
    kept = (column for column in columns if len(column) >= least and _grows(column))
    return frozenset(chain.from_iterable(kept))


def _grows(column: Iterable[LineNumber]) -> bool:
    rows = sorted(column, key=lambda each: each.rect.min_y)
    steps = [lower.rank > upper.rank for upper, lower in pairwise(rows)]
    return sum(steps) >= settings.GROWING_SHARE * len(steps)


def _is_in_column(number: LineNumber, columns: Sequence[float]) -> bool:
    """Return whether a text is only a number, and is in a column of repeated numbers."""
    reach, middle = settings.SAME_MIDDLE_HEIGHTS * number.rect.height, number.rect.center[0]
    count = bisect_right(columns, middle + reach) - bisect_left(columns, middle - reach)
    return number.is_alone and not number.text.isupper() and count >= settings.FEWEST_BOXED_DIGITS


def _is_between(left: Rect, rect: Rect, right: Rect) -> bool:
    return left.max_x <= rect.min_x < right.min_x and is_level(left, rect)


def _without(fragments: Sequence[FormFragment], ends: dict[int, int]) -> Iterator[FormFragment]:
    """Yield the texts without their line numbers; texts that are only a number are left out."""
    for place, fragment in enumerate(fragments):
        end, text = ends.get(place), fragment.segment.text
        if end is None:
            yield fragment
        elif any(map(str.isalnum, text[end:])):
            yield replace(fragment, segment=fragment.segment.part(end, len(text)))
