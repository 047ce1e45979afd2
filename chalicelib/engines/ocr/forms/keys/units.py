"""Places where a key may stand: a line, or lines below or beside one another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from chalicelib.engines.ocr.forms import measures
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.forms.spelling import Token, tokens


@dataclass(frozen=True, slots=True)
class Unit:
    """Segments that are read as one text."""

    segments: tuple[int, ...]
    """Numbers of the segments."""
    words: tuple[tuple[int, Token], ...]
    """For each word its segment, counted within the unit, and the word."""
    folded: str
    """All words without anything between them."""
    begins: tuple[int, ...]
    """Where each word begins in the folded text."""

    def word_at(self, place: int) -> int:
        """Return the word that holds a character of the folded text."""
        return bisect_right(self.begins, place) - 1

    def text_between(self, first: int, last: int) -> str:
        """Return the folded text from one word up to and with another."""
        end = self.begins[last] + len(self.words[last][1].folded)
        return self.folded[self.begins[first] : end]


def make_units(segments: Sequence[LineSegment]) -> list[Unit]:
    """Return every single segment, then those that may be lines or parts of one key.

    Args:
        segments: of one page.

    Returns:
        Units; segments without a letter or digit are in none.
    """
    words = [tokens(segment.text) for segment in segments]
    inked = [number for number, each in enumerate(words) if each]
    below = _neighbours_below(segments, inked)
    beside = _neighbours_beside(segments, inked)
    chains: list[tuple[int, ...]] = [(number,) for number in inked]
    chains += [(number, beside[number]) for number in inked if number in beside]
    for number in inked:
        chain: tuple[int, ...] = (number,)
        while len(chain) < measures.KEY_LINES and chain[-1] in below:
            chain = (*chain, below[chain[-1]])
            chains.append(chain)
    return [_join(chain, words) for chain in chains]


def _join(chain: tuple[int, ...], words: Sequence[Sequence[Token]]) -> Unit:
    """Make a unit of some segments."""
    every = tuple((place, word) for place, number in enumerate(chain) for word in words[number])
    begins, length = [], 0
    for _, word in every:
        begins.append(length)
        length += len(word.folded)
    return Unit(chain, every, "".join(word.folded for _, word in every), tuple(begins))


def _neighbours_below(segments: Sequence[LineSegment], inked: Sequence[int]) -> dict[int, int]:
    """Return for each segment the one that may continue it on the next line."""
    order = sorted(inked, key=lambda number: segments[number].rect.min_y)
    found = {}
    for place, number in enumerate(order):
        upper = segments[number]
        following = (segments[other] for other in order[place + 1 : place + 1 + measures.KEY_REACH])
        gaps = [
            (_line_gap(upper, lower), other)
            for lower, other in zip(following, order[place + 1 :], strict=False)
        ]
        near = [(gap, other) for gap, other in gaps if gap is not None]
        if near:
            found[number] = min(near)[1]
    return found


def _line_gap(upper: LineSegment, lower: LineSegment) -> float | None:
    """Return the blank between two lines of one text in heights, None when they are not."""
    height = min(upper.height, lower.height)
    gap = (lower.rect.min_y - upper.rect.max_y) / height
    is_alike = height > measures.SAME_SIZE * max(upper.height, lower.height)
    starts_alike = (
        abs(lower.rect.min_x - upper.rect.min_x) < measures.KEY_SAME_START_HEIGHTS * height
    )
    is_centred = (
        abs(lower.rect.center[0] - upper.rect.center[0]) < measures.KEY_SAME_MIDDLE_HEIGHTS * height
    )
    ends_alike = abs(lower.rect.max_x - upper.rect.max_x) < measures.KEY_SAME_END_HEIGHTS * height
    is_stacked = starts_alike or is_centred or ends_alike
    return (
        gap
        if is_alike
        and is_stacked
        and -measures.OVERLAP_HEIGHTS < gap < measures.PRINTED_LINE_GAP_HEIGHTS
        else None
    )


def _neighbours_beside(segments: Sequence[LineSegment], inked: Sequence[int]) -> dict[int, int]:
    """Return for each segment the one that continues it on the same line."""
    size = median(segments[number].height for number in inked) if inked else 1.0
    rows: dict[int, list[tuple[float, int]]] = {}
    for number in sorted(inked, key=lambda number: segments[number].rect.min_x):
        rect = segments[number].rect
        rows.setdefault(int(rect.center[1] // size), []).append((rect.min_x, number))
    found = {}
    for number in inked:
        row = int(segments[number].rect.center[1] // size)
        near = [
            begin
            for each in (row - 1, row, row + 1)
            for begin in _nearest(segments, number, rows.get(each, ()))
        ]
        if near:
            found[number] = min(near)[1]
    return found


def _nearest(
    segments: Sequence[LineSegment], number: int, row: Sequence[tuple[float, int]]
) -> list[tuple[float, int]]:
    """Return the left side and number of the first segment of a row that continues another one.

    Args:
        segments: of one page.
        number: the segment.
        row: left side and number of the segments of a row, from left to right.
    """
    segment = segments[number]
    begin = max(segment.rect.min_x, segment.rect.max_x - 0.5 * segment.height)
    first = bisect_right(row, (begin, -1))
    near = row[first : first + measures.KEY_REACH]
    return next(([each] for each in near if _continues(segment, segments[each[1]])), [])


def _continues(left: LineSegment, right: LineSegment) -> bool:
    """Return whether a segment begins right behind another in the same line."""
    height = min(left.height, right.height)
    is_level = left.rect.min_y < right.rect.center[1] < left.rect.max_y
    gap = right.rect.min_x - left.rect.max_x
    is_behind = right.rect.min_x > left.rect.min_x
    return (
        is_level
        and is_behind
        and -measures.BEFORE_END_HEIGHTS * height < gap <= measures.WORD_GAP_HEIGHTS * left.height
    )
