"""When a way of answering is worth its cost."""

import numpy as np
import pytest

from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedPicture
from chalicelib.engines.vision.detection.evaluation.comparison import Compared, compare


@pytest.mark.parametrize(
    ("gain", "is_worth_it"),
    [
        (Interval(0.02, 0.001, 0.05), True),
        (Interval(0.02, 0.0, 0.05), False),
        (Interval(0.02, -0.01, 0.05), False),
        (Interval(-0.02, -0.05, -0.01), False),
        (None, False),
    ],
)
def test_only_a_gain_beyond_doubt_is_worth_it(gain: Interval | None, is_worth_it: bool):
    """The whole interval has to lie above 0; what cannot be said is not bought."""
    assert Compared(0.5, 0.52, gain).is_worth_it == is_worth_it


def picture(*right: bool) -> EvaluatedPicture:
    """One box and answers in order of their scores."""
    scores = np.linspace(0.9, 0.5, len(right))
    return EvaluatedPicture(np.zeros(len(right), int), scores, np.array(right), np.array([1]))


def test_a_comparison_is_paired_by_picture():
    """Both means and their difference; equal answers gain nothing for sure."""
    before, after = [picture(False, True)] * 5, [picture(True, False)] * 5

    better, same = compare(before, after, 1, 0), compare(before, before, 1, 0)

    assert (better.before, better.after) == (0.5, 1.0)
    assert better.gain == Interval(0.5, 0.5, 0.5)
    assert better.is_worth_it
    assert not same.is_worth_it
