"""How good the found boxes are: precision and recall by score, average precision, its interval.

Sources: Everingham et al. 2015, Pascal VOC, all-point average precision at IoU one half;
Efron 1979, the bootstrap, percentile interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.detection.inference.decoding import iou

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chalicelib.domain.common.arrays import Array, Bools, Doubles, Ints
    from chalicelib.engines.vision.detection.inference.decoding import DetectedObjects


# Intersection over union from which a box is found.
RIGHT_OVERLAP = 0.5


@dataclass(frozen=True)
class EvaluatedPicture:
    """Answers for one picture, compared with what is there."""

    labels: Ints
    """Answered labels, int, shape (answers,)."""
    scores: Doubles
    """0 to 1, float64, shape (answers,)."""
    is_right: Bools
    """Whether the answer found a box of its label that no better answer found, (answers,)."""
    truths: Ints
    """Boxes that are there by label, int, shape (labels,)."""


@dataclass(frozen=True)
class PrecisionRecall:
    """Quality of one label; the curves have one value per distinct score, descending."""

    truths: int
    """Boxes that were to be found."""
    precision: Doubles
    """Share of the answers that are right, float64, shape (scores,)."""
    recall: Doubles
    """Share of the boxes that were found, float64, shape (scores,)."""

    @property
    def f1(self) -> Doubles:
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


def evaluate(found: DetectedObjects, boxes: Doubles, labels: Ints, count: int) -> EvaluatedPicture:
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
    shared = iou(found.boxes, boxes)
    shared[found.labels[:, None] != labels[None]] = 0.0
    for answer in range(len(found.labels) if len(labels) else 0):
        best = int(np.argmax(shared[answer]))
        if shared[answer, best] >= RIGHT_OVERLAP and not is_taken[best]:
            is_taken[best] = is_right[answer] = True
    return EvaluatedPicture(
        found.labels, found.scores, is_right, np.bincount(labels, minlength=count)
    )


def precision_recall(evaluated: Sequence[EvaluatedPicture], count: int) -> list[PrecisionRecall]:
    """Put pictures together.

    Args:
        evaluated: of each picture.
        count: how many labels there are.

    Returns:
        Quality of every label.
    """
    truths = sum((part.truths for part in evaluated), np.zeros(count, np.int64))
    labels = np.concatenate([np.empty(0, np.int64), *(part.labels for part in evaluated)])
    scores = np.concatenate([np.empty(0), *(part.scores for part in evaluated)])
    is_right = np.concatenate([np.empty(0, bool), *(part.is_right for part in evaluated)])
    order = np.lexsort((scores, labels))[::-1]
    starts = np.searchsorted(labels[order][::-1], np.arange(count + 1))
    # Labels descend in this order; the rows of one lie between these ends.
    ends = len(order) - starts
    rows = [order[ends[label + 1] : ends[label]] for label in range(count)]
    return [
        _quality(scores[of_label], is_right[of_label], int(truths[label]))
        for label, of_label in enumerate(rows)
    ]


def mean_average_precision(by_label: Sequence[PrecisionRecall]) -> float | None:
    """Mean over the labels that were to be found; None when there is none."""
    known = [label.average_precision for label in by_label if label.average_precision is not None]
    return sum(known) / len(known) if known else None


def _quality(scores: Doubles, is_right: Bools, truths: int) -> PrecisionRecall:
    if truths == 0:
        return PrecisionRecall(0, np.empty(0), np.empty(0))
    # Equal scores stand or fall together: only the last of a run counts.
    last = np.append(scores[1:] < scores[:-1], True)[: len(scores)]
    hits = np.cumsum(is_right)[last]
    answers = np.arange(1, len(scores) + 1)[last]
    return PrecisionRecall(truths, hits / answers, hits / truths)


# Level of the interval.
LEVEL = 0.95
_ROUNDS, _FEWEST_ROUNDS = 200, 40
# Answers that are looked at in all rounds together, about ten seconds of work.
_MOST_ANSWERS = 20_000_000
_FEWEST = 2


def bootstrap_interval(
    evaluated: Sequence[EvaluatedPicture], labels: int, seed: int
) -> Interval | None:
    """Interval of the mean average precision over the held-out pictures.

    Args:
        evaluated: held-out pictures.
        labels: how many labels there are.
        seed: of the draws.

    Returns:
        The value and the 2.5 % and 97.5 % quantiles of 200 resamplings, or of
        fewer, at least 40, where there are very many answers; None when fewer than two
        pictures were held out.
    """

    def value_of(rows: Sequence[int]) -> float | None:
        return mean_average_precision(precision_recall([evaluated[row] for row in rows], labels))

    return _bootstrap(value_of, len(evaluated), sum(len(part.scores) for part in evaluated), seed)


def bootstrap_gain(
    before: Sequence[EvaluatedPicture], after: Sequence[EvaluatedPicture], labels: int, seed: int
) -> Interval | None:
    """Interval of what the mean average precision gains, over draws of the same pictures.

    Args:
        before: answers of one way.
        after: answers of another way for the same pictures, in the same order.
        labels: how many labels there are.
        seed: of the draws.

    Returns:
        The difference and its quantiles as `bootstrap_interval` has them.
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
    """Interval of a value of drawn pictures; None when there are fewer than two or no value."""
    value = value_of(range(pictures))
    if value is None or pictures < _FEWEST:
        return None
    generator = np.random.Generator(np.random.PCG64([seed, 3]))
    rounds = max(_FEWEST_ROUNDS, min(_ROUNDS, _MOST_ANSWERS // max(1, answers)))
    drawn = (value_of(generator.integers(0, pictures, pictures).tolist()) for _ in range(rounds))
    draws = [found for found in drawn if found is not None]
    low, high = np.quantile(draws, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Interval(value, float(low), float(high))


def evaluated_arrays(evaluated: Sequence[EvaluatedPicture], count: int) -> dict[str, Array]:
    """Put pictures into arrays.

    Args:
        evaluated: of each picture.
        count: how many labels there are.

    Returns:
        Arrays that `evaluated_of` reads.
    """
    nothing = EvaluatedPicture(
        np.empty(0, np.int64), np.empty(0), np.empty(0, bool), np.empty(0, np.int64)
    )
    return {
        "answers": np.array([len(part.labels) for part in evaluated], np.int64),
        "labels": np.concatenate([part.labels for part in (nothing, *evaluated)]),
        "scores": np.concatenate([part.scores for part in (nothing, *evaluated)]),
        "is_right": np.concatenate([part.is_right for part in (nothing, *evaluated)]),
        "truths": np.array([part.truths for part in evaluated], np.int64).reshape(-1, count),
    }


def evaluated_of(arrays: Mapping[str, Array]) -> list[EvaluatedPicture]:
    """Read what `evaluated_arrays` wrote."""
    ends = np.cumsum(arrays["answers"])[:-1]
    labels, scores, is_right = (
        np.split(arrays[name], ends) for name in ("labels", "scores", "is_right")
    )
    truths = arrays["truths"]
    return [
        EvaluatedPicture(labels[index], scores[index], is_right[index], truths[index])
        for index in range(len(truths))
    ]
