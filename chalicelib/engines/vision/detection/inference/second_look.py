"""The second look: crops detected boxes out of an image, and classifies the crops.

Features of crops are float32, shape (crops, 1280).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.head.crop_head import CropHead, rescored
from chalicelib.engines.vision.detection.inference.decoding import (
    Candidates,
    DetectedObjects,
    non_maximum_suppression,
    select_objects,
)
from chalicelib.engines.vision.detection.views.crops import LEAST_SIDE, describe_crops

if TYPE_CHECKING:
    from collections.abc import Callable

    from chalicelib.domain.common.arrays import Doubles, Singles
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.detection.algorithms import Rules

# Boxes of one image that are classified again; the others keep their scores.
MOST_CROPS = 24
# Boxes with a lower best score are hardly ever right, and not worth the time.
LEAST_SCORE = 0.1
_MOST_OVERLAP = 0.6
_MOST_BOXES = 300


def distinct(candidates: Candidates) -> Candidates:
    """Return the candidates, best first, that do not overlap a better candidate too much."""
    best = candidates.scores.max(axis=1, initial=0.0)
    # Across labels, because a crop is described once, whatever its label.
    kept = non_maximum_suppression(candidates.boxes, best, _MOST_OVERLAP, _MOST_BOXES)
    return Candidates(candidates.boxes[kept], candidates.scores[kept])


def boxes_to_classify(candidates: Candidates) -> Doubles:
    """Return the boxes whose crops are to be classified, float64, shape (boxes, 4), best first.

    Args:
        candidates: result of `distinct`.
    """
    count = int((candidates.scores.max(axis=1, initial=0.0) >= LEAST_SCORE).sum())
    return candidates.boxes[: min(count, MOST_CROPS)]


@dataclass(frozen=True)
class SecondLook:
    """Changes the label scores of candidate boxes by classifying crops of the boxes."""

    head: CropHead

    def apply(self, candidates: Candidates, rows: Singles) -> Candidates:
        """Return the same candidates with new scores.

        Args:
            candidates: result of `distinct`.
            rows: features, float32, shape (n, 1280), of crops of the first n candidates.
        """
        if not len(rows):
            return candidates
        scores = candidates.scores.copy()
        count = len(rows)
        scores[:count] = rescored(scores[:count], self.head.probabilities(rows))
        return Candidates(candidates.boxes, scores)


def second_look(
    candidates: Candidates,
    head: CropHead,
    backbones: BackbonePool,
    open_picture: Callable[[int], Picture],
) -> Candidates:
    """Classify crops of candidates; return the best candidate of each object, with new scores.

    Args:
        candidates: boxes found by the detection heads, with a score for each label.
        head: head that classifies crops.
        backbones: the frozen networks.
        open_picture: decodes the image, given the minimum length of its shorter side. It is called
            only if there is a box to classify.
    """
    once = distinct(candidates)
    boxes = boxes_to_classify(once)
    if not len(boxes):
        return once
    rows = describe_crops(backbones, open_picture(LEAST_SIDE), boxes)
    return SecondLook(head).apply(once, rows)


def answer(
    candidates: Candidates,
    rules: Rules,
    head: CropHead | None,
    backbones: BackbonePool,
    open_picture: Callable[[int], Picture],
) -> DetectedObjects:
    """Select the objects of an image; if `head` is given, first classify crops of candidates."""
    if head is not None:
        candidates = second_look(candidates, head, backbones, open_picture)
    return select_objects(candidates, rules)
