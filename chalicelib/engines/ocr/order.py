"""Sorts the lines of a page in reading order: row by row, each row from left to right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import TextLine

# Maximum distance of the middles in one row, as a fraction of the lower line's height.
_SAME_ROW = 0.5
# Lines with a larger slope do not count for the slope of the page.
_STEEPEST = math.radians(45)
# Shorter lines do not count either, in heights: their slope depends on single characters.
_LONG = 2.5


def in_reading_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Sort lines by rows from top to bottom, and within a row from left to right.

    The slope of the page is taken into account.
    """
    slope = page_slope(lines)
    placed = [_Placed(line, slope) for line in lines]
    rows: list[list[_Placed]] = []
    for line in sorted(placed, key=lambda line: line.y):
        row = rows[-1] if rows else []
        if row and line.y - _mean_y(row) <= _SAME_ROW * min(line.height, row[-1].height):
            row.append(line)
        else:
            rows.append([line])
    return [line.line for row in rows for line in sorted(row, key=lambda line: line.x)]


def page_slope(lines: Sequence[TextLine]) -> float:
    """Return the clockwise angle of the lines in radians: their median, weighted by length."""
    angles = []
    for line in lines:
        top_left, top_right, _, bottom_left = line.corners
        length = math.dist(top_left, top_right)
        angle = math.atan2(top_right[1] - top_left[1], top_right[0] - top_left[0])
        if abs(angle) < _STEEPEST and length > _LONG * math.dist(top_left, bottom_left):
            angles.append((angle, length))
    return weighted_median(angles)


def weighted_median(weighted: Sequence[tuple[float, float]]) -> float:
    """Return the weighted median of pairs of value and weight; 0 if there are no pairs."""
    half = sum(weight for _, weight in weighted) / 2
    for value, weight in sorted(weighted):
        half -= weight
        if half <= 0:
            return value
    return 0.0


class _Placed:
    """A line with the position of its middle on the deskewed page."""

    def __init__(self, line: TextLine, slope: float) -> None:
        corners = line.corners
        x = sum(x for x, _ in corners) / 4
        y = sum(y for _, y in corners) / 4
        self.line = line
        self.x = x * math.cos(slope) + y * math.sin(slope)
        self.y = y * math.cos(slope) - x * math.sin(slope)
        self.height = max(math.dist(corners[0], corners[3]), 1.0)


def _mean_y(row: list[_Placed]) -> float:
    return sum(line.y for line in row) / len(row)
