"""Facts about feedback and calibration in the card."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.interface import OutOfFold
from chalicelib.engines.text.report.feedback_calibration import FEWEST, feedback_calibration


def _answers(feedback: int, right: float) -> OutOfFold:
    """Return 400 texts with calibrated answers, and feedback that is right less often."""
    generator = np.random.default_rng(0)
    is_right = np.r_[generator.random(400) < 0.75, generator.random(feedback) < right]
    shares = np.tile(np.array([[0.75, 0.25]], np.float32), (400 + feedback, 1))
    return OutOfFold(np.arange(400 + feedback), shares, np.where(is_right, 0, 1))


def test_feedback_that_is_answered_worse_is_reported() -> None:
    """Feedback with overconfident probabilities is reported with its calibration error."""
    found = feedback_calibration(_answers(200, 0.5), range(400, 600))

    assert found is not None
    assert found["examples"] == 200
    assert 0.15 < found["errorBefore"] < 0.4
    assert abs(found["errorAfter"] - 0.25) < 0.1


def test_a_temperature_fitted_to_feedback_is_the_better_one() -> None:
    """Answers calibrated to feedback have a smaller error on it."""
    answers = _answers(200, 0.5)
    evened = np.tile(np.array([[0.6, 0.4]], np.float32), (600, 1))

    found = feedback_calibration(
        OutOfFold(answers.examples, evened, answers.truth), range(400, 600)
    )

    assert found is not None
    assert found["errorAfter"] < found["errorBefore"] - 0.05


def test_few_feedback_texts_tell_nothing() -> None:
    """With fewer than fifteen feedback texts, or feedback only, nothing is reported."""
    assert feedback_calibration(_answers(FEWEST - 1, 0.5), range(400, 414)) is None
    assert feedback_calibration(_answers(0, 0.5), range(400)) is None
