"""Converts the outputs of the dense head to boxes in the image, and removes overlapping boxes.

Boxes are left, top, right, bottom in pixels from the top left; float64, shape (boxes, 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.algorithms import FLOOR, Rules
from chalicelib.engines.vision.detection.head.dataset import centres
from chalicelib.engines.vision.detection.head.loss import distances_of, sigmoid
from chalicelib.engines.vision.detection.head.network import HeadSize, Workspace, weights_of
from chalicelib.engines.vision.detection.views.maps import CELLS, SIDE, STRIDE, Maps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Doubles, Floats, Ints, Singles
    from chalicelib.engines.vision.detection.views.views import ImageView


def iou(left: Doubles, right: Doubles) -> Doubles:
    """Return the intersection over union of each left with each right box, 0 to 1, shape (n, m).

    It is 0 for boxes without area.

    Args:
        left: boxes, shape (n, 4).
        right: boxes, shape (m, 4).
    """
    low = np.maximum(left[:, None, :2], right[None, :, :2])
    high = np.minimum(left[:, None, 2:], right[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0.0), axis=2)
    union = _areas(left)[:, None] + _areas(right)[None] - shared
    share: Doubles = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0.0)
    return share


def non_maximum_suppression(
    boxes: Doubles, scores: Doubles, most_overlap: float, count: int
) -> Ints:
    """Return indexes of boxes, best first; skip boxes that overlap a returned box too much.

    Args:
        boxes: the boxes, shape (n, 4).
        scores: score of each box, shape (n,).
        most_overlap: largest intersection over union of two returned boxes.
        count: maximum number of returned boxes.
    """
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    while len(order) and len(kept) < count:
        best, order = order[0], order[1:]
        kept.append(int(best))
        order = order[iou(boxes[best : best + 1], boxes[order])[0] <= most_overlap]
    return np.array(kept, np.int64)


def decayed_suppression(
    boxes: Doubles, scores: Doubles, most_overlap: float, decay: float, count: int
) -> tuple[Ints, Doubles]:
    """Remove boxes that overlap a better box too much; lower the scores of the remaining boxes.

    The more a box overlaps boxes of higher score, the more its score is lowered. Source: Bodla et
    al. 2017, Soft-NMS, the Gaussian form.

    Args:
        boxes: the boxes, shape (n, 4).
        scores: score of each box, shape (n,).
        most_overlap: largest intersection over union of two returned boxes.
        decay: a score is multiplied by exp(-overlap² / decay) for each returned box of higher
            score.
        count: maximum number of returned boxes.

    Returns:
        The indexes of the remaining boxes, the highest score first, and their new scores. Boxes
        below the minimum score are left out.
    """
    live, rest = scores.copy(), np.arange(len(scores))
    kept: list[int] = []
    while len(rest) and len(kept) < count:
        # The first of equal scores, on every processor.
        best = int(np.argmax(live[rest]))
        chosen = int(rest[best])
        kept.append(chosen)
        rest = np.delete(rest, best)
        shared = iou(boxes[chosen : chosen + 1], boxes[rest])[0]
        # The head returns poor boxes all around an object, which would otherwise outrank other
        # objects.
        live[rest] *= np.exp(-shared * shared / decay)
        rest = rest[(shared <= most_overlap) & (live[rest] >= FLOOR)]
    places = np.array(kept, np.int64)
    return places, live[places]


def _areas(boxes: Doubles) -> Doubles:
    area: Doubles = np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0.0), axis=1)
    return area


_MOST_CELLS = 1_000
_LEAST_SIDE = 1.0


@dataclass(frozen=True)
class Candidates:
    """Boxes that may be objects, with a score for each label."""

    boxes: Doubles
    """Left, top, right, bottom in pixels of the image, float64, shape (boxes, 4)."""
    scores: Doubles
    """Score of each label, 0 to 1, float64, shape (boxes, labels)."""


@dataclass(frozen=True)
class DetectedObjects:
    """The objects detected in one image, sorted by descending score."""

    boxes: Doubles
    """Left, top, right, bottom in pixels of the image, float64, shape (objects, 4)."""
    labels: Ints
    """Label of each object, int, shape (objects,)."""
    scores: Doubles
    """Score of each object, 0 to 1, float64, shape (objects,)."""


class HeadDecoder:
    """Runs a trained head on views. Each thread needs its own instance."""

    def __init__(self, size: HeadSize, vector: Singles) -> None:
        self._size = size
        self._weights = weights_of(size, vector)
        self._workspace = Workspace(size)

    def look(
        self,
        maps: Maps,
        view: ImageView,
        width: int,
        height: int,
        mirror_maps: Maps | None = None,
    ) -> Candidates:
        """Return at most 1,000 candidate boxes of one view, clipped to the image.

        Args:
            maps: feature maps of the view.
            view: the view, which shows a part of the image.
            width: width of the image as displayed, in pixels.
            height: height of the image as displayed, in pixels.
            mirror_maps: feature maps of the view's mirror image. If given, the outputs for both are
                averaged.
        """
        labels = self._size.labels
        outputs = self._workspace.forward(self._weights, maps)
        if mirror_maps is not None:
            outputs += _turned_back(self._workspace.forward(self._weights, mirror_maps), labels)
            outputs *= 0.5
        best = sigmoid(outputs[:, :labels].max(axis=1).astype(np.float64))
        # Stable: equal scores keep their order, on every processor.
        order = np.argsort(-best, kind="stable")[:_MOST_CELLS]
        chosen = order[best[order] >= FLOOR]
        scores = sigmoid(outputs[chosen, :labels].astype(np.float64))
        distances = distances_of(outputs[chosen, labels:].astype(np.float64))
        points = np.tile(centres(CELLS[0])[chosen], 2)
        seen = np.clip((points + distances * (-1, -1, 1, 1)) * STRIDE, 0.0, SIDE)
        boxes = view.to_picture(seen, width, height)
        np.clip(boxes, 0.0, (width, height, width, height), out=boxes)
        # A view that is partly grey can give boxes outside of the image.
        is_inside = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) >= _LEAST_SIDE
        return Candidates(boxes[is_inside], scores[is_inside])


def _turned_back(outputs: Floats, labels: int) -> Floats:
    cells = CELLS[0]
    # The outputs of a mirror image return to the cells of the view, with left and right exchanged.
    turned = outputs.reshape(cells, cells, -1)[:, ::-1].reshape(outputs.shape)
    left, right = labels, labels + 2
    turned[:, [left, right]] = turned[:, [right, left]]
    return turned


def merged(parts: Sequence[Candidates]) -> Candidates:
    """Join the candidates of all views of an image."""
    return Candidates(
        np.concatenate([part.boxes for part in parts]),
        np.concatenate([part.scores for part in parts]),
    )


def select_objects(candidates: Candidates, rules: Rules) -> DetectedObjects:
    """Select the candidates that are objects: for each label, the best of overlapping boxes."""
    boxes, labels, scores = [np.empty((0, 4))], [np.empty(0, np.int64)], [np.empty(0)]
    for label in np.flatnonzero((candidates.scores >= FLOOR).any(axis=0)):
        kept, left = _suppressed(candidates.boxes, candidates.scores[:, label], rules)
        boxes.append(candidates.boxes[kept])
        labels.append(np.full(len(kept), label))
        scores.append(left)
    together = np.concatenate(scores)
    order = np.argsort(-together, kind="stable")[: rules.most_boxes]
    return DetectedObjects(
        np.concatenate(boxes)[order], np.concatenate(labels)[order], together[order]
    )


def _suppressed(boxes: Doubles, scores: Doubles, rules: Rules) -> tuple[Ints, Doubles]:
    able = np.flatnonzero(scores >= FLOOR)
    overlap, most = rules.most_overlap, rules.most_boxes
    if rules.decay is None:
        kept = able[non_maximum_suppression(boxes[able], scores[able], overlap, most)]
        return kept, scores[kept]
    places, left = decayed_suppression(boxes[able], scores[able], overlap, rules.decay, most)
    return able[places], left
