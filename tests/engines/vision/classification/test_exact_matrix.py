"""Matrix products and factors whose bits do not depend on the order of sums."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.vision.classification.exact_matrix import (
    exact_product,
    inverse_cholesky,
    rounded_to_bits,
)


def _covariance(size: int) -> np.ndarray:
    values = np.random.default_rng(size).normal(size=(3 * size, size))
    return values.T @ values / (3 * size) + 0.3 * np.eye(size)


@pytest.mark.parametrize("size", [1, 5, 64, 65, 200])
def test_the_inverse_factor_whitens(size: int) -> None:
    """The inverse factor turns the matrix into the identity, and is triangular."""
    matrix = _covariance(size)

    inverse = inverse_cholesky(matrix)

    np.testing.assert_allclose(inverse @ matrix @ inverse.T, np.eye(size), atol=1e-4)
    np.testing.assert_array_equal(np.tril(inverse), inverse)


def test_a_product_is_the_same_in_any_order() -> None:
    """Changing the order of terms changes no bit, unlike in a plain product."""
    generator = np.random.default_rng(1)
    left, right = generator.normal(size=(7, 1280)), generator.normal(size=(1280, 5))
    order = generator.permutation(1280)

    np.testing.assert_array_equal(
        exact_product(left, right), exact_product(left[:, order], right[order])
    )
    np.testing.assert_allclose(left @ right, exact_product(left, right), atol=1e-3)
    assert (left @ right != left[:, order] @ right[order]).any()


def test_zeros_stay_zeros() -> None:
    """A zero matrix does not cause a division by zero."""
    np.testing.assert_array_equal(np.zeros((2, 2)), rounded_to_bits(np.zeros((2, 2)), 20))
