"""Deterministic arithmetic: accurate, and independent of order."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.arithmetic import (
    EXACT_EXAMPLES,
    GridArithmetic,
    PlainArithmetic,
    arithmetic_for,
    exact_exp,
    exact_log,
)


def test_exact_exp_agrees_with_the_library() -> None:
    """The series is accurate to nine digits over more values than one block."""
    values = -np.random.default_rng(0).random((40, 1_000)) * 600

    result = exact_exp(values.copy())

    np.testing.assert_allclose(result, np.exp(values), rtol=1e-9)


def test_exact_exp_at_the_ends() -> None:
    """exp(0) is exactly one; far below, the result is tiny without a warning."""
    result = exact_exp(np.array([0.0, -1e9]))

    assert result[0] == 1.0
    assert 0.0 < result[1] < 1e-300


def test_exact_log_agrees_with_the_library() -> None:
    """The series is accurate to twelve digits from tiny to huge values."""
    values = 10.0 ** np.linspace(-12, 12, 2_001)

    np.testing.assert_allclose(exact_log(values), np.log(values), rtol=0, atol=1e-12)


def test_grid_products_do_not_depend_on_the_order() -> None:
    """Products of grid values sum to the same bits in any order."""
    grid = GridArithmetic()
    generator = np.random.default_rng(0)
    features = grid.features(generator.standard_normal((5_000, 7)))
    residuals = grid.residuals(generator.standard_normal((5_000, 3)))
    order = generator.permutation(5_000)

    straight = features.T @ residuals
    shuffled = features[order].T @ residuals[order]

    assert np.array_equal(straight, shuffled)


def test_grid_steps() -> None:
    """Features, weights and residuals have 13, 18 and 22 binary places."""
    grid = GridArithmetic()

    assert grid.features(np.array([1.6 * 2.0**-13]))[0] == 2.0**-12
    assert grid.weights(np.array([1.6 * 2.0**-18]))[0] == 2.0**-17
    assert grid.residuals(np.array([1.6 * 2.0**-22]))[0] == 2.0**-21


def test_arithmetic_follows_the_size() -> None:
    """Up to 30,000 examples use the grid; larger sets use float32."""
    assert arithmetic_for(EXACT_EXAMPLES).dtype is np.float64
    assert arithmetic_for(EXACT_EXAMPLES + 1).dtype is np.float32


def test_plain_arithmetic_changes_nothing() -> None:
    """Plain arithmetic passes float32 values unchanged and uses numpy's functions."""
    plain = PlainArithmetic()
    values = np.array([0.1, 0.7], np.float32)

    assert plain.features(values) is plain.weights(values) is plain.residuals(values) is values
    np.testing.assert_array_equal(plain.log(values), np.log(values))
    np.testing.assert_array_equal(plain.exp(values.copy()), np.exp(values))
