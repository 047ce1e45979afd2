"""Whether a ruled line separates two places of a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect

if TYPE_CHECKING:
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]

_CHUNK = 32
"""Pixels of a ruled line that are looked at together: so few that it may be a little oblique."""
_MOST_CHUNKS = 5
_COVER = 0.85
"""Share of them that is dark."""
_CONTRAST = 80
"""How much darker than the paper a ruled line is, of 255."""
_INSIDE = 0.2
"""Share of a box's height that is blank at top and bottom, where a line may run already."""
_NARROW = 4
_LEAST_SIDE = 8.0


@dataclass(frozen=True, slots=True)
class RuledSeparators:
    """Looks for ruled lines in the pixels of a page; places are those of the levelled page."""

    pixels: Pixels | None
    """RGB, uint8, shape (height, width, 3); None when there are none: nothing is known."""
    angle: float = 0.0
    """By which the page is turned clockwise, in radians."""

    def between_lines(self, upper: Rect, lower: Rect) -> bool | None:
        """Return whether a horizontal line separates two places; None when it is not known.

        A line that is no longer than the text is an underline, and separates nothing.

        Args:
            upper: the upper text.
            lower: the lower text.
        """
        left, right = max(upper.min_x, lower.min_x), min(upper.max_x, lower.max_x)
        outer_left, outer_right = min(upper.min_x, lower.min_x), max(upper.max_x, lower.max_x)
        if right - left < _NARROW:
            left, right = outer_left, outer_right
        middle = (upper.max_y + lower.min_y) / 2
        reach = max(2.0, lower.min_y - middle + _INSIDE * min(upper.height, lower.height))
        size = min(_CHUNK, right - left)
        count = max(1, min(_MOST_CHUNKS, int((right - left) / size)))
        step = (right - left - size) / max(1, count - 1)
        spans = [(left + number * step, left + number * step + size) for number in range(count)]
        found = [self._has_row(start, end, middle, reach) for start, end in spans]
        if None in found:
            return None
        side = max(_LEAST_SIDE, lower.height)
        beyond = (
            (outer_left - 1.5 * side, outer_left - 0.4 * side),
            (outer_right + 0.4 * side, outer_right + 1.5 * side),
        )
        return all(found) and any(self._has_row(*span, middle, reach) for span in beyond)

    def between_columns(self, left: Rect, right: Rect) -> bool | None:
        """Return whether a vertical line separates two places; None when it is not known.

        Args:
            left: the left text.
            right: the right text.
        """
        middle = (max(left.min_y, right.min_y) + min(left.max_y, right.max_y)) / 2
        reach = min(_CHUNK / 2, max(4.0, 0.6 * min(left.height, right.height)))
        strip = self._strip(Rect(left.max_x - 2, middle - reach, right.min_x + 3, middle + reach))
        return None if strip is None else _has_line(strip.T)

    def _has_row(self, left: float, right: float, middle: float, reach: float) -> bool | None:
        """Return whether a row of pixels is dark from left to right, None outside the page."""
        strip = self._strip(Rect(left, middle - reach, right, middle + reach))
        return None if strip is None else _has_line(strip)

    def _strip(self, rect: Rect) -> npt.NDArray[np.bool_] | None:
        """Return which pixels of a rectangle are dark, bool, shape (height, width)."""
        if self.pixels is None:
            return None
        height, width = self.pixels.shape[:2]
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        level_x, level_y = rect.center
        middle_x = level_x * cosine - level_y * sine
        middle_y = level_x * sine + level_y * cosine
        x, end_x = _bounds(middle_x, rect.width, width)
        y, end_y = _bounds(middle_y, rect.height, height)
        if end_x <= x or end_y <= y:
            return None
        part = self.pixels[y:end_y, x:end_x].min(axis=2)
        paper = int(np.percentile(part, 80))
        dark: npt.NDArray[np.bool_] = part < paper - _CONTRAST
        return dark


def _bounds(middle: float, size: float, limit: int) -> tuple[int, int]:
    """Return first and one past the last pixel of a stretch, inside the page."""
    first, last = round(middle - size / 2), round(middle + size / 2)
    return min(max(0, first), limit), min(max(0, last), limit)


def _has_line(dark: npt.NDArray[np.bool_]) -> bool:
    """Return whether one row of pixels, or two or three together, are dark almost everywhere."""
    if not dark.size:
        return False
    thick = dark.copy()
    thick[1:] |= dark[:-1]
    thick[2:] |= dark[:-2]
    return bool((thick.mean(axis=1) >= _COVER).any())
