"""Matches, curves and average precision against values computed by hand."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    evaluate,
    mean_average_precision,
    precision_recall,
)
from chalicelib.engines.vision.detection.inference.decoding import DetectedObjects
from chalicelib.engines.vision.detection.report.json_documents import metrics_document

TRUTH = np.array([[0.0, 0.0, 10.0, 10.0], [20.0, 0.0, 30.0, 10.0]])


def found(*answers: tuple[tuple[float, float, float, float], int, float]) -> DetectedObjects:
    """Return answers as box, label and score."""
    return DetectedObjects(
        np.array([box for box, _, _ in answers], float).reshape(-1, 4),
        np.array([label for _, label, _ in answers], int),
        np.array([score for _, _, score in answers], float),
    )


def test_a_box_is_found_once():
    """A second answer for the same box is wrong, however well it fits."""
    answers = found(((0, 0, 10, 10), 0, 0.9), ((0, 0, 10, 9), 0, 0.8))

    evaluated = evaluate(answers, TRUTH, np.array([0, 0]), 1)

    assert evaluated.is_right.tolist() == [True, False]


def test_half_overlap_is_enough_and_less_is_not():
    """An IoU of one half is a match, less is not."""
    half = evaluate(found(((0, 0, 10, 5), 0, 0.9)), TRUTH, np.array([0, 0]), 1)
    less = evaluate(found(((0, 0, 10, 4.9), 0, 0.9)), TRUTH, np.array([0, 0]), 1)

    assert half.is_right.tolist() == [True]
    assert less.is_right.tolist() == [False]


def test_a_box_of_another_label_is_not_found():
    """A box with another label is not a match."""
    evaluated = evaluate(found(((0, 0, 10, 10), 1, 0.9)), TRUTH, np.array([0, 0]), 2)

    assert evaluated.is_right.tolist() == [False]
    assert evaluated.truths.tolist() == [2, 0]


def test_average_precision_is_the_area_under_the_best_precision():
    """Right, wrong, right of three boxes give 1/3 x 1 + 1/3 x 2/3."""
    answers = found(((0, 0, 10, 10), 0, 0.9), ((50, 50, 60, 60), 0, 0.8), ((20, 0, 30, 10), 0, 0.7))
    boxes = np.concatenate([TRUTH, [[80.0, 80.0, 90.0, 90.0]]])

    (label,) = precision_recall([evaluate(answers, boxes, np.zeros(3, int), 1)], 1)

    assert label.average_precision == pytest.approx(1 / 3 + 2 / 9)
    assert label.recall == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert label.precision == pytest.approx([1.0, 1 / 2, 2 / 3])
    assert label.f1 == pytest.approx([1 / 2, 2 / 5, 2 / 3])


def test_equal_scores_stand_or_fall_together():
    """Answers with equal scores are one point of the curve."""
    answers = found(((0, 0, 10, 10), 0, 0.9), ((50, 50, 60, 60), 0, 0.9))

    (label,) = precision_recall([evaluate(answers, TRUTH, np.zeros(2, int), 1)], 1)

    assert label.recall == pytest.approx([1 / 2])
    assert label.precision == pytest.approx([1 / 2])


def test_answers_of_all_pictures_are_ranked_together():
    """Answers of all images are ranked in one curve per label."""
    first = evaluate(found(((0, 0, 10, 10), 1, 0.6)), TRUTH, np.array([1, 0]), 2)
    second = evaluate(found(((0, 0, 10, 10), 1, 0.9)), TRUTH, np.array([0, 0]), 2)

    zero, one = precision_recall([first, second], 2)

    assert zero.average_precision == 0.0
    assert one.precision == pytest.approx([0.0, 1 / 2])
    assert mean_average_precision([zero, one]) == pytest.approx(0.25)


def test_nothing_to_find_is_no_zero():
    """Without held-out boxes a label's average precision is unknown, and so is the mean."""
    by_label = precision_recall([], 2)

    document = metrics_document(["a", "b"], by_label, 0.5)

    assert document["labelMetrics"][0]["averagePrecision"] is None
    assert document["modelMetrics"] == {"trainingLoss": 0.5, "meanAveragePrecision": None}


def test_curves_are_thinned_to_a_hundred_scores():
    """A curve keeps at most a hundred scores, including the first and the last."""
    answers = found(*(((0, 0, 10, 10), 0, 1 - place / 1000) for place in range(500)))

    by_label = precision_recall([evaluate(answers, TRUTH, np.zeros(2, int), 1)], 1)
    label = metrics_document(["a"], by_label, 0.0)["labelMetrics"][0]

    assert len(label["recall"]) == len(label["precision"]) == len(label["f1"]) == 100
    assert label["precision"][0] == 1.0
    assert label["precision"][-1] == pytest.approx(1 / 500)
