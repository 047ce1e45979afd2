"""Boxes whose annotation the model contradicts with confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.vision.detection.answering.boxes import overlaps
from chalicelib.engines.vision.detection.head.batches import truth_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from chalicelib.domain.models.training_pictures import LabelledPicture
    from chalicelib.engines.vision.detection.answering.finder import Found

MOST_ENTRIES = 100
"""Entries of each list of the data report."""
_SURE = 0.6
_SAME_OVERLAP = 0.6
_OTHER_OVERLAP = 0.2


def suspicions_of(
    picture: LabelledPicture, found: Found, labels: Sequence[str]
) -> list[dict[str, Any]]:
    """Compare what is annotated with what the model is sure of.

    Args:
        picture: with its annotated boxes.
        found: the model's answers, the best first.
        labels: names.

    Returns:
        Annotated boxes that are found with another label alone, and objects found where no box
        is, whose `id` and `label` are None; the members are those of the card.
    """
    boxes, known = truth_of(picture)
    shared = overlaps(found.boxes, boxes)
    entries: list[dict[str, Any]] = []
    for index in np.flatnonzero(found.scores >= _SURE):
        label = int(found.labels[index])
        entry = {
            "name": picture.name,
            "suggestion": labels[label],
            "confidence": round(float(found.scores[index]), 6),
            "boundingBox": _box_document(found.boxes[index]),
        }
        if shared[index].max(initial=0.0) < _OTHER_OVERLAP:
            entries.append({"id": None, "label": None, **entry})
            continue
        best = int(np.argmax(shared[index]))
        is_other = shared[index, best] >= _SAME_OVERLAP and known[best] != label
        confirmed = (found.labels == known[best]) & (shared[:, best] >= _SAME_OVERLAP)
        if is_other and not confirmed.any():
            truth = picture.boxes[best]
            entries.append({"id": truth.example_id, "label": labels[truth.label], **entry})
    return entries


def _box_document(box: npt.NDArray[np.float64]) -> dict[str, int]:
    """A box in whole pixels as answers show it; float64, shape (4,)."""
    return {
        name: round(float(side))
        for name, side in zip(("minX", "minY", "maxX", "maxY"), box, strict=True)
    }
