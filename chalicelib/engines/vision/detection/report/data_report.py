"""Writes the data report of the model card: it lists images and boxes that should be checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.datasets.example import box_digest
from chalicelib.engines.data_report import LabelNames, Suspect
from chalicelib.engines.vision.detection.head.dataset import truth_of
from chalicelib.engines.vision.detection.inference.decoding import DetectedObjects, iou

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Doubles, Singles
    from chalicelib.domain.models.suspects import SuspectExample
    from chalicelib.domain.models.training_pictures import LabelledPicture

# Entries of each list of the data report.
MOST_ENTRIES = 100
_SURE = 0.6
_SAME_OVERLAP = 0.6
_OTHER_OVERLAP = 0.2


def suspicions_of(
    image: LabelledPicture, detections: DetectedObjects, labels: Sequence[str]
) -> list[dict[str, Any]]:
    """Compare the annotated boxes of an image with confident detections.

    Args:
        image: image with annotated boxes.
        detections: objects that the model detects in the image, the best first.
        labels: label names.

    Returns:
        One record for each detection that overlaps an annotated box with another label, unless some
        detection confirms the label of the box. Also one record for each detection that hardly
        overlaps any annotated box; `id` and `label` of this record are None.
    """
    boxes, known = truth_of(image)
    shared = iou(detections.boxes, boxes)
    entries: list[dict[str, Any]] = []
    for index in np.flatnonzero(detections.scores >= _SURE):
        label = int(detections.labels[index])
        entry = {
            "name": image.name,
            "suggestion": labels[label],
            "confidence": round(float(detections.scores[index]), 6),
            "boundingBox": _box_document(detections.boxes[index]),
        }
        if shared[index].max(initial=0.0) < _OTHER_OVERLAP:
            entries.append({"id": None, "label": None, **entry})
            continue
        best = int(np.argmax(shared[index]))
        is_other = shared[index, best] >= _SAME_OVERLAP and known[best] != label
        confirmed = (detections.labels == known[best]) & (shared[:, best] >= _SAME_OVERLAP)
        if is_other and not confirmed.any():
            truth = image.boxes[best]
            entries.append({"id": truth.example_id, "label": labels[truth.label], **entry})
    return entries


def _box_document(box: Doubles) -> dict[str, int]:
    return {
        name: round(float(side))
        for name, side in zip(("minX", "minY", "maxX", "maxY"), box, strict=True)
    }


# Cosine of centred features from which two images are near-duplicates.
CLOSE_COSINE = 0.9
# Overlap from which two annotations of equal files agree.
EQUAL_OVERLAP = 0.95
# The same for near-duplicates, which may show a little more or less.
CLOSE_OVERLAP = 0.5
_BLOCK = 256
_MOST_PAIRS = 20_000
_LARGEST = 0.999999
_DIGITS = 6


@dataclass(frozen=True)
class Reviewed:
    """An image with its true boxes and the objects that the model detects."""

    image: LabelledPicture
    size: tuple[int, int]
    """Width and height as displayed, in pixels."""
    is_tested: bool
    """Whether the image was held out."""

    def shares(self) -> Doubles:
        """Return the true boxes as fractions of the image's width and height."""
        return truth_of(self.image)[0] / (self.size * 2)


def data_report(
    reviewed: Sequence[Reviewed],
    pooled: Singles,
    suspicions: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Return the data report; each list has at most 100 entries.

    Args:
        reviewed: images that were reviewed.
        pooled: features of the images, float32, shape (images, channels).
        suspicions: records of `suspicions_of` for all these images.
    """
    across: list[dict[str, Any]] = []
    conflicts: list[dict[str, Any]] = []
    pairs, torn = _near_pairs(reviewed, pooled)
    for left, right, cosine in pairs:
        first, second = reviewed[left], reviewed[right]
        pair = {
            "examples": [_examples_document(each.image) for each in (first, second)],
            "similarity": round(cosine, _DIGITS),
        }
        if first.is_tested != second.is_tested:
            across.append(pair)
        is_equal = first.image.digest == second.image.digest
        if not agree(first, second, EQUAL_OVERLAP if is_equal else CLOSE_OVERLAP):
            conflicts.append(pair)
    missing = [entry for entry in _ranked(suspicions) if entry["label"] is None]
    return {
        "likelyLabelErrors": _label_errors(suspicions)[:MOST_ENTRIES],
        "likelyMissingBoxes": missing[:MOST_ENTRIES],
        "conflictingNearDuplicates": _most_alike(conflicts),
        "duplicatesAcrossSplit": torn,
        "pairsAcrossSplit": _most_alike(across),
        "examined": len(reviewed),
    }


def suspect_examples(
    pictures: Sequence[LabelledPicture],
    names: LabelNames,
    suspicions: Sequence[dict[str, Any]],
) -> list[SuspectExample]:
    """Return all boxes with a likely label error; the data report lists only some of them.

    Args:
        pictures: images whose boxes users can correct.
        names: labels of the training.
        suspicions: records of `suspicions_of` for these and other images.
    """
    boxes = {known.example_id: (known, each) for each in pictures for known in each.boxes}
    found = []
    for entry in _label_errors(suspicions):
        if entry["id"] in boxes:
            known, image = boxes[entry["id"]]
            digest = box_digest(image.digest, known.box).hex()
            one = Suspect(
                known.example_id, names.names.index(entry["suggestion"]), entry["confidence"]
            )
            found.append(names.suspect(known.example_id, digest, known.label, one))
    return found


def _label_errors(suspicions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry in _ranked(suspicions) if entry["label"] is not None]


def _ranked(suspicions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(suspicions, key=lambda entry: -entry["confidence"])


def _most_alike(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(pairs, key=lambda pair: -pair["similarity"])[:MOST_ENTRIES]


def _examples_document(image: LabelledPicture) -> dict[str, Any]:
    return {
        "ids": [known.example_id for known in image.boxes][:MOST_ENTRIES],
        "name": image.name,
    }


def agree(left: Reviewed, right: Reviewed, least_overlap: float) -> bool:
    """Return whether two images have nearly the same labelled boxes.

    Both images must have the same number of boxes, and each box needs a match in the other image: a
    box with the same label and an intersection over union of at least `least_overlap`. Boxes are
    compared as fractions of the width and height of their image.
    """
    left_labels, right_labels = truth_of(left.image)[1], truth_of(right.image)[1]
    if len(left_labels) != len(right_labels):
        return False
    shared = iou(left.shares(), right.shares()) >= least_overlap
    shared &= left_labels[:, None] == right_labels[None]
    return bool(shared.any(axis=0).all() and shared.any(axis=1).all())


def _near_pairs(
    reviewed: Sequence[Reviewed], pooled: Singles
) -> tuple[list[tuple[int, int, float]], int]:
    """Find pairs of near-duplicate images: equal files, or images with close features.

    Returns:
        At most 20,000 pairs (the most similar ones) with their cosines, and the number of all pairs
        of one training image and one held-out image.
    """
    if not reviewed:
        return [], 0
    centred = pooled - pooled.mean(axis=0)
    centred /= np.maximum(np.sqrt(np.add.reduce(centred**2, axis=1)), 1e-12)[:, None]
    digests = np.array([int.from_bytes(each.image.digest[:8], "big") for each in reviewed])
    is_tested = np.array([each.is_tested for each in reviewed])
    places = np.arange(len(reviewed))
    pairs, values, torn = np.empty((0, 2), np.int64), np.empty(0), 0
    # By blocks, because all pairs at once would not fit into memory.
    for first in range(0, len(reviewed), _BLOCK):
        rows = places[first : first + _BLOCK, None]
        cosines = np.minimum(centred[rows[:, 0]] @ centred.T, _LARGEST)
        cosines[digests[rows] == digests[None]] = 1.0
        cosines[rows >= places[None]] = -1.0
        left, right = np.nonzero(cosines >= CLOSE_COSINE)
        torn += int(np.count_nonzero(is_tested[left + first] != is_tested[right]))
        pairs = np.concatenate([pairs, np.stack([left + first, right], axis=1)])
        values = np.concatenate([values, cosines[left, right]])
        best = np.sort(np.argsort(-values, kind="stable")[:_MOST_PAIRS])
        pairs, values = pairs[best], values[best]
    found = zip(pairs.tolist(), values.tolist(), strict=True)
    return [(left, right, value) for (left, right), value in found], torn
