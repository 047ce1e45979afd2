"""Combines lines below one another into text units; each unit is searched for keys as one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.forms.spelling import Token, tokens


@dataclass(frozen=True, slots=True)
class Unit:
    """One or several segments of a page. Their texts are searched as one text."""

    segments: tuple[int, ...]
    """Indexes of the segments."""
    words: tuple[tuple[int, Token], ...]
    """Each word, with the position of its segment in `segments`."""
    folded: str
    """All words, joined without separators."""
    begins: tuple[int, ...]
    """Index in `folded` at which each word begins."""
    legibility: float
    """Probability that the worst line of the unit's text was read correctly, 0 to 1."""

    def text_between(self, first: int, last: int) -> str:
        """Return the normalised text from one word to another, both included."""
        end = self.begins[last] + len(self.words[last][1].folded)
        return self.folded[self.begins[first] : end]

    def covers(self, first: int, last: int) -> bool:
        """Return whether a range of words begins in the first segment and ends in the last."""
        return self.words[first][0] == 0 and self.words[last][0] == len(self.segments) - 1


def make_units(segments: Sequence[LineSegment]) -> list[Unit]:
    """Return the units of a page: first single segments, then groups of joined lines."""
    words = [tokens(segment.text) for segment in segments]
    inked = [number for number, each in enumerate(words) if each]
    below = _neighbours_below(segments, inked)
    chains: list[tuple[int, ...]] = [(number,) for number in inked]
    for number in inked:
        chain: tuple[int, ...] = (number,)
        while len(chain) < settings.KEY_LINES and chain[-1] in below:
            chain = (*chain, below[chain[-1]])
            chains.append(chain)
    probabilities = [segment.line.probability for segment in segments]
    return [_join(chain, words, min(probabilities[each] for each in chain)) for chain in chains]


def _join(chain: tuple[int, ...], words: Sequence[Sequence[Token]], legibility: float) -> Unit:
    every = tuple((place, word) for place, number in enumerate(chain) for word in words[number])
    begins, length = [], 0
    for _, word in every:
        begins.append(length)
        length += len(word.folded)
    folded = "".join(word.folded for _, word in every)
    return Unit(chain, every, folded, tuple(begins), legibility)


def _neighbours_below(segments: Sequence[LineSegment], inked: Sequence[int]) -> dict[int, int]:
    order = sorted(inked, key=lambda number: segments[number].rect.min_y)
    found = {}
    for place, number in enumerate(order):
        upper = segments[number]
        following = (segments[other] for other in order[place + 1 : place + 1 + settings.KEY_REACH])
        gaps = [
            (_line_gap(upper, lower), other)
            for lower, other in zip(following, order[place + 1 :], strict=False)
        ]
        near = [(gap, other) for gap, other in gaps if gap is not None]
        if near:
            found[number] = min(near)[1]
    return found


def _line_gap(upper: LineSegment, lower: LineSegment) -> float | None:
    height = min(upper.height, lower.height)
    gap = (lower.rect.min_y - upper.rect.max_y) / height
    is_alike = height > settings.SAME_SIZE * max(upper.height, lower.height)
    if not is_alike or not -settings.OVERLAP_HEIGHTS < gap < settings.PRINTED_LINE_GAP_HEIGHTS:
        return None
    starts, middles, ends = (
        abs(lower.rect.min_x - upper.rect.min_x),
        abs(lower.rect.center[0] - upper.rect.center[0]),
        abs(lower.rect.max_x - upper.rect.max_x),
    )
    is_stacked = (
        starts < settings.KEY_SAME_START_HEIGHTS * height
        or min(middles, ends) < settings.KEY_SAME_MIDDLE_HEIGHTS * height
    )
    return gap if is_stacked else None
