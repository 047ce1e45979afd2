"""Steps of AdamW."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.head.optimizer import AdamW

NONE = np.zeros(2, bool)


def test_the_first_step_has_the_size_of_the_rate():
    """The first step has the size of the warmed-up rate, whatever the gradient."""
    vector = np.zeros(2, np.float32)

    AdamW.fresh(2).update(vector, np.array([3.0, -0.01], np.float32), NONE, 0.1, 1_000)

    assert vector == pytest.approx([-0.1 / 40, 0.1 / 40], rel=1e-3)


def test_the_rate_ends_at_zero():
    """The final step has a learning rate of zero."""
    optimizer, vector = AdamW.fresh(2), np.zeros(2, np.float32)
    optimizer.steps = 99

    optimizer.update(vector, np.ones(2, np.float32), NONE, 0.1, 100)

    assert vector == pytest.approx([0.0, 0.0], abs=1e-8)


def test_decay_draws_chosen_parameters_towards_zero():
    """Without a gradient only parameters with decay shrink."""
    vector = np.ones(2, np.float32)
    optimizer = AdamW.fresh(2)
    optimizer.steps = 40

    optimizer.update(vector, np.zeros(2, np.float32), np.array([True, False]), 0.1, 100_000)

    assert vector[0] == pytest.approx(1 - 0.1 * 1e-2, rel=1e-4)
    assert vector[1] == 1.0


def test_long_gradients_are_clipped():
    """Gradients are clipped to length ten."""
    optimizer = AdamW.fresh(2)

    optimizer.update(np.zeros(2, np.float32), np.array([6e4, 8e4], np.float32), NONE, 0.1, 1_000)

    assert optimizer.first == pytest.approx([0.6, 0.8], rel=1e-4)


def test_a_valley_is_found():
    """A quadratic function ends near its minimum."""
    optimizer, vector = AdamW.fresh(2), np.array([1.0, -1.0], np.float32)

    for _ in range(600):
        optimizer.update(vector, 2 * (vector - [0.3, 0.2]).astype(np.float32), NONE, 0.02, 600)

    assert vector == pytest.approx([0.3, 0.2], abs=0.02)
