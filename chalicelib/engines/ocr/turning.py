"""Rotates a page and its lines by multiples of 90 degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Point, Quad, Rect, TextLine, around_points

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

# A page is rotated when more than this fraction of its characters has another direction.
_MAJORITY = 0.5


def needed_turns(lines: Sequence[TextLine]) -> int:
    """Return how many clockwise quarter turns, 0 to 3, make most of the text upright."""
    weights = [0, 0, 0, 0]
    for line in lines:
        (ax, ay), (bx, by), *_ = line.corners
        quarter = round(math.atan2(by - ay, bx - ax) / (math.pi / 2)) % 4
        weights[-quarter % 4] += len(line.text)
    turns = weights.index(max(weights))
    return turns if weights[turns] > _MAJORITY * sum(weights) else 0


def turned_pixels(pixels: Pixels, turns: int) -> Pixels:
    """Rotate a raster, uint8, shape (height, width, 3), by clockwise quarter turns."""
    return np.ascontiguousarray(np.rot90(pixels, -turns)) if turns else pixels


def turned_lines(
    lines: Sequence[TextLine], turns: int, width: float, height: float
) -> Sequence[TextLine]:
    """Rotate the lines of a page, width x height pixels, by clockwise quarter turns."""
    if not turns:
        return lines
    return [_turned_line(line, turns, width, height) for line in lines]


def turned_rects(
    rects: Sequence[Rect], turns: int, width: float, height: float
) -> tuple[Rect, ...]:
    """Rotate rectangles on a page, width x height pixels, by clockwise quarter turns."""
    return tuple(
        around_points(
            _turned_point(point, turns, width, height)
            for point in ((rect.min_x, rect.min_y), (rect.max_x, rect.max_y))
        )
        for rect in rects
    )


def reversed_quad(quad: Quad) -> Quad:
    """Return the corners of a line as if the line were read upside down."""
    return quad[2], quad[3], quad[0], quad[1]


def _turned_line(line: TextLine, turns: int, width: float, height: float) -> TextLine:
    """Rotate a line by quarter turns; `quad` of the result is None if the line is upright."""
    first, second, third, fourth = (
        _turned_point(point, turns, width, height) for point in line.corners
    )
    quad = first, second, third, fourth
    box = around_points(quad)
    is_upright = first == (box.min_x, box.min_y) and third == (box.max_x, box.max_y)
    return replace(line, box=box, quad=None if is_upright else quad, course=None)


def _turned_point(point: Point, turns: int, width: float, height: float) -> Point:
    x, y = point
    return ((x, y), (height - y, x), (width - x, height - y), (y, width - x))[turns]
