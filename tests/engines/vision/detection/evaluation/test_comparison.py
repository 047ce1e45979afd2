"""Whether a detection method is worth its cost."""

import numpy as np
import pytest

from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedImage
from chalicelib.engines.vision.detection.evaluation.comparison import Compared, compare


@pytest.mark.parametrize(
    ("gain", "is_certain", "is_likely"),
    [
        (Interval(0.02, 0.001, 0.05), True, True),
        (Interval(0.02, 0.0, 0.05), False, True),
        (Interval(0.01, -0.01, 0.05), False, True),
        (Interval(0.009, 0.001, 0.02), True, True),
        (Interval(0.009, 0.0, 0.02), False, False),
        (Interval(-0.02, -0.05, -0.01), False, False),
        (None, False, False),
    ],
)
def test_a_gain_is_certain_or_likely(gain: Interval | None, is_certain: bool, is_likely: bool):
    """A gain is certain if its interval is above 0, and likely if it is certain or large enough."""
    found = Compared(0.5, 0.52, gain)

    assert (found.is_certain, found.is_likely) == (is_certain, is_likely)


def image(*right: bool) -> EvaluatedImage:
    """Return an image with one box and answers in score order."""
    scores = np.linspace(0.9, 0.5, len(right))
    return EvaluatedImage(np.zeros(len(right), int), scores, np.array(right), np.array([1]))


def test_a_comparison_is_paired_by_picture():
    """Both means and their paired difference are returned; equal answers gain exactly nothing."""
    before, after = [image(False, True)] * 5, [image(True, False)] * 5

    better, same = compare(before, after, 1, 0), compare(before, before, 1, 0)

    assert (better.before, better.after) == (0.5, 1.0)
    assert better.gain == Interval(0.5, 0.5, 0.5)
    assert better.is_certain
    assert not same.is_certain
