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


def _plain_inverse(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse factor from products of whole blocks, each rounded for itself."""
    rest, size = matrix.copy(), len(matrix)
    factor, inverse = np.zeros_like(rest), np.zeros_like(rest)
    for first in range(0, size, 64):
        last = min(first + 64, size)
        block = slice(first, last)
        small = inverse_cholesky(rest[block, block])
        inverse[block, block] = small
        row = exact_product(factor[block, :first], inverse[:first, :first])
        inverse[block, :first] = -exact_product(small, row)
        factor[last:, block] = exact_product(rest[last:, block], small.T)
        rest[last:, last:] -= exact_product(factor[last:, block], factor[last:, block].T)
    return inverse


@pytest.mark.parametrize("size", [65, 128, 400])
def test_the_inverse_factor_is_that_of_whole_blocks(size: int) -> None:
    """Work that is left out, such as rounding rows again, changes no bit of the factor."""
    scales = 10.0 ** np.linspace(-2, 2, size)
    for scale in (scales, scales[::-1]):
        matrix = _covariance(size) * np.outer(scale, scale)
        np.testing.assert_array_equal(inverse_cholesky(matrix), _plain_inverse(matrix))


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
