"""How far, and in which direction, one text stands from another on a levelled page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect

if TYPE_CHECKING:
    import numpy.typing as npt

    Rects = npt.NDArray[np.float64]
    Measure = Callable[[Rects, Rect, float], Rects]

_FARTHEST_BELOW = 3.0
_FARTHEST_ABOVE = 1.5
_LEVEL = 0.4
"""Share of the smaller height that two texts of one line have in common."""
_TALL = 3.5
"""Heights above which a text beside a key is not in its line: it runs up the page, for example."""
_INDENT = 3.0
"""How far behind its key's end a value below it begins at the most, in heights."""
_SAME_ROW = 0.8
"""Heights by which texts of one row may differ in their distance."""
_DECAY_RIGHT, _DECAY_BELOW, _DECAY_ABOVE = 60.0, 2.5, 1.2
"""Heights over which nearness falls to a third."""


def as_array(rects: Sequence[Rect]) -> Rects:
    """Return rectangles as an array, float64, shape (rectangles, 4): left, top, right, bottom."""
    rows = [(rect.min_x, rect.min_y, rect.max_x, rect.max_y) for rect in rects]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 4)


def right_gaps(rects: Rects, rect: Rect, height: float) -> Rects:
    """Return how far right of a key each rectangle is, in heights; infinite when not level."""
    low = np.maximum(rects[:, 1], rect.min_y)
    high = np.minimum(rects[:, 3], rect.max_y)
    heights = np.minimum(rects[:, 3] - rects[:, 1], rect.height)
    gaps: Rects = (rects[:, 0] - rect.max_x) / height
    is_level = (high - low >= _LEVEL * heights) & (rects[:, 3] - rects[:, 1] <= _TALL * rect.height)
    return np.where(is_level & (gaps >= -0.5), gaps, np.inf)


def below_gaps(rects: Rects, rect: Rect, height: float) -> Rects:
    """Return how far below a key each rectangle is, in heights; infinite in another column."""
    gaps: Rects = (rects[:, 1] - rect.max_y) / height
    is_near = (gaps >= -0.5) & (gaps <= _FARTHEST_BELOW)
    return np.where(is_near & _shares_column(rects, rect, height), gaps, np.inf)


def above_gaps(rects: Rects, rect: Rect, height: float) -> Rects:
    """Return how far above a key each rectangle is, in heights; infinite in another column."""
    gaps: Rects = (rect.min_y - rects[:, 3]) / height
    is_near = (gaps >= -0.5) & (gaps <= _FARTHEST_ABOVE)
    return np.where(is_near & _shares_column(rects, rect, height), gaps, np.inf)


def _shares_column(rects: Rects, rect: Rect, height: float) -> npt.NDArray[np.bool_]:
    """Return which rectangles stand over or under a key, or begin where it begins."""
    overlap = np.minimum(rects[:, 2], rect.max_x) - np.maximum(rects[:, 0], rect.min_x)
    starts = np.abs(rects[:, 0] - rect.min_x) <= height
    is_indented = (rects[:, 0] >= rect.min_x) & (rects[:, 0] <= rect.max_x + _INDENT * height)
    return np.asarray((overlap >= 0.5 * height) | (starts & (overlap > 0)) | is_indented)


def nearest_stacked(gaps: Rects, rects: Rects, rect: Rect, height: float) -> int:
    """Return the nearest rectangle below or above; of one row, the one most in line with the key.

    Args:
        gaps: distances in heights, infinite for those that do not count; one is finite.
        rects: left, top, right, bottom; shape (rectangles, 4).
        rect: the key.
        height: its height in pixels.
    """
    starts = np.abs(rects[:, 0] - rect.min_x)
    centres = np.abs((rects[:, 0] + rects[:, 2]) / 2 - rect.center[0])
    cost = gaps + np.minimum(starts, centres) / (4 * height)
    cost[gaps > gaps.min() + _SAME_ROW] = np.inf
    return int(cost.argmin())


def nearness_right(gap: float) -> float:
    """Return how near a text right of a key is, 0 to 1, by its distance in heights."""
    return math.exp(-max(0.0, gap) / _DECAY_RIGHT)


def nearness_stacked(
    gap: float, other: npt.NDArray[np.float64], rect: Rect, height: float, is_below: bool
) -> float:
    """Return how near a text below or above a key is and how well in line with it, 0 to 1.

    Args:
        gap: distance in heights.
        other: the text: left, top, right, bottom.
        rect: the key.
        height: its height in pixels.
        is_below: whether it is below.
    """
    centre = (other[0] + other[2]) / 2
    is_aligned = abs(other[0] - rect.min_x) <= height or abs(centre - rect.center[0]) <= height
    stands = 1.0 if is_aligned else (0.8 if other[0] < rect.max_x else 0.65)
    decay = _DECAY_BELOW if is_below else _DECAY_ABOVE
    return math.exp(-max(0.0, gap - 0.4) / decay) * stands
