"""Computes precision and recall of detections, average precision, and its confidence interval.

Sources: Everingham et al. 2015, Pascal VOC, all-point average precision at IoU 0.5; Efron 1979,
the bootstrap, percentile interval. Boxes are in pixels, float64, shape (boxes, 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.detection.inference.decoding import DetectedObjects, iou

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chalicelib.domain.common.arrays import Array, Bools, Doubles, Ints

# Intersection over union from which a box counts as found.
RIGHT_OVERLAP = 0.5


@dataclass(frozen=True)
class EvaluatedImage:
    """Detections in one image, compared with the true boxes."""

    labels: Ints
    """Label of each detection, int, shape (detections,)."""
    scores: Doubles
    """Score of each detection, 0 to 1, float64, shape (detections,)."""
    is_right: Bools
    """Whether each detection is the best match of a true box of its label, bool, (detections,)."""
    truths: Ints
    """Number of true boxes in the image by label, int, shape (labels,)."""


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall of one label at each distinct score, from the highest to the lowest."""

    truths: int
    """Number of true boxes."""
    precision: Doubles
    """Fraction of the detections that are correct, float64, shape (scores,)."""
    recall: Doubles
    """Fraction of the true boxes that were found, float64, shape (scores,)."""

    @property
    def f1(self) -> Doubles:
        """Return the harmonic mean of precision and recall at each score; 0 if both are 0."""
        total = self.precision + self.recall
        product = 2.0 * self.precision * self.recall
        return np.divide(product, total, out=np.zeros_like(total), where=total > 0)

    @property
    def average_precision(self) -> float | None:
        """Return the area under the precision-recall curve; None if there are no true boxes."""
        if self.truths == 0:
            return None
        best = np.maximum.accumulate(self.precision[::-1])[::-1]
        return float(np.add.reduce(np.diff(self.recall, prepend=0.0) * best))


def evaluate(objects: DetectedObjects, boxes: Doubles, labels: Ints, count: int) -> EvaluatedImage:
    """Compare detections with true boxes. For each true box, at most one detection is correct.

    Args:
        objects: detections in an image, sorted by descending score.
        boxes: true boxes, in pixels, float64, shape (boxes, 4).
        labels: label indexes of the true boxes, int, shape (boxes,).
        count: number of labels.
    """
    is_right = np.zeros(len(objects.labels), bool)
    is_taken = np.zeros(len(labels), bool)
    shared = iou(objects.boxes, boxes)
    shared[objects.labels[:, None] != labels[None]] = 0.0
    for answer in range(len(objects.labels) if len(labels) else 0):
        best = int(np.argmax(shared[answer]))
        if shared[answer, best] >= RIGHT_OVERLAP and not is_taken[best]:
            is_taken[best] = is_right[answer] = True
    return EvaluatedImage(
        objects.labels, objects.scores, is_right, np.bincount(labels, minlength=count)
    )


def precision_recall(evaluated: Sequence[EvaluatedImage], count: int) -> list[PrecisionRecall]:
    """Return the precision and recall of every label, computed over all evaluated images."""
    truths = sum((part.truths for part in evaluated), np.zeros(count, np.int64))
    labels = np.concatenate([np.empty(0, np.int64), *(part.labels for part in evaluated)])
    scores = np.concatenate([np.empty(0), *(part.scores for part in evaluated)])
    is_right = np.concatenate([np.empty(0, bool), *(part.is_right for part in evaluated)])
    order = np.lexsort((scores, labels))[::-1]
    starts = np.searchsorted(labels[order][::-1], np.arange(count + 1))
    # In this order labels descend; the rows of a label are between two consecutive ends.
    ends = len(order) - starts
    rows = [order[ends[label + 1] : ends[label]] for label in range(count)]
    return [
        _quality(scores[of_label], is_right[of_label], int(truths[label]))
        for label, of_label in enumerate(rows)
    ]


def mean_average_precision(by_label: Sequence[PrecisionRecall]) -> float | None:
    """Return the mean average precision over labels with true boxes; None without true boxes."""
    known = [label.average_precision for label in by_label if label.average_precision is not None]
    return sum(known) / len(known) if known else None


def _quality(scores: Doubles, is_right: Bools, truths: int) -> PrecisionRecall:
    if truths == 0:
        return PrecisionRecall(0, np.empty(0), np.empty(0))
    # Equal scores cannot be separated, so only the last of a run counts.
    last = np.append(scores[1:] < scores[:-1], True)[: len(scores)]
    hits = np.cumsum(is_right)[last]
    answers = np.arange(1, len(scores) + 1)[last]
    return PrecisionRecall(truths, hits / answers, hits / truths)


# Confidence level of the interval.
LEVEL = 0.95
_ROUNDS, _FEWEST_ROUNDS = 200, 40
# Maximum number of detections in all rounds: about ten seconds of work.
_MOST_ANSWERS = 20_000_000
_FEWEST = 2


def bootstrap_interval(
    evaluated: Sequence[EvaluatedImage], labels: int, seed: int
) -> Interval | None:
    """Return mean average precision and its 95 % interval; None for fewer than two images.

    Args:
        evaluated: held-out images.
        labels: number of labels.
        seed: seed of the resampling.
    """

    def value_of(rows: Sequence[int]) -> float | None:
        return mean_average_precision(precision_recall([evaluated[row] for row in rows], labels))

    return _bootstrap(value_of, len(evaluated), sum(len(part.scores) for part in evaluated), seed)


def bootstrap_gain(
    before: Sequence[EvaluatedImage], after: Sequence[EvaluatedImage], labels: int, seed: int
) -> Interval | None:
    """Return the difference in mean average precision between two methods, with its 95 % interval.

    The interval is computed by resampling the images.

    Args:
        before: detections of one method.
        after: detections of another method in the same images, in the same order.
        labels: number of labels.
        seed: seed of the resampling.

    Returns:
        The gain, `after` minus `before`; None for fewer than two images, or without true boxes.
    """

    def value_of(rows: Sequence[int]) -> float | None:
        once, twice = (
            mean_average_precision(precision_recall([part[row] for row in rows], labels))
            for part in (before, after)
        )
        return None if once is None or twice is None else twice - once

    answers = sum(len(part.scores) for part in (*before, *after))
    return _bootstrap(value_of, len(before), answers, seed)


def _bootstrap(
    value_of: Callable[[Sequence[int]], float | None], pictures: int, answers: int, seed: int
) -> Interval | None:
    value = value_of(range(pictures))
    if value is None or pictures < _FEWEST:
        return None
    generator = np.random.Generator(np.random.PCG64([seed, 3]))
    # Fewer rounds if there are very many detections, to limit the time.
    rounds = max(_FEWEST_ROUNDS, min(_ROUNDS, _MOST_ANSWERS // max(1, answers)))
    drawn = (value_of(generator.integers(0, pictures, pictures).tolist()) for _ in range(rounds))
    draws = [found for found in drawn if found is not None]
    low, high = np.quantile(draws, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Interval(value, float(low), float(high))


def evaluated_arrays(evaluated: Sequence[EvaluatedImage], count: int) -> dict[str, Array]:
    """Convert evaluated images to arrays for storage; `evaluated_of` reads the arrays."""
    nothing = EvaluatedImage(
        np.empty(0, np.int64), np.empty(0), np.empty(0, bool), np.empty(0, np.int64)
    )
    return {
        "answers": np.array([len(part.labels) for part in evaluated], np.int64),
        "labels": np.concatenate([part.labels for part in (nothing, *evaluated)]),
        "scores": np.concatenate([part.scores for part in (nothing, *evaluated)]),
        "is_right": np.concatenate([part.is_right for part in (nothing, *evaluated)]),
        "truths": np.array([part.truths for part in evaluated], np.int64).reshape(-1, count),
    }


def evaluated_of(arrays: Mapping[str, Array]) -> list[EvaluatedImage]:
    """Convert the arrays of `evaluated_arrays` back to evaluated images."""
    ends = np.cumsum(arrays["answers"])[:-1]
    labels, scores, is_right = (
        np.split(arrays[name], ends) for name in ("labels", "scores", "is_right")
    )
    truths = arrays["truths"]
    return [
        EvaluatedImage(labels[index], scores[index], is_right[index], truths[index])
        for index in range(len(truths))
    ]
