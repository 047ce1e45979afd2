"""The linear layer: loss and gradient against hand computation and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chalicelib.engines.arithmetic import Arithmetic, GridArithmetic, PlainArithmetic
from chalicelib.engines.text.head.regression import (
    ExampleBatch,
    HeadObjective,
    class_weights,
    fit_head,
)


class _Unrounded(GridArithmetic):
    """Float64 without rounding, so that differences are smooth."""

    def features(self, values: np.ndarray) -> np.ndarray:
        return values

    weights = residuals = features


def _problem(arithmetic: Arithmetic, penalty_inverse: float = 2.0) -> HeadObjective:
    generator = np.random.default_rng(0)
    labels = np.array([0, 1, 2, 0, 1, 0, 0])
    features = generator.standard_normal((7, 4)).astype(arithmetic.dtype)
    batches = [ExampleBatch(features[:3], labels[:3]), ExampleBatch(features[3:], labels[3:])]
    return HeadObjective(batches, 3, penalty_inverse, arithmetic)


def test_loss_at_zero_is_the_logarithm_of_the_labels() -> None:
    """With zero weights the loss is the logarithm of the number of labels."""
    problem = _problem(_Unrounded())

    loss, _ = problem.evaluate(problem.zeros())

    assert loss == pytest.approx(math.log(3))


def test_loss_of_two_examples_by_hand() -> None:
    """Logits 1 and 0 for the true label lose ln(1 + 1/e); the penalty adds 1/(2 C n)."""
    features = np.array([[1.0], [1.0]])
    problem = HeadObjective([ExampleBatch(features, np.array([0, 0]))], 2, 5.0, _Unrounded())

    loss, _ = problem.evaluate(np.array([1.0, 0.0, 0.0, 0.0]))

    assert loss == pytest.approx(math.log(1 + math.exp(-1)) + 0.5 / (5.0 * 2))


def test_gradient_matches_finite_differences() -> None:
    """Every gradient component equals its finite difference."""
    problem = _problem(_Unrounded())
    values = np.random.default_rng(1).standard_normal(15)
    _, gradient = problem.evaluate(values)

    for place in range(15):
        step = np.zeros(15)
        step[place] = 1e-5
        slope = (problem.evaluate(values + step)[0] - problem.evaluate(values - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("arithmetic", [GridArithmetic(), PlainArithmetic()])
def test_rounded_gradients_are_close(arithmetic: Arithmetic) -> None:
    """Grid and float32 change gradients at most in the sixth digit."""
    exact, rounded = _problem(_Unrounded()), _problem(arithmetic)
    values = np.random.default_rng(1).standard_normal(15)

    _, expected = exact.evaluate(values)
    _, gradient = rounded.evaluate(values.astype(arithmetic.dtype))

    np.testing.assert_allclose(gradient, expected, atol=2e-6)


def test_the_fit_ends_where_the_gradient_vanishes() -> None:
    """The minimum of a strictly convex function is found."""
    problem = _problem(_Unrounded())

    head = fit_head(problem, None, 1e-12)

    _, gradient = problem.evaluate(np.vstack([head.weights, head.biases]).ravel())
    assert np.abs(gradient).max() < 1e-5


def test_a_warm_start_ends_at_the_same_head() -> None:
    """A warm start gives the same result."""
    start = fit_head(_problem(_Unrounded(), 50.0), None, 1e-12)

    warm = fit_head(_problem(_Unrounded()), start, 1e-12)
    cold = fit_head(_problem(_Unrounded()), None, 1e-12)

    np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-3)


@pytest.mark.parametrize(
    ("counts", "weights"),
    [
        ([10, 10], [1.0, 1.0]),
        ([30, 10], [math.sqrt(40 / 60), math.sqrt(2)]),
        ([110, 10], [120 / 220, 6.0]),
        ([10, 0, 10], [1.0, 1.0, 1.0]),
    ],
    ids=["even", "uneven", "very-uneven", "empty-label"],
)
def test_class_weights(counts: list[int], weights: list[float]) -> None:
    """Rare labels get higher weights, up to a limit; absent labels get none."""
    np.testing.assert_allclose(class_weights(np.array(counts)), weights)


@pytest.mark.parametrize("arithmetic", [GridArithmetic, PlainArithmetic])
def test_threads_change_no_bit(arithmetic: type[GridArithmetic | PlainArithmetic]) -> None:
    """Loss and gradient are bit-identical for any number of threads."""
    generator = np.random.default_rng(3)
    rows, dims, labels = 9_000, 24, 7
    features = generator.standard_normal((rows, dims)).astype(arithmetic.dtype)
    batches = [ExampleBatch(features, generator.integers(0, labels, rows))]
    values = generator.standard_normal((dims + 1) * labels).astype(arithmetic.dtype)

    found = [
        HeadObjective(batches, labels, 10.0, arithmetic(threads)).evaluate(values)
        for threads in (1, 2, 5)
    ]

    assert len({loss for loss, _ in found}) == 1
    assert len({gradient.tobytes() for _, gradient in found}) == 1
