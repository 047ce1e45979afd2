"""Splits lines and their texts at wide gaps."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median, median_low
from typing import TYPE_CHECKING

from chalicelib.engines.ocr.ink import Ink, part_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.domain.documents.page import Quad, TextLine
    from chalicelib.engines.ocr.interface import CancelCheck, TextEngine

# A character may extend this far into a gap, in heights of the ink.
_SLACK = 0.2
# Ink without recognised text is ignored if it is narrower, in heights of the ink.
_SPECK = 0.35
# Margin on both sides of an area that is read again, in heights of the ink.
_MARGIN = 0.3
# Maximum width of a space, as a multiple of the usual distance between characters.
_EVEN_SPACE = 1.1

# The text of a second reading is used if its probability is at least this fraction of the line's.
_LEAST_AGAIN = 0.8

# Beginning and end along a line, 0 to 1.
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LineSplit:
    """The parts into which a line was split."""

    parts: tuple[TextLine, ...]
    """Parts from left to right, with boxes tightened to the ink."""
    places: tuple[Quad, ...] = ()
    """Areas of all parts, to read them again; empty if the text of every part is known."""


def divide_exact(line: TextLine, factor: float, spaces: float = 0.0) -> tuple[TextLine, ...]:
    """Split a line of a text layer at wide spaces. A space must exceed both limits.

    Args:
        line: line of a text layer, with exact positions.
        factor: limit as a multiple of the line's height.
        spaces: limit as a multiple of the line's usual space.
    """
    pitch = _pitch(line)
    if not pitch:
        return (line,)
    length = math.dist(line.corners[0], line.corners[1])
    height = math.dist(line.corners[0], line.corners[3])
    # From left to right, which is not the order of Hebrew or Arabic text.
    shown = sorted(zip(line.places, line.text, strict=False), key=lambda one: one[0])
    words = [index for index, (_, character) in enumerate(shown) if character != " "]
    gaps = [
        ((left + right) / 2, right - left - pitch)
        for left, right in (
            (shown[left][0], shown[right][0]) for left, right in pairwise(words) if right - left > 1
        )
    ]
    if not gaps:
        return (line,)
    usual = min(median_low(width for _, width in gaps), _EVEN_SPACE * pitch)
    least = max(factor * height / max(length, 1.0), spaces * usual)
    return _cut_exact(line, [middle for middle, width in gaps if width > least], pitch)


def _cut_exact(line: TextLine, cuts: list[float], pitch: float) -> tuple[TextLine, ...]:
    """Split a line of a text layer at positions `cuts`, each a fraction of the line's length."""
    if not cuts:
        return (line,)
    whole = Ink(0.0, 1.0, ((0.0, 1.0),), 1.0)
    owners = [bisect_right(cuts, place) for place in line.places]
    parts = [
        _select_characters(line, [o == index for o in owners]) for index in range(len(cuts) + 1)
    ]
    return tuple(part_of(part, *_exact_range(part, pitch), whole) for part in parts)


def _pitch(line: TextLine) -> float:
    """Return the usual distance between neighbouring characters, as a fraction of the line.

    0 if the positions are unknown.
    """
    distances = [
        abs(right - left)
        for (left, right), pair in zip(pairwise(line.places), pairwise(line.text), strict=False)
        if " " not in pair
    ]
    return median(distances) if distances else 0.0


def _exact_range(part: TextLine, pitch: float) -> Range:
    """Return where a part of a line begins and ends, from the middles of its characters."""
    return max(0.0, min(part.places) - pitch / 2), min(1.0, max(part.places) + pitch / 2)


def divide_inked(line: TextLine, ink: Ink, factor: float) -> LineSplit:
    """Split a line at gaps in its ink; return a single part if there is no such gap.

    Args:
        line: line as an engine read it.
        ink: ink of the line.
        factor: smallest gap at which to split, as a multiple of the ink's height.
    """
    return divide(line, ink, _ranges(ink, factor * ink.height))


def divide(line: TextLine, ink: Ink, ranges: Sequence[Range]) -> LineSplit:
    """Split a line at given positions.

    Args:
        line: line as an engine read it.
        ink: ink of the line.
        ranges: beginning and end of each part along the line, from left to right.

    Returns:
        The parts with text; ink that is too small for a character is ignored.
    """
    if len(ranges) == 1:
        return LineSplit((part_of(line, *ranges[0], ink),))
    texts, is_clear = _assign_characters(line, ranges, _SLACK * ink.height)
    kept = [
        (text, own)
        for text, own in zip(texts, ranges, strict=True)
        if text.text or own[1] - own[0] > _SPECK * ink.height
    ]
    parts = tuple(part_of(text, *own, ink) for text, own in kept)
    if is_clear and all(text.text for text, _ in kept):
        return LineSplit(parts)
    margin = _MARGIN * ink.height
    whole = replace(ink, top=0.0, bottom=1.0)
    return LineSplit(
        parts,
        tuple(part_of(line, own[0] - margin, own[1] + margin, whole).corners for _, own in kept),
    )


def _ranges(ink: Ink, least_gap: float) -> list[Range]:
    """Join runs of ink that are separated by less than the given gap."""
    ranges = [ink.spans[0]]
    for start, end in ink.spans[1:]:
        if start - ranges[-1][1] > least_gap:
            ranges.append((start, end))
        else:
            ranges[-1] = ranges[-1][0], end
    return ranges


def _assign_characters(
    line: TextLine, ranges: Sequence[Range], slack: float
) -> tuple[list[TextLine], bool]:
    """Assign each character to the nearest range; also return whether all characters are near.

    A character is near if its distance from the range is at most `slack`.
    """
    if not line.places:
        return [replace(line, text="") for _ in ranges], False
    middles = [(left[1] + right[0]) / 2 for left, right in pairwise(ranges)]
    owners = [sum(place > middle for middle in middles) for place in line.places]
    is_clear = all(
        character == " " or ranges[owner][0] - slack <= place <= ranges[owner][1] + slack
        for character, place, owner in zip(line.text, line.places, owners, strict=True)
    )
    return [
        _select_characters(line, [o == index for o in owners]) for index in range(len(ranges))
    ], is_clear


def _select_characters(line: TextLine, flags: Sequence[bool]) -> TextLine:
    """Return a line with only the selected characters, without spaces at its ends."""
    chosen = [index for index, flag in enumerate(flags) if flag]
    while chosen and line.text[chosen[0]] == " ":
        chosen.pop(0)
    while chosen and line.text[chosen[-1]] == " ":
        chosen.pop()
    return replace(
        line,
        text="".join(line.text[index] for index in chosen),
        places=tuple(line.places[index] for index in chosen),
    )


def read_unclear(
    pixels: Pixels, divisions: Sequence[LineSplit], engine: TextEngine, check: CancelCheck
) -> tuple[TextLine, ...]:
    """Read all parts with unclear text again, in one call; return the parts of all lines.

    `check` is called regularly; it may raise an error to stop.
    """
    quads = [quad for division in divisions for quad in division.places]
    again = iter(engine.read_crops(pixels, quads, check) if quads else ())
    parts: list[TextLine] = []
    for division in divisions:
        if division.places:
            parts += [_better(part, next(again)) for part in division.parts]
        else:
            parts += division.parts
    return tuple(part for part in parts if part.text)


def _better(part: TextLine, again: TextLine | None) -> TextLine:
    """Return a part of a line with the text of its second reading, unless that text is worse."""
    if again is None or (part.text and again.probability < part.probability * _LEAST_AGAIN):
        return part
    return replace(part, text=again.text, probability=again.probability, places=again.places)
