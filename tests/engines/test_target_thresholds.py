"""Thresholds for a target precision, computed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from chalicelib.engines.target_thresholds import FEWEST_ANSWERS, target_thresholds

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles


def _answers(counts: dict[float, int]) -> tuple[Doubles, Bools]:
    """Return a hundred predictions of each probability, of which given numbers are correct."""
    hits = [np.arange(100) < count for count in counts.values()]
    return np.repeat(list(counts), 100), np.concatenate(hits)


def test_the_threshold_is_the_lowest_that_reaches_the_target() -> None:
    """The threshold is the lowest whose predictions are expected to reach the precision."""
    found = target_thresholds(*_answers({0.995: 100, 0.97: 97, 0.9: 89, 0.6: 60}))

    ninety, ninety_five, ninety_nine = found
    # Fractions of correct predictions so far: 1, .985, .953 and .865.
    assert (ninety["precision"], ninety["threshold"], ninety["coverage"]) == (0.9, 0.9, 0.75)
    assert ninety_five["threshold"] == 0.9
    assert ninety_nine["threshold"] == 0.995
    assert ninety_nine["coverageLow"] == pytest.approx(0.2102, abs=1e-3)
    assert ninety_nine["coverageHigh"] == pytest.approx(0.2945, abs=1e-3)


def test_few_correct_predictions_do_not_prove_a_high_precision() -> None:
    """Thirty correct predictions that state .9 do not reach .95, but three hundred do."""
    assert [one["threshold"] for one in target_thresholds(np.full(30, 0.9), np.ones(30, bool))] == [
        0.9,
        None,
        None,
    ]
    many = target_thresholds(np.full(300, 0.9), np.ones(300, bool))
    assert [one["threshold"] for one in many] == [0.9, 0.9, None]


def test_overconfident_probabilities_do_not_replace_correct_predictions() -> None:
    """Seventeen of twenty correct predictions do not reach .9, whatever they state."""
    found = target_thresholds(np.full(20, 0.999), np.arange(20) < 17)

    assert [one["threshold"] for one in found] == [None] * 3


def test_a_precision_of_exactly_the_target_reaches_it() -> None:
    """Thirty-six of forty correct predictions that state .9 reach .9, despite rounded sums."""
    found = target_thresholds(np.full(40, 0.9), np.arange(40) < 36)

    assert [one["threshold"] for one in found] == [0.9, None, None]


def test_equal_probabilities_are_not_separated() -> None:
    """A run of equal probabilities is not split, even if only its end is wrong."""
    probabilities = np.repeat([0.995, 0.99], [30, 40])
    is_right = np.repeat([True, True, False], [30, 2, 38])

    found = target_thresholds(probabilities, is_right)

    assert [one["threshold"] for one in found] == [0.995, 0.995, 0.995]


@pytest.mark.parametrize("answers", [0, FEWEST_ANSWERS - 1])
def test_few_answers_show_nothing(answers: int) -> None:
    """With fewer than twenty answers there is no threshold."""
    found = target_thresholds(np.full(answers, 0.9), np.ones(answers, bool))

    assert [one["threshold"] for one in found] == [None] * 3
    assert {one["coverage"] for one in found} == {0.0}


def test_rejected_answers_are_never_covered() -> None:
    """A rejected text counts among the examples, but no threshold covers it."""
    probabilities = np.repeat([0.995, -1.0], [30, 10])

    found = target_thresholds(probabilities, np.ones(40, bool))

    assert [(one["threshold"], one["coverage"]) for one in found] == [(0.995, 0.75)] * 3


def test_the_coverage_is_of_the_counted_examples() -> None:
    """The coverage of a label counts only examples with that label."""
    probabilities = np.repeat([0.995, 0.1], [30, 70])
    has_label = np.repeat([True, False, True], [30, 60, 10])

    found = target_thresholds(probabilities, has_label, has_label)

    assert [(one["threshold"], one["coverage"]) for one in found] == [(0.995, 0.75)] * 3


def test_the_coverage_is_that_of_the_served_model() -> None:
    """The served model's gain raises predictions above the threshold, which stays as it is."""
    answers = _answers({0.97: 97, 0.95: 80})

    own, served = (target_thresholds(*answers, gain=gain)[1] for gain in (0.0, 0.6))

    assert own["threshold"] == served["threshold"] == 0.97
    # Log-odds of .95 are lower by .53.
    assert (own["coverage"], served["coverage"]) == (0.5, 1.0)
