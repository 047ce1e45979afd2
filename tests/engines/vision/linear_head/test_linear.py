"""Losses and optimizer of linear heads, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.arithmetic import Arithmetic, GridArithmetic, PlainArithmetic
from chalicelib.engines.vision.linear_head.linear import (
    LinearHead,
    Loss,
    SigmoidLoss,
    SoftmaxLoss,
    cosine_rate,
    sigmoid,
)

GRID = GridArithmetic()
LOSSES = [
    pytest.param(SoftmaxLoss(), id="softmax"),
    pytest.param(SigmoidLoss(np.array([1.0, 3.0, 5.0])), id="sigmoid"),
]


def _batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    features = generator.normal(size=(6, 4))
    values = generator.normal(size=(5, 3))
    targets = np.zeros((6, 3))
    targets[np.arange(6), generator.integers(0, 3, 6)] = 1
    return features, values, targets


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_is_that_of_finite_differences(loss: Loss) -> None:
    """The gradient of every weight and bias equals finite differences."""
    features, values, targets = _batch()

    def mean_loss(moved: np.ndarray) -> float:
        logits = LinearHead.starting_at(moved).logits(features)
        return float(loss.losses(logits, targets, GRID).mean())

    head = LinearHead.starting_at(values)
    found = head.gradient(features, loss.residuals(head.logits(features), targets, GRID))

    expected = np.empty_like(values)
    for place in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[place] = 1e-5
        expected[place] = (mean_loss(values + step) - mean_loss(values - step)) / 2e-5
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("arithmetic", [GRID, PlainArithmetic()])
@pytest.mark.parametrize("loss", LOSSES)
def test_extreme_logits_neither_overflow_nor_break(loss: Loss, arithmetic: Arithmetic) -> None:
    """Scores of a thousand give finite losses and residuals in either arithmetic."""
    logits = np.array([[1e3, -1e3, 0.0], [-1e3, 1e3, 0.0]], arithmetic.dtype)
    targets = np.array([[0, 1, 0], [0, 1, 0]], arithmetic.dtype)

    losses = loss.losses(logits.copy(), targets, arithmetic)
    residuals = loss.residuals(logits.copy(), targets, arithmetic)

    assert np.isfinite(losses).all()
    assert np.isfinite(residuals).all()
    assert losses[0] > losses[1]


def test_sigmoid_is_symmetric() -> None:
    """Opposite scores have probabilities that sum to 1."""
    scores = np.array([-700.0, -2.0, 0.0, 2.0, 700.0])

    np.testing.assert_allclose(1.0, sigmoid(scores, GRID) + sigmoid(-scores, GRID), atol=1e-9)


def test_adam_takes_the_steps_of_its_definition() -> None:
    """Two updates equal the textbook's, rounded to the grid."""
    head = LinearHead.starting_at(np.zeros((2, 1)))
    first, second = np.array([[2.0], [-1.0]]), np.array([[1.0], [1.0]])

    head.update(first.copy(), 0.1, GRID)
    after_one = head.values.copy()
    head.update(second.copy(), 0.1, GRID)

    np.testing.assert_allclose([[-0.1], [0.1]], after_one, atol=1e-5)
    mean = (0.9 * 0.1 * first + 0.1 * second) / (1 - 0.9**2)
    square = (0.999 * 0.001 * first**2 + 0.001 * second**2) / (1 - 0.999**2)
    np.testing.assert_allclose(after_one - 0.1 * mean / np.sqrt(square), head.values, atol=1e-5)


def test_the_rate_falls_along_a_cosine() -> None:
    """The learning rate starts at its maximum, is half in the middle and ends near 0."""
    rates = [cosine_rate(0.2, step, 100) for step in (0, 50, 99)]

    assert pytest.approx(rates[:2]) == [0.2, 0.1]
    assert 0 < rates[2] < 0.001
