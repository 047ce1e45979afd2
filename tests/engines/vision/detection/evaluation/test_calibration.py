"""Calibration of detection scores."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedImage,
    bootstrap_gain,
    bootstrap_interval,
    evaluated_arrays,
    evaluated_of,
)
from chalicelib.engines.vision.detection.evaluation.calibration import (
    Calibration,
    calibration_error,
    fit_calibration,
    suggest_threshold,
)


def judged_pictures(count: int, answers: int = 10) -> list[EvaluatedImage]:
    """Return answers that are right far more often than their scores say."""
    generator = np.random.default_rng(0)
    parts = []
    for _ in range(count):
        scores = np.sort(generator.uniform(0.05, 0.8, answers))[::-1]
        is_right = generator.random(answers) < np.minimum(1.0, scores * 1.3)
        truths = np.array([int(is_right.sum()) + 1])
        parts.append(EvaluatedImage(np.zeros(answers, int), scores, is_right, truths))
    return parts


def test_calibrated_probabilities_come_closer_to_the_truth():
    """Calibration reduces the calibration error on other images."""
    pictures = judged_pictures(80)
    curve = fit_calibration(pictures[:40])
    raw = np.concatenate([part.scores for part in pictures[40:]])
    is_right = np.concatenate([part.is_right for part in pictures[40:]])

    assert abs(curve.apply(raw).mean() - is_right.mean()) < abs(raw.mean() - is_right.mean())
    assert calibration_error(pictures) < 0.06


def test_the_order_of_answers_stays():
    """Calibration keeps the order of answers."""
    curve = fit_calibration(judged_pictures(40))

    assert (np.diff(curve.apply(np.linspace(0.001, 0.999, 99))) > 0).all()


def test_few_answers_calibrate_nothing():
    """With fewer than ten right or ten wrong answers scores are unchanged."""
    few = judged_pictures(1)

    assert fit_calibration(few) == Calibration()
    assert fit_calibration([]) == Calibration()
    assert calibration_error([]) is None
    assert Calibration().apply(np.array([0.2, 0.9])).tolist() == [0.2, 0.9]


def test_the_interval_holds_the_value():
    """The bootstrap interval contains the mean average precision and is reproducible."""
    interval = bootstrap_interval(judged_pictures(30), 1, 0)

    assert interval.low < interval.value < interval.high
    assert interval == bootstrap_interval(judged_pictures(30), 1, 0)
    assert bootstrap_interval(judged_pictures(1), 1, 0) is None


def test_a_gain_is_drawn_over_the_same_pictures():
    """A gain in every image is certain; without a change the gain is zero."""
    pictures = judged_pictures(30)
    better = [
        EvaluatedImage(part.labels, part.scores, part.is_right | (part.scores > 0.3), part.truths)
        for part in pictures
    ]

    gain = bootstrap_gain(pictures, better, 1, 0)

    assert gain.low > 0.0
    assert bootstrap_gain(pictures, pictures, 1, 0).high == 0.0
    assert bootstrap_gain(pictures[:1], better[:1], 1, 0) is None


def test_the_suggested_threshold_parts_right_from_wrong():
    """The suggested threshold has the best F1 over all answers, counting missed boxes."""
    scores, is_right = np.array([0.9, 0.8, 0.6, 0.2, 0.1]), np.array([1, 1, 1, 0, 0], bool)
    image = EvaluatedImage(np.zeros(5, int), scores, is_right, np.array([4]))

    assert suggest_threshold([image]) == 0.6


def test_equal_probabilities_have_one_threshold():
    """Answers with equal probabilities are not separated by the threshold."""
    scores, is_right = np.array([0.9, 0.5, 0.5, 0.5, 0.5]), np.array([1, 1, 0, 0, 0], bool)
    image = EvaluatedImage(np.zeros(5, int), scores, is_right, np.array([2]))

    assert suggest_threshold([image]) == 0.9


def test_without_a_right_answer_no_threshold_is_suggested():
    """Without a right answer no threshold is suggested."""
    wrong = EvaluatedImage(np.zeros(1, int), np.array([0.9]), np.zeros(1, bool), np.array([1]))

    assert suggest_threshold([wrong]) is None
    assert suggest_threshold([]) is None


def test_judged_pictures_survive_their_process():
    """Results are read back from arrays unchanged, also for images without answers."""
    nothing = EvaluatedImage(np.empty(0, int), np.empty(0), np.empty(0, bool), np.array([2]))
    pictures = [nothing, *judged_pictures(2), nothing]

    read = evaluated_of(evaluated_arrays(pictures, 1))

    assert len(read) == 4
    for before, after in zip(pictures, read, strict=True):
        assert before.scores.tolist() == after.scores.tolist()
        assert before.is_right.tolist() == after.is_right.tolist()
        assert before.truths.tolist() == after.truths.tolist()
    assert evaluated_of(evaluated_arrays([], 1)) == []


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_extreme_scores_are_no_trouble(score: float):
    """Scores of exactly 0 and 1 have a probability."""
    assert 0 <= Calibration(2.0, -1.0).apply(np.array([score]))[0] <= 1
