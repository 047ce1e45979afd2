"""Comparisons of two versions by the same held-out examples."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.domain.models.comparison import LEAST_COMMON, compare
from chalicelib.domain.models.evaluation import EvaluatedExample, Evaluation


def evaluation(answers: str, first_id: int = 0) -> Evaluation:
    """Return an evaluation of examples whose answers are right (`+`) or wrong."""
    return Evaluation(
        [
            EvaluatedExample(first_id + number, "a", "a" if one == "+" else "b", 0.9)
            for number, one in enumerate(answers)
        ]
    )


def test_comparison_pairs_common_examples() -> None:
    """Both versions are judged on the same examples by the newer labels, with an interval."""
    found = compare(evaluation("+" * 30 + "-" * 10), evaluation("+" * 40 + "-" * 5))
    assert found is not None
    assert (found.examples, found.first_accuracy, found.second_accuracy) == (40, 0.75, 1.0)
    assert 0 < found.low < 0.25 < found.high
    assert not found.is_worse
    assert found.swapped().is_worse
    assert compare(evaluation("+" * LEAST_COMMON), evaluation("+" * 50, LEAST_COMMON)) is None


def test_wrong_labels_count_against_their_version() -> None:
    """Labels that no version predicts make the newer one worse, if each has its own labels."""
    older = Evaluation(
        [EvaluatedExample(one, "ab"[one % 2], "ab"[one % 2], 0.9) for one in range(40)]
    )
    newer = Evaluation(
        [replace(one, expected="b") if one.example_id < 20 else one for one in older.examples]
    )
    current, own = compare(older, newer), compare(older, newer, by_own_labels=True)
    assert current is not None
    assert own is not None
    assert (current.first_accuracy, own.first_accuracy) == (0.75, 1.0)
    assert (current.is_worse, own.is_worse) == (False, True)


def test_comparison_of_multi_label_answers() -> None:
    """Where an image occurs once for each label, its labels are paired one by one."""
    both = Evaluation(
        [EvaluatedExample(one, label, label, 0.9) for one in range(20) for label in ("a", "b")]
        + [EvaluatedExample(one, None, None, 0.1) for one in range(20) for _ in range(2)]
    )
    found = compare(both, both)
    assert found is not None
    assert (found.examples, found.low, found.high) == (40, 0.0, 0.0)
