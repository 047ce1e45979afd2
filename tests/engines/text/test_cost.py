"""Limits and estimates of a training."""

from __future__ import annotations

from chalicelib.engines.text.cost import LEAST_EXAMPLES, expected_seconds, most_examples

DIMS = 896


def test_usual_sets_are_taken_whole() -> None:
    """A hundred thousand texts of 150 labels are not sampled, nor is any set of few labels."""
    assert most_examples(DIMS, 150) >= 200_000
    assert most_examples(DIMS, 2) * DIMS * 4 <= 1e9


def test_many_labels_take_fewer_examples() -> None:
    """With many labels fewer examples are used, so that a thousand labels end in time."""
    assert LEAST_EXAMPLES <= most_examples(1_664, 1_000) < most_examples(DIMS, 1_000)
    assert expected_seconds(most_examples(1_664, 1_000), 1_664, 1_000) < 840


def test_estimates_grow_with_the_work() -> None:
    """More data takes longer; exact arithmetic costs more than plain."""
    assert expected_seconds(20_000, DIMS, 77) < expected_seconds(20_000, DIMS, 150)
    assert expected_seconds(30_000, DIMS, 150) > expected_seconds(31_000, DIMS, 150)
