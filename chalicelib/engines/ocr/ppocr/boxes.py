"""From the detector's map of text to rectangles around lines (differentiable binarisation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.ocr.ppocr.components import outlines
from chalicelib.engines.ocr.ppocr.rectangles import Rectangle, smallest_rectangle

if TYPE_CHECKING:
    import numpy.typing as npt

    Bools = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float32]

MOST_BOXES = 2_000
"""Lines of a page that are read; the largest are kept."""
_TEXT = 0.3
"""Values above are text."""
_LEAST_MEAN = 0.5
"""Mean value inside a rectangle that is kept."""
_GROWTH = 1.6
"""The network shrinks lines: how far they are grown again, as a share of area / perimeter."""
_LEAST_SIDE = 2
_LEAST_GROWN_SIDE = 5.0


def text_rectangles(values: Floats) -> list[Rectangle]:
    """Lay a rectangle around each line of text.

    Args:
        values: how much each pixel is text, 0 to 1, float32, shape (height, width).

    Returns:
        Rectangles in pixels of the map, at most MOST_BOXES.
    """
    mask = _grown_by_one(values > _TEXT)
    found = []
    for outline in outlines(mask, _LEAST_SIDE, MOST_BOXES):
        core = smallest_rectangle(outline)
        if min(core.length, core.breadth) < _LEAST_SIDE or _mean(values, core) < _LEAST_MEAN:
            continue
        margin = core.length * core.breadth * _GROWTH / (2 * (core.length + core.breadth))
        grown = core.grown(margin)
        if min(grown.length, grown.breadth) >= _LEAST_GROWN_SIDE:
            found.append(grown)
    return found


def _grown_by_one(mask: Bools) -> Bools:
    """Grow a mask by a pixel to the right and downwards, which joins broken lines."""
    grown = mask.copy()
    grown[:, 1:] |= mask[:, :-1]
    grown[1:] |= grown[:-1].copy()
    return grown


def _mean(values: Floats, rectangle: Rectangle) -> float:
    """Return the mean of the values inside a rectangle."""
    corners = np.array(rectangle.corners())
    height, width = values.shape
    left, top = np.clip(np.floor(corners.min(axis=0)), 0, (width - 1, height - 1)).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(axis=0)), 0, (width - 1, height - 1)).astype(int)
    part = values[top : bottom + 1, left : right + 1]
    if abs(rectangle.dy) < 1e-6:
        return float(part.mean())
    x = np.arange(left, right + 1)[None, :] - rectangle.x
    y = np.arange(top, bottom + 1)[:, None] - rectangle.y
    along = np.abs(x * rectangle.dx + y * rectangle.dy) <= rectangle.length / 2 + 0.5
    across = np.abs(y * rectangle.dx - x * rectangle.dy) <= rectangle.breadth / 2 + 0.5
    inside = part[along & across]
    return float(inside.mean()) if inside.size else 0.0
