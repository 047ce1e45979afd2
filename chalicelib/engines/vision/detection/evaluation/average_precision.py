"""How good the found boxes are: hits, precision and recall by score, average precision.

Source: Everingham et al. 2015, Pascal VOC, all-point average precision at IoU one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.answering.boxes import overlaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from chalicelib.engines.vision.detection.answering.finder import Found

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

RIGHT_OVERLAP = 0.5
"""Intersection over union from which a box is found."""


@dataclass(frozen=True)
class Judged:
    """Answers for one picture, compared with what is there."""

    labels: Ints
    """Answered labels, int, shape (answers,)."""
    scores: Floats
    """0 to 1, float64, shape (answers,)."""
    is_right: Bools
    """Whether the answer found a box of its label that no better answer found, (answers,)."""
    truths: Ints
    """Boxes that are there by label, int, shape (labels,)."""


@dataclass(frozen=True)
class LabelQuality:
    """Quality of one label; the curves have one value per distinct score, descending."""

    truths: int
    """Boxes that were to be found."""
    precision: Floats
    """Share of the answers that are right, float64, shape (scores,)."""
    recall: Floats
    """Share of the boxes that were found, float64, shape (scores,)."""

    @property
    def f1(self) -> Floats:
        """Harmonic mean of both, 0 where both are 0."""
        total = self.precision + self.recall
        product = 2.0 * self.precision * self.recall
        return np.divide(product, total, out=np.zeros_like(total), where=total > 0)

    @property
    def average_precision(self) -> float | None:
        """Area under the best precision from each recall on; None when nothing was to be found."""
        if self.truths == 0:
            return None
        best = np.maximum.accumulate(self.precision[::-1])[::-1]
        return float(np.add.reduce(np.diff(self.recall, prepend=0.0) * best))


def judge(found: Found, boxes: Floats, labels: Ints, count: int) -> Judged:
    """Compare answers with the truth; each box counts once, for its best answer.

    Args:
        found: answers for a picture, the best first.
        boxes: what is there, in pixels, float64, shape (boxes, 4).
        labels: their labels, int, shape (boxes,).
        count: how many labels there are.

    Returns:
        What is right.
    """
    is_right = np.zeros(len(found.labels), bool)
    is_taken = np.zeros(len(labels), bool)
    shared = overlaps(found.boxes, boxes)
    shared[found.labels[:, None] != labels[None]] = 0.0
    for answer in range(len(found.labels) if len(labels) else 0):
        best = int(np.argmax(shared[answer]))
        if shared[answer, best] >= RIGHT_OVERLAP and not is_taken[best]:
            is_taken[best] = is_right[answer] = True
    return Judged(found.labels, found.scores, is_right, np.bincount(labels, minlength=count))


def qualities(judged: Sequence[Judged], count: int) -> list[LabelQuality]:
    """Put pictures together.

    Args:
        judged: of each picture.
        count: how many labels there are.

    Returns:
        Quality of every label.
    """
    truths = sum((part.truths for part in judged), np.zeros(count, np.int64))
    labels = np.concatenate([np.empty(0, np.int64), *(part.labels for part in judged)])
    scores = np.concatenate([np.empty(0), *(part.scores for part in judged)])
    is_right = np.concatenate([np.empty(0, bool), *(part.is_right for part in judged)])
    order = np.lexsort((scores, labels))[::-1]
    starts = np.searchsorted(labels[order][::-1], np.arange(count + 1))
    # Labels descend in this order; the rows of one lie between these ends.
    ends = len(order) - starts
    rows = [order[ends[label + 1] : ends[label]] for label in range(count)]
    return [
        _quality(scores[of_label], is_right[of_label], int(truths[label]))
        for label, of_label in enumerate(rows)
    ]


def mean_average_precision(by_label: Sequence[LabelQuality]) -> float | None:
    """Mean over the labels that were to be found; None when there is none."""
    known = [label.average_precision for label in by_label if label.average_precision is not None]
    return sum(known) / len(known) if known else None


def _quality(scores: Floats, is_right: Bools, truths: int) -> LabelQuality:
    """Curves of one label from its answers, the best first."""
    if truths == 0:
        return LabelQuality(0, np.empty(0), np.empty(0))
    # Equal scores stand or fall together: only the last of a run counts.
    last = np.append(scores[1:] < scores[:-1], True)[: len(scores)]
    hits = np.cumsum(is_right)[last]
    answers = np.arange(1, len(scores) + 1)[last]
    return LabelQuality(truths, hits / answers, hits / truths)
