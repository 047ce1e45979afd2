"""Out-of-fold evaluations."""

from __future__ import annotations

import numpy as np

from chalicelib.domain.models.evaluation import (
    BINS,
    EvaluatedExample,
    EvaluatedFilter,
    Evaluation,
    evaluation_document,
    read_evaluation,
    without_evaluated,
)
from chalicelib.engines.evaluation import evaluate_single

SHARES = np.array([[0.9, 0.1], [0.3, 0.7], [0.85, 0.15], [0.5, 0.5]], np.float32)
TRUTH = np.array([0, 1, 1, 0])


def test_answers_by_example_and_by_probability() -> None:
    """Each of the model's examples has its answer; histograms include foreign examples."""
    rejected = np.array([False, False, False, True])
    found = evaluate_single([7, None, 9, 10], ["yes", "no"], TRUTH, SHARES, rejected)

    assert found.examples == [
        EvaluatedExample(7, "yes", "yes", 0.9),
        EvaluatedExample(9, "no", "yes", 0.85),
        EvaluatedExample(10, "yes", None, 0.5),
    ]
    assert [one.is_right for one in found.examples] == [True, False, False]
    assert [(one.low, one.count, one.accuracy) for one in found.reliability if one.count] == [
        (0.7, 1, 1.0),
        (0.8, 1, 0.0),
        (0.9, 1, 1.0),
    ]
    assert len(found.reliability) == BINS


def test_filters_of_an_evaluation() -> None:
    """Results can be filtered by confusion-matrix cell, and by wrong answers."""
    examples = evaluate_single([7, 8, 9, 10], ["yes", "no"], TRUTH, SHARES).examples

    def ids(**wanted: object) -> list[int]:
        return [one.example_id for one in examples if EvaluatedFilter(**wanted).matches(one)]

    assert ids() == [7, 8, 9, 10]
    assert ids(expected="no", predicted="yes") == ids(is_right=False) == [9]
    assert ids(is_right=True) == [7, 8, 10]


def test_kept_form_and_what_is_taken_out() -> None:
    """An evaluation is read back as stored; deleted examples are removed, figures stay."""
    found = evaluate_single([7, 8, 9, 10], ["yes", "no"], TRUTH, SHARES)
    document = evaluation_document(found)

    whole = Evaluation(tuple(found.examples), tuple(found.reliability))
    assert read_evaluation(document) == whole
    rest = read_evaluation(without_evaluated(document, {7, 9}))
    assert [one.example_id for one in rest.examples] == [8, 10]
    assert read_evaluation(without_evaluated(document)).examples == ()
    assert rest.reliability == whole.reliability
