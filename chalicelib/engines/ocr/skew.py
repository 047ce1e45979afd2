"""Deskews pages that are slightly rotated, and converts boxes back to the original page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Point, Rect, TextLine, around_points
from chalicelib.engines.ocr.order import weighted_median

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

# Pages with a smaller angle are not rotated.
LEAST = math.radians(0.35)
_STEEPEST = math.radians(45)
_SLANTED = math.radians(15)
_SHORT = 2.0  # Lines that are shorter than this many heights do not show the slope.


@dataclass(frozen=True, slots=True)
class PageRotation:
    """A rotation about the centre of a page. The size of the page stays the same."""

    angle: float
    """Clockwise angle of the original page, in radians."""
    width: int
    """Width of the page, in pixels."""
    height: int
    """Height of the page, in pixels."""

    def upright(self, line: TextLine) -> TextLine:
        """Convert a line to coordinates of the upright page."""
        corners = [self._moved(point, -self.angle) for point in line.corners]
        left = (corners[0][0] + corners[3][0]) / 2
        right = (corners[1][0] + corners[2][0]) / 2
        top = (corners[0][1] + corners[1][1]) / 2
        bottom = (corners[2][1] + corners[3][1]) / 2
        box = Rect(min(left, right), min(top, bottom), max(left, right), max(top, bottom))
        return replace(line, box=box, quad=None)

    def back(self, box: Rect) -> Rect:
        """Convert a box of the upright page to a rectangle around it on the original page."""
        corners = (
            (box.min_x, box.min_y),
            (box.max_x, box.min_y),
            (box.max_x, box.max_y),
            (box.min_x, box.max_y),
        )
        return around_points(self._moved(point, self.angle) for point in corners)

    def pixels(self, pixels: Pixels) -> Pixels:
        """Rotate the pixels of the original page upright.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).

        Returns:
            The rotated pixels, same shape. Points outside the original page get the median colour
            of its edge.
        """
        from PIL import Image

        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        fill = tuple(int(value) for value in np.median(edge, axis=0))
        turned = Image.fromarray(pixels).rotate(
            math.degrees(self.angle), Image.Resampling.BICUBIC, fillcolor=fill
        )
        return np.asarray(turned)

    def _moved(self, point: Point, angle: float) -> Point:
        """Rotate a point clockwise about the centre of the page."""
        x, y = point[0] - self.width / 2, point[1] - self.height / 2
        cosine, sine = math.cos(angle), math.sin(angle)
        return (
            x * cosine - y * sine + self.width / 2,
            x * sine + y * cosine + self.height / 2,
        )


def find_angle(lines: Sequence[TextLine]) -> float:
    """Return the clockwise angle of a page in radians: the length-weighted median of its lines."""
    angles = [(_slope(line), line.box.width) for line in lines if _is_long(line)]
    return weighted_median([each for each in angles if abs(each[0]) < _STEEPEST])


def is_level(line: TextLine, angle: float) -> bool:
    """Return whether a line is parallel to the page's other lines; True for short lines."""
    return not _is_long(line) or abs(_slope(line) - angle) < _SLANTED


def _slope(line: TextLine) -> float:
    """Return the slope of a line in radians, positive if it falls to the right."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = line.corners
    return math.atan2((by + cy - ay - dy) / 2, (bx + cx - ax - dx) / 2)


def _is_long(line: TextLine) -> bool:
    a, b, _, d = line.corners
    return math.dist(a, b) > _SHORT * math.dist(a, d)
