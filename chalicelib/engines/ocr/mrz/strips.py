"""Reads the rows of a zone again, with a known number of characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.domain.documents.page import Point, Quad
from chalicelib.engines.ocr.interface import CancelCheck, ScoringEngine
from chalicelib.engines.ocr.mrz.deciding import Decision, decide
from chalicelib.engines.ocr.mrz.formats import LETTERS, ZoneFormat
from chalicelib.engines.ocr.mrz.posteriors import row_posteriors

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

# Margin at both ends of a strip, in line heights; narrower than a letter.
_MARGIN = 0.4
# Maximum log probability per letter by which a text of another length may be more probable. For
# rows of another format, and for other text, the difference is at least twice as high.
_MOST_EXCESS = math.log(2)


def read_strips(
    form: ZoneFormat,
    quads: Sequence[Quad],
    pixels: Pixels,
    engine: ScoringEngine,
    check: CancelCheck,
) -> Decision | None:
    """Read the rows of a zone again, with the number of characters that its format has.

    Args:
        form: format, which defines the number of characters per row and the allowed characters.
        quads: corners of the rows from the top, see `extend_rows`.
        pixels: pixels of the page.
        engine: engine that scores characters.
        check: called regularly; may raise an error to stop.

    Returns:
        The text of the zone. None if its rows probably have another length, or if `decide` returns
        None.
    """
    rows, excess = [], 0.0
    for row, steps in enumerate(engine.score_crops(pixels, quads, LETTERS, check)):
        check()
        allowed = [form.letters_at((row, column)) for column in range(form.width)]
        found = row_posteriors(steps, allowed)
        if found is None:
            return None
        rows.append(found[0])
        excess += found[1] / form.row_count
    return decide(form, rows) if excess < _MOST_EXCESS else None


def extend_rows(quads: Sequence[Quad]) -> tuple[Quad, ...]:
    """Extend all rows to the ends of the longest row.

    All rows of a zone begin and end at the same positions. A row that was detected too short is
    therefore read over the full width.
    """
    left, right, *_ = max(quads, key=lambda quad: math.dist(*quad[:2]))
    length = math.dist(left, right)

    def reach(first: Point, second: Point) -> float:
        x, y = (first[0] + second[0]) / 2 - left[0], (first[1] + second[1]) / 2 - left[1]
        return (x * (right[0] - left[0]) + y * (right[1] - left[1])) / length

    starts = [reach(quad[0], quad[3]) for quad in quads]
    ends = [reach(quad[1], quad[2]) for quad in quads]
    return tuple(
        _longer(quad, start - min(starts), max(ends) - end)
        for quad, start, end in zip(quads, starts, ends, strict=True)
    )


def _longer(quad: Quad, before: float, behind: float) -> Quad:
    """Extend a quadrangle by given distances at its beginning and end."""
    top_left, top_right, bottom_right, bottom_left = quad
    height = (math.dist(top_left, bottom_left) + math.dist(top_right, bottom_right)) / 2
    before, behind = before + _MARGIN * height, behind + _MARGIN * height
    return (
        _beyond(top_right, top_left, before),
        _beyond(top_left, top_right, behind),
        _beyond(bottom_left, bottom_right, behind),
        _beyond(bottom_right, bottom_left, before),
    )


def _beyond(start: Point, end: Point, distance: float) -> Point:
    """Extend the line from start to end by a distance; return its new end."""
    length = math.dist(start, end)
    share = distance / length if length else 0.0
    return end[0] + share * (end[0] - start[0]), end[1] + share * (end[1] - start[1])
