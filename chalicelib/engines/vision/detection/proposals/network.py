"""Proposes boxes that may be objects, with a detector that ships with Presage.

The class that the detector assigns to a box is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.backbone.pool import NANODET, BackbonePool
from chalicelib.engines.vision.detection.head.dataset import centres
from chalicelib.engines.vision.detection.inference.decoding import non_maximum_suppression
from chalicelib.engines.vision.detection.views.extractor import render
from chalicelib.engines.vision.detection.views.maps import CELLS, SIDE
from chalicelib.engines.vision.detection.views.views import ImageView

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Singles
    from chalicelib.domain.documents.picture import Picture

# Channels of each map of the detector.
CHANNELS = 128
# Classes that the detector was trained on.
CLASSES = 80
# Index of the first class logit in the features of a box.
FIRST_CLASS = CHANNELS * len(CELLS)
# Features of a box: its part of the maps, the classes' logits, its width, height and proportion.
VALUES = FIRST_CLASS + CLASSES + 3
# Maximum number of boxes of an image. On photographs, 300 boxes find hardly more objects than 100.
MOST_BOXES = 100
_MOST_CELLS = 1_500
_MOST_OVERLAP = 0.65
_BINS = 11
_TINY = 1e-4
_OUTPUTS = [f"{kind}{cells}" for kind in ("scores", "boxes", "pan") for cells in CELLS]


@dataclass(frozen=True)
class Proposals:
    """The proposed boxes of one image, sorted by descending confidence of the detector."""

    boxes: Doubles
    """Left, top, right, bottom in pixels of the image, float64, shape (boxes, 4)."""
    features: Singles
    """Features of each box, float32, shape (boxes, VALUES)."""


def propose(backbones: BackbonePool, image: Picture) -> Proposals:
    """Return at most 100 proposed boxes of an image, with the features of each box.

    Args:
        backbones: the frozen networks.
        image: decoded image, whose shorter side may be reduced to `SIDE` pixels.
    """
    view = ImageView()
    outputs = backbones.get(NANODET).run(render(image.pixels, view)[None], _OUTPUTS)
    levels = len(CELLS)
    scores = np.concatenate([part[0] for part in outputs[:levels]])
    boxes = np.concatenate(
        [_boxes(part[0], cells) for part, cells in zip(outputs[levels:], CELLS, strict=False)]
    )
    best = scores.max(axis=1)
    # Stable: equal scores keep their order, on every processor.
    order = np.argsort(-best, kind="stable")[:_MOST_CELLS]
    kept = order[non_maximum_suppression(boxes[order], best[order], _MOST_OVERLAP, MOST_BOXES)]
    features = _features([part[0] for part in outputs[2 * levels :]], boxes[kept], scores[kept])
    return Proposals(view.to_picture(boxes[kept], image.width, image.height), features)


def _boxes(logits: Singles, cells: int) -> Doubles:
    """Convert the detector's outputs to boxes in pixels of the view.

    The detector predicts the distance from a cell to each side of its box, as logits of bins of
    distances. `logits` has a logit for each cell, side and bin.
    """
    shares = np.exp(logits.reshape(len(logits), 4, _BINS).astype(np.float64))
    distances = shares @ np.arange(_BINS) / shares.sum(axis=2)
    points = np.tile(centres(cells), 2)
    boxes: Doubles = np.clip((points + distances * (-1, -1, 1, 1)) * (SIDE / cells), 0.0, SIDE)
    return boxes


def _features(maps: list[Singles], boxes: Doubles, scores: Singles) -> Singles:
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 1.0)
    safe = np.clip(scores, _TINY, 1.0 - _TINY)
    parts = [
        *(pool_boxes(part, boxes) for part in maps),
        np.log(safe / (1.0 - safe)),
        np.log(sides / SIDE),
        np.log(sides[:, :1] / sides[:, 1:]),
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


def pool_boxes(values: Singles, boxes: Doubles) -> Doubles:
    """Return the mean of a feature map inside each box, float64, shape (boxes, channels).

    Args:
        values: the feature map, float32, shape (channels, cells, cells).
        boxes: left, top, right, bottom in pixels of the view, shape (boxes, 4).
    """
    channels, cells, _ = values.shape
    # Sums over everything left of and above a point make the mean of any box four look-ups.
    sums = np.zeros((cells + 1, cells + 1, channels))
    sums[1:, 1:] = values.transpose(1, 2, 0).cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    scaled = boxes * (cells / SIDE)
    middle = (scaled[:, :2] + scaled[:, 2:]) / 2.0
    # At least one cell, so that a small box has features too.
    half = np.maximum(scaled[:, 2:] - scaled[:, :2], 1.0) / 2.0
    low, high = np.clip(middle - half, 0.0, cells), np.clip(middle + half, 0.0, cells)
    inside = (
        _at(sums, high[:, 0], high[:, 1])
        - _at(sums, low[:, 0], high[:, 1])
        - _at(sums, high[:, 0], low[:, 1])
        + _at(sums, low[:, 0], low[:, 1])
    )
    mean: Doubles = inside / np.prod(high - low, axis=1)[:, None]
    return mean


def _at(sums: Doubles, x: Doubles, y: Doubles) -> Doubles:
    """Return the values of `sums` at the points (x, y), interpolated between four entries."""
    last = len(sums) - 2
    column, row = (np.minimum(place.astype(np.int64), last) for place in (x, y))
    right, down = (x - column)[:, None], (y - row)[:, None]
    above = sums[row, column] * (1.0 - right) + sums[row, column + 1] * right
    below = sums[row + 1, column] * (1.0 - right) + sums[row + 1, column + 1] * right
    found: Doubles = above * (1.0 - down) + below * down
    return found
