"""Quality metrics against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chalicelib.engines import metrics
from chalicelib.engines.interface import Interval

TRUTH = np.array([0] * 5 + [1] * 6 + [2] * 4)
ANSWERS = np.array([0, 0, 0, 0, 1] + [1] * 6 + [2, 2, 2, 0])
MATRIX = [[4, 1, 0], [0, 6, 0], [1, 0, 3]]


def test_confusion_matrix_counts_truth_in_rows() -> None:
    """The contract's confusion matrix is reproduced, with true labels in rows."""
    assert metrics.confusion_matrix(TRUTH, ANSWERS, 3).tolist() == MATRIX


def test_label_scores_match_the_contract() -> None:
    """Precision, recall, f1 and macro f1 of the contract's example are reproduced."""
    scores = metrics.label_scores(np.array(MATRIX), 3)

    assert metrics.rounded(scores.precision) == [0.8, 0.857143, 1.0]
    assert metrics.rounded(scores.recall) == [0.8, 1.0, 0.75]
    assert metrics.rounded(scores.f1) == [0.8, 0.923077, 0.857143]
    assert round(metrics.macro_f1(np.array(MATRIX), 3), 6) == 0.860073


def test_label_scores_with_an_out_of_domain_column() -> None:
    """Rejected texts lower recall and no label's precision."""
    matrix = np.array([[4, 1, 0, 0], [0, 6, 0, 0], [0, 0, 3, 1], [0, 0, 0, 0]])

    scores = metrics.label_scores(matrix, 3)

    assert metrics.rounded(scores.precision) == [1.0, 0.857143, 1.0]
    assert metrics.rounded(scores.recall) == [0.8, 1.0, 0.75]
    assert metrics.rounded(scores.f1) == [0.888889, 0.923077, 0.857143]


def test_label_scores_of_an_untested_label_are_zero_and_outside_the_mean() -> None:
    """A label without held-out texts scores 0 and is not in the macro F1."""
    matrix = np.array([[2, 0], [0, 0]])

    assert metrics.label_scores(matrix, 2).f1.tolist() == [1.0, 0.0]
    assert metrics.macro_f1(matrix, 2) == 1.0
    assert metrics.macro_f1(np.zeros((2, 2), int), 2) == 0.0


def test_log_loss_is_the_mean_of_negative_logarithms() -> None:
    """Probabilities of one half and one quarter lose ln 2 and ln 4."""
    shares = np.array([[0.5, 0.5], [0.75, 0.25]])

    assert metrics.log_loss(shares, np.array([0, 1])) == pytest.approx(1.5 * math.log(2))


def test_log_loss_of_a_certain_mistake_is_finite() -> None:
    """A probability of zero has a large but finite loss, since JSON has no infinity."""
    assert math.isfinite(metrics.log_loss(np.array([[1.0, 0.0]]), np.array([1])))


def test_brier_score_is_the_squared_distance() -> None:
    """Squared distances (0.3² + 0.3²) and (0.8² + 0.8²) are averaged."""
    shares = np.array([[0.7, 0.3], [0.8, 0.2]])

    assert metrics.brier_score(shares, np.array([0, 1])) == pytest.approx((0.18 + 1.28) / 2)


def test_calibration_error_of_two_bins() -> None:
    """Gaps |0.65 - 0.5| and |0.95 - 1| in two bins of two texts average to 0.1."""
    top = np.array([0.6, 0.7, 0.9, 1.0])
    shares = np.stack([top, 1 - top], axis=1)

    error = metrics.calibration_error(shares, np.array([0, 1, 0, 0]), bins=2)

    assert error == pytest.approx(0.1)


def test_calibration_error_with_fewer_texts_than_bins() -> None:
    """Empty bins add nothing."""
    shares = np.array([[0.8, 0.2]])

    assert metrics.calibration_error(shares, np.array([0])) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [(13, 15, 0.6212, 0.9626), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_wilson_interval(hits: int, total: int, low: float, high: float) -> None:
    """Bounds equal published tables, also at 0 and 1 and without trials."""
    interval = metrics.wilson_interval(hits, total)

    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_best_threshold_has_the_best_f1() -> None:
    """The threshold 0.7 with F1 0.8 beats its neighbours with 2/3 and 4/6."""
    scores = np.array([0.9, 0.8, 0.7, 0.2])
    is_true = np.array([True, False, True, False])

    assert metrics.best_threshold(scores, is_true) == pytest.approx(0.7)


def test_best_threshold_keeps_equal_scores_together() -> None:
    """A threshold does not separate two texts with the same score."""
    scores = np.array([0.5, 0.5, 0.1])

    assert metrics.best_threshold(scores, np.array([True, False, False])) == 0.5


def test_best_threshold_of_an_untested_label() -> None:
    """Without a text of the label the threshold is one half."""
    assert metrics.best_threshold(np.array([0.1]), np.array([False])) == 0.5


def test_precision_recall_curve_by_hand() -> None:
    """With two texts and labels, every distinct score of a true pair is a point of the curve."""
    shares = np.array([[0.9, 0.1], [0.6, 0.4]])

    curve = metrics.precision_recall_curve(shares, np.array([0, 1]))

    assert curve.threshold == [0.4, 0.9]
    assert curve.recall == [1.0, 0.5]
    assert curve.precision == [0.666667, 1.0]
    assert curve.f1 == [0.8, 0.666667]


def test_precision_recall_curve_is_thinned_and_ascending() -> None:
    """The curve has at most 100 points, with rising thresholds and falling recall."""
    generator = np.random.default_rng(0)
    shares = generator.dirichlet(np.ones(5), 2_000)

    curve = metrics.precision_recall_curve(shares, generator.integers(0, 5, 2_000))

    assert 90 <= len(curve.threshold) <= 100
    assert curve.threshold == sorted(set(curve.threshold))
    assert curve.recall == sorted(curve.recall, reverse=True)
    assert curve.recall[0] == 1.0


def test_figures_without_examples_are_plain_numbers() -> None:
    """Without held-out examples figures are zeros, not NaN."""
    shares, truth = np.empty((0, 3)), np.empty(0, int)

    assert metrics.log_loss(shares, truth) == 0.0
    assert metrics.brier_score(shares, truth) == 0.0
    assert metrics.calibration_error(shares, truth) == 0.0
    assert metrics.precision_recall_curve(shares, truth).threshold == []


def test_macro_f1_has_an_interval() -> None:
    """The interval contains the macro F1, narrows with more texts, and ignores an extra row."""
    matrix = np.array([[8, 2, 0], [1, 9, 1], [0, 0, 0]])

    few, many = metrics.macro_f1_interval(matrix, 2), metrics.macro_f1_interval(100 * matrix, 2)

    assert few.value == pytest.approx(metrics.macro_f1(matrix, 2))
    assert few.low < many.low < many.value < many.high < few.high
    assert few == metrics.macro_f1_interval(matrix, 2)
    assert metrics.macro_f1_interval(0 * matrix, 2) == Interval(0.0, 0.0, 1.0)


def test_macro_f1_of_labels_tested_once_lies_inside_its_interval() -> None:
    """The interval contains the macro F1 even if every label is tested once."""
    answers = np.where(np.arange(300) % 2, np.arange(300), np.roll(np.arange(300), 1))
    matrix = metrics.confusion_matrix(np.arange(300), answers, 300)

    found = metrics.macro_f1_interval(matrix, 300)

    assert found.value - found.low > 0.02
    assert found.high - found.value > 0.02
