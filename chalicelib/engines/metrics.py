"""Metrics of predictions: confusion matrix, precision, recall, losses, calibration, intervals.

Probabilities and scores are float, shape (examples, labels); true and predicted labels are indexes,
int, shape (examples,); matrices are counts, int, shape (size, size).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.interface import Interval, PrecisionRecallCurve

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints

# Number of bins of the calibration error, each with the same number of examples.
CALIBRATION_BINS = 15
# Most points of a precision-recall curve.
CURVE_POINTS = 100
_UNTESTED_THRESHOLD = 0.5
_NORMAL_95 = 1.959963984540054
# Minimum probability: a true label with probability 0 would make the mean loss infinite.
_SMALLEST_PROBABILITY = 1e-12
_RESAMPLES = 200


class LabelScores(NamedTuple):
    """Metrics of each label, each float64, shape (labels,); 0 if undefined."""

    precision: Floats
    recall: Floats
    f1: Floats


def confusion_matrix(truth: Ints, answers: Ints, size: int) -> Ints:
    """Count the pairs of true and predicted label.

    Args:
        truth: true label indexes, int, shape (examples,).
        answers: predicted label indexes, int, shape (examples,).
        size: number of rows and of columns.

    Returns:
        Counts, int, shape (size, size). Rows are true labels, columns predicted labels.
    """
    pairs = np.asarray(truth, np.int64) * size + answers
    return np.bincount(pairs, minlength=size * size).reshape(size, size)


def label_scores(matrix: Ints, labels: int) -> LabelScores:
    """Return precision, recall and F1 of each label from a confusion matrix.

    Args:
        matrix: counts, int, shape (size, size), where `size` is at least `labels`.
        labels: number of labels. Further rows and columns, such as out of domain, get no scores.

    Returns:
        The scores of the labels; undefined scores are 0.
    """
    hits = np.diagonal(matrix)[:labels].astype(np.float64)
    answered = matrix.sum(axis=0)[:labels]
    present = matrix.sum(axis=1)[:labels]
    precision = hits / np.maximum(answered, 1)
    recall = hits / np.maximum(present, 1)
    f1 = 2.0 * hits / np.maximum(answered + present, 1)
    return LabelScores(precision, recall, f1)


def macro_f1(matrix: Ints, labels: int) -> float:
    """Return the mean F1 of the labels that have examples; 0 without examples.

    Args:
        matrix: counts, int, shape (size, size).
        labels: number of labels, which are the first rows and columns.
    """
    tested = matrix.sum(axis=1)[:labels] > 0
    return float(label_scores(matrix, labels).f1[tested].mean()) if tested.any() else 0.0


def log_loss(probabilities: Floats, truth: Ints) -> float:
    """Return the mean negative logarithm of the true label's probability.

    Returns:
        The loss in nats; 0 without examples.
    """
    if len(truth) == 0:
        return 0.0
    chosen = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    return float(-np.log(np.maximum(chosen, _SMALLEST_PROBABILITY)).mean())


def brier_score(probabilities: Floats, truth: Ints) -> float:
    """Return the mean squared distance of the probabilities to the truth, from 0 to 2.

    The score is 0 without examples.
    """
    if len(truth) == 0:
        return 0.0
    chosen = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    squares = np.einsum("ij,ij->i", probabilities, probabilities).astype(np.float64)
    return float((squares - 2.0 * chosen + 1.0).mean())


def calibration_error(probabilities: Floats, truth: Ints, bins: int = CALIBRATION_BINS) -> float:
    """Return the mean difference between top probability and accuracy, over equally filled bins.

    Returns:
        The error from 0 to 1; 0 without examples.
    """
    if len(truth) == 0:
        return 0.0
    top = probabilities.max(axis=1).astype(np.float64)
    is_right = probabilities.argmax(axis=1) == truth
    order = np.argsort(top, kind="stable")
    gaps = [
        abs(float(top[rows].sum() - is_right[rows].sum())) for rows in np.array_split(order, bins)
    ]
    return sum(gaps) / len(truth)


def wilson_interval(hits: int, total: int) -> Interval:
    """Return the fraction `hits / total` with its 95 % interval, which is 0 to 1 if `total` is 0.

    Source: Wilson 1927, score interval.
    """
    if total == 0:
        return Interval(0.0, 0.0, 1.0)
    share, square = hits / total, _NORMAL_95**2
    centre = (share + square / (2 * total)) / (1 + square / total)
    spread = share * (1 - share) / total + square / (4 * total**2)
    reach = _NORMAL_95 * spread**0.5 / (1 + square / total)
    return Interval(share, max(0.0, centre - reach), min(1.0, centre + reach))


def macro_f1_interval(matrix: Ints, labels: int) -> Interval:
    """Return the 95 % interval of the macro F1, by resampling the confusion matrix.

    Args:
        matrix: counts, int, shape (size, size).
        labels: number of labels, which are the first rows and columns.

    Returns:
        The macro F1 and its bounds. Without texts, the F1 is 0 and the bounds are 0 and 1.

    Source: Efron 1979, the bootstrap.
    """
    cells = np.flatnonzero(matrix)
    total = int(matrix.sum())
    if total == 0:
        return Interval(0.0, 0.0, 1.0)
    truth, answers = np.divmod(cells, len(matrix))
    shares = matrix.ravel()[cells] / total
    draws = np.random.default_rng(0).multinomial(total, shares, _RESAMPLES)
    values = np.array([_macro_f1_of_cells(truth, answers, counts, labels) for counts in draws])
    value = macro_f1(matrix, labels)
    # Resamples miss labels with one or two tests, which increases their mean F1; this bias is
    # subtracted.
    low, high = (np.quantile(values, [0.025, 0.975]) + value - values.mean()).clip(0.0, 1.0)
    return Interval(value, min(value, float(low)), max(value, float(high)))


def _macro_f1_of_cells(truth: Ints, answers: Ints, counts: Ints, labels: int) -> float:
    present = np.bincount(truth, counts, labels + 1)[:labels]
    answered = np.bincount(answers, counts, labels + 1)[:labels]
    hits = np.bincount(truth, counts * (truth == answers), labels + 1)[:labels]
    tested = present > 0
    return float((2.0 * hits / np.maximum(answered + present, 1))[tested].mean())


def best_threshold(scores: Floats, is_true: Bools) -> float:
    """Return the threshold at which one label has the best F1.

    Args:
        scores: score of one label for every text, float, shape (texts,).
        is_true: whether the text has the label, bool, shape (texts,).

    Returns:
        The threshold. If several are equally good, it is the highest of them. If no text has the
        label, it is 0.5.
    """
    if not is_true.any():
        return _UNTESTED_THRESHOLD
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    hits = np.cumsum(is_true[order])
    f1 = 2.0 * hits / (np.arange(1, len(scores) + 1) + int(is_true.sum()))
    # Equal scores cannot be separated, so only the last of a run can be a threshold.
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0
    return float(ranked[int(np.argmax(f1))])


def precision_recall_curve(probabilities: Floats, truth: Ints) -> PrecisionRecallCurve:
    """Return the micro-averaged precision-recall curve, with at most `CURVE_POINTS` points.

    The points are evenly spaced by recall.

    Returns:
        The curve, with strictly ascending thresholds; empty if there are no examples.
    """
    if len(truth) == 0:
        return PrecisionRecallCurve([], [], [], [])
    scores = probabilities.ravel()
    is_true = np.zeros(probabilities.shape, bool)
    is_true[np.arange(len(truth)), truth] = True
    chosen = np.sort(scores[is_true.ravel()])
    picks = np.linspace(0, len(chosen) - 1, min(CURVE_POINTS, len(chosen))).round().astype(int)
    thresholds = np.unique(chosen[picks])
    ranked = np.sort(scores)
    answered = len(ranked) - np.searchsorted(ranked, thresholds, "left")
    hits = len(chosen) - np.searchsorted(chosen, thresholds, "left")
    return PrecisionRecallCurve(
        f1=rounded(2.0 * hits / (answered + len(truth))),
        recall=rounded(hits / len(truth)),
        precision=rounded(hits / answered),
        threshold=rounded(thresholds, 9),
    )


def rounded(values: Floats, digits: int = 6) -> list[float]:
    """Round numbers, float, shape (n,), to `digits` decimals; return a list for JSON."""
    return [round(float(value), digits) for value in values]
