"""Metrics of a head on both sides of the split."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chalicelib.engines.text.head.evaluation import SplitEvaluator, label_thresholds
from chalicelib.engines.text.head.regression import ExampleBatch, SoftmaxHead

HEAD = SoftmaxHead(np.eye(2), np.zeros(2))
TRAINING = ExampleBatch(np.array([[3.0, 0.0], [0.0, 3.0]]), np.array([0, 1]))
HELD = ExampleBatch(
    np.array([[3.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.1, 0.0]]), np.array([0, 1, 1, 0])
)


def _judge(threshold: float | None) -> SplitEvaluator:
    may_reject = threshold is not None
    limit = float("-inf") if threshold is None else threshold
    return SplitEvaluator(["no", "yes"], [TRAINING], [HELD], 0.5, limit, may_reject)


def test_metrics_by_hand() -> None:
    """Accuracy and loss of four held-out texts are as computed by hand."""
    found = _judge(None).metrics(HEAD)

    assert found.labels == ["no", "yes"]
    assert found.confusion_matrix == [[2, 0], [1, 1]]
    assert found.test_accuracy == 0.75
    assert found.training_accuracy == 1.0
    assert found.precision == [0.666667, 1.0]
    assert found.recall == [1.0, 0.5]
    assert found.f1 == [0.8, 0.666667]
    assert found.macro_f1 == 0.733333
    assert found.training_loss == pytest.approx(math.log1p(math.exp(-6)), abs=1e-6)
    losses = [math.log1p(math.exp(gap)) for gap in (-6, 4, -2, -0.2)]
    assert found.test_loss == pytest.approx(sum(losses) / 4, abs=1e-6)


def test_rejected_texts_have_a_column_and_count_as_wrong() -> None:
    """Rejected texts have a confusion-matrix column and count as wrong."""
    found = _judge(2.0).metrics(HEAD)

    assert found.confusion_matrix == [[1, 0, 1], [1, 1, 0], [0, 0, 0]]
    assert found.test_accuracy == 0.5
    assert found.labels == ["no", "yes"]


def test_a_model_that_may_reject_always_has_the_column() -> None:
    """A model that can reject has the column even if nothing was rejected."""
    assert _judge(-9.0).metrics(HEAD).confusion_matrix == [[2, 0, 0], [1, 1, 0], [0, 0, 0]]


def test_nothing_held_out_gives_plain_zeros() -> None:
    """Without held-out texts figures are zeros, not NaN."""
    evaluator = SplitEvaluator(["no", "yes"], [TRAINING], [], 1.0, float("-inf"), may_reject=False)

    found = evaluator.metrics(HEAD)
    scores, truth = evaluator.scores(HEAD)

    assert (found.test_accuracy, found.test_loss, found.macro_f1) == (0.0, 0.0, 0.0)
    assert scores.shape == (0, 2)
    assert label_thresholds(scores, truth, ["no", "yes"]) == {"no": 0.5, "yes": 0.5}


def test_thresholds_by_hand() -> None:
    """Each label's threshold is the lowest right score, as computed by hand."""
    scores, truth = _judge(None).scores(HEAD)

    thresholds = label_thresholds(scores, truth, ["no", "yes"])

    assert thresholds["yes"] == pytest.approx(1 / (1 + math.exp(4)), abs=1e-6)
    assert thresholds["no"] == pytest.approx(1 / (1 + math.exp(-0.2)), abs=1e-6)
