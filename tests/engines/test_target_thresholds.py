"""Thresholds for a target precision, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.target_thresholds import FEWEST_ANSWERS, target_thresholds


def test_the_threshold_is_the_lowest_that_reaches_the_target() -> None:
    """The threshold is the lowest that reaches the target precision."""
    probabilities = np.linspace(0.99, 0.6, 40)
    is_right = np.ones(40, bool)
    is_right[[28, 34, 36]] = False

    ninety, ninety_five, ninety_nine = target_thresholds(probabilities, is_right)

    assert (ninety["precision"], ninety["threshold"], ninety["coverage"]) == (0.9, 0.6, 1.0)
    # 33 of 34 are right, 38 of 40 only 95 %: 37 of 40 are 92.5 %.
    assert ninety_five["coverage"] == 34 / 40
    assert ninety_five["threshold"] == pytest.approx(probabilities[33], abs=1e-6)
    assert ninety_five["threshold"] <= probabilities[33]
    assert ninety_nine["coverage"] == 28 / 40
    assert ninety_nine["coverageLow"] == pytest.approx(0.5457, abs=1e-3)
    assert ninety_nine["coverageHigh"] == pytest.approx(0.8193, abs=1e-3)


def test_equal_probabilities_are_not_separated() -> None:
    """A run of equal probabilities is not split, even if only its end is wrong."""
    probabilities = np.repeat([0.9, 0.8], [30, 10])
    is_right = np.repeat([True, True, False], [30, 2, 8])

    found = target_thresholds(probabilities, is_right)

    assert [one["threshold"] for one in found] == [0.9, 0.9, 0.9]


@pytest.mark.parametrize("answers", [0, FEWEST_ANSWERS - 1])
def test_few_answers_show_nothing(answers: int) -> None:
    """With fewer than twenty answers there is no threshold."""
    found = target_thresholds(np.full(answers, 0.9), np.ones(answers, bool))

    assert [one["threshold"] for one in found] == [None] * 3
    assert {one["coverage"] for one in found} == {0.0}


def test_rejected_answers_are_never_covered() -> None:
    """A rejected text counts among the examples, but no threshold covers it."""
    probabilities = np.repeat([0.9, -1.0], [30, 10])

    found = target_thresholds(probabilities, np.ones(40, bool))

    assert [(one["threshold"], one["coverage"]) for one in found] == [(0.9, 0.75)] * 3


def test_the_coverage_is_of_the_counted_examples() -> None:
    """The coverage of a label counts only examples with that label."""
    probabilities = np.repeat([0.9, 0.1], [30, 70])
    has_label = np.repeat([True, False, True], [30, 60, 10])

    found = target_thresholds(probabilities, has_label, has_label)

    assert [(one["threshold"], one["coverage"]) for one in found] == [(0.9, 0.75)] * 3
