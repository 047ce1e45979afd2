"""Overlap of boxes and the choice among overlapping ones.

Boxes are left, top, right, bottom in pixels from the top left; float64, shape (boxes, 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def overlaps(left: Floats, right: Floats) -> Floats:
    """Intersection over union of all pairs.

    Args:
        left: shape (n, 4).
        right: shape (m, 4).

    Returns:
        0 to 1, float64, shape (n, m); 0 for boxes without area.
    """
    low = np.maximum(left[:, None, :2], right[None, :, :2])
    high = np.minimum(left[:, None, 2:], right[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0.0), axis=2)
    union = _areas(left)[:, None] + _areas(right)[None] - shared
    share: Floats = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0.0)
    return share


def keep_best(boxes: Floats, scores: Floats, most_overlap: float, count: int) -> Ints:
    """Drop boxes that overlap a better one too much.

    Args:
        boxes: shape (n, 4).
        scores: shape (n,).
        most_overlap: intersection over union up to which both stay.
        count: most boxes to keep.

    Returns:
        Indexes of those that stay, the best first; equal scores in their order.
    """
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    while len(order) and len(kept) < count:
        best, order = order[0], order[1:]
        kept.append(int(best))
        order = order[overlaps(boxes[best : best + 1], boxes[order])[0] <= most_overlap]
    return np.array(kept, np.int64)


def _areas(boxes: Floats) -> Floats:
    """Area of boxes, shape (boxes,)."""
    area: Floats = np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0.0), axis=1)
    return area
