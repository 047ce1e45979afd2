"""Decides in which direction a line is read.

A wide line is read to the right. A tall line may be read downwards or upwards, or be a single
upright character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import Quad
    from chalicelib.engines.ocr.ppocr.boxes import Rectangle
    from chalicelib.engines.ocr.ppocr.ctc import RecognisedText

    Read = Callable[[Sequence[Quad]], list[RecognisedText]]
    Direction = Callable[[Rectangle], Rectangle]
    Result = tuple[Quad, RecognisedText]

# Minimum height of an area that may be read downwards, in widths.
_TALL = 1.5
# Height from which an area is not a single upright character, in widths.
_VERY_TALL = 3.0
# Number of tall areas that are read in all directions; the others use the direction of most.
_TRIED = 8
# Bonus in probability for a single upright character.
_UPRIGHT_BONUS = 0.1


def chosen_quads(areas: Sequence[Rectangle], read: Read) -> list[Result]:
    """Recognise tall areas in several directions, and use the direction with the best text.

    Args:
        areas: rectangles whose direction is at most 45 degrees from horizontal, to the right.
        read: recognises areas, given their corners in reading direction.

    Returns:
        The corners and the recognised text of each area, wide areas first.
    """
    tall = [place for place in areas if place.breadth >= _TALL * place.length]
    tall.sort(key=lambda place: place.breadth * place.length, reverse=True)
    results = [_best(place, read) for place in tall[:_TRIED]]
    turn = _majority(results)
    wide = [place for place in areas if place.breadth < _TALL * place.length]
    quads = [place.corners() for place in wide]
    quads += [turn(place).corners() for place in tall[_TRIED:]]
    return [*zip(quads, read(quads), strict=True), *(result for result, _ in results)]


def _upright(place: Rectangle) -> Rectangle:
    return place


def _downwards(place: Rectangle) -> Rectangle:
    return place.turned()


def _upwards(place: Rectangle) -> Rectangle:
    """Return the rectangle with reading direction from bottom to top."""
    return place.turned().reversed()


def _best(place: Rectangle, read: Read) -> tuple[Result, Direction]:
    """Recognise a tall area in each possible direction; return the best text and its direction."""
    directions = [_downwards, _upwards]
    if place.breadth < _VERY_TALL * place.length:
        directions.append(_upright)
    quads = [turn(place).corners() for turn in directions]
    readings = read(quads)
    values = [
        reading.probability + (_UPRIGHT_BONUS if turn is _upright else 0.0)
        for reading, turn in zip(readings, directions, strict=True)
    ]
    best = values.index(max(values))
    return (quads[best], readings[best]), directions[best]


def _majority(results: Sequence[tuple[Result, Direction]]) -> Direction:
    """Return the direction in which most characters were recognised."""
    votes: Counter[Direction] = Counter()
    for (_, reading), turn in results:
        votes[turn] += len(reading.text)
    return votes.most_common(1)[0][0] if votes else _upright
