"""The minimizer on functions with known minima."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest

from chalicelib.engines.text.head.optimizer import dot, minimise

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


def _as_it_is(values: np.ndarray) -> np.ndarray:
    return values


def _bowl(values: np.ndarray) -> tuple[float, np.ndarray]:
    """Evaluate a stretched parabola with its minimum at 1, 2, 3."""
    stretch, away = np.array([1.0, 10.0, 100.0]), values - np.array([1.0, 2.0, 3.0])
    return float((stretch * away * away).sum() / 2), stretch * away


def _rosenbrock(values: np.ndarray) -> tuple[float, np.ndarray]:
    """Evaluate the Rosenbrock function, whose minimum is at 1, 1."""
    x, y = values
    slope = np.array([-400 * x * (y - x * x) - 2 * (1 - x), 200 * (y - x * x)])
    return float(100 * (y - x * x) ** 2 + (1 - x) ** 2), slope


@pytest.mark.parametrize(
    ("objective", "start", "minimum"),
    [(_bowl, [0.0, 0.0, 0.0], [1, 2, 3]), (_rosenbrock, [-1.2, 1.0], [1, 1])],
)
def test_minimise_finds_the_minimum(
    objective: Objective, start: list[float], minimum: list[float]
) -> None:
    """The minimum of a stretched and of a curved valley is found."""
    *_, last = islice(minimise(objective, np.array(start), _as_it_is), 200)

    np.testing.assert_allclose(last.values, minimum, atol=1e-4)


def test_minimise_never_climbs() -> None:
    """The value never rises from step to step."""
    losses = [step.loss for step in minimise(_rosenbrock, np.array([-1.2, 1.0]), _as_it_is)]

    assert losses == sorted(losses, reverse=True)
    assert len(losses) > 10


def test_minimise_ends_at_the_minimum() -> None:
    """A start at the minimum is returned at once."""
    steps = list(minimise(_bowl, np.array([1.0, 2.0, 3.0]), _as_it_is))

    assert len(steps) == 1


def test_minimise_ends_where_the_grid_ends() -> None:
    """On a coarse grid the search stops at the best reachable point."""
    *_, last = minimise(_bowl, np.zeros(3), lambda values: np.rint(values * 4) / 4)

    np.testing.assert_allclose(last.values, [1, 2, 3], atol=0.5)


def test_minimise_survives_a_wall() -> None:
    """Infinite values are stepped back from."""

    def walled(values: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradient = _bowl(values)
        return (loss, gradient) if np.abs(values).max() < 4 else (float("inf"), gradient)

    *_, last = minimise(walled, np.zeros(3), _as_it_is)

    np.testing.assert_allclose(last.values, [1, 2, 3], atol=1e-4)


def test_dot_by_hand() -> None:
    """1 x 4 + 2 x 5 + 3 x 6."""
    assert dot(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])) == 32.0
