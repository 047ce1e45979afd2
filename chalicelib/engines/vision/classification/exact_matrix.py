"""Computes matrix products and Cholesky factors that do not depend on the number of threads.

Before a multiplication, matrix entries are rounded to 20 bits. A sum of up to 4,096 products of
entries is then exact in float64, in any order of addition. Other steps work entry by entry.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles

_BITS = 20
_BLOCK = 64
# Columns of a triangular matrix that are multiplied together.
_COLUMNS = 256
_LEAST_PIVOT = 2.0**-40


def exact_product(left: Doubles, right: Doubles) -> Doubles:
    """Multiply two matrices after rounding each to 20 bits relative to its largest entry.

    Args:
        left: float64, shape (rows, n); n is at most 4,096.
        right: float64, shape (n, columns).
    """
    return rounded_to_bits(left, _BITS) @ rounded_to_bits(right, _BITS)


def rounded_to_bits(values: Doubles, bits: int) -> Doubles:
    """Round to multiples of p / 2**bits, where p is the power of two above all absolute values.

    Args:
        values: finite numbers, float64, any shape.
        bits: number of significant bits that the largest entry keeps.
    """
    largest = float(np.abs(values).max()) if values.size else 0.0
    if largest == 0.0:
        return values.copy()
    steps = 2.0 ** (bits - math.frexp(largest)[1])
    rounded: Doubles = np.rint(values * steps) / steps
    return rounded


def inverse_cholesky(matrix: Doubles) -> Doubles:
    """Return the inverse of the Cholesky factor of a matrix.

    Args:
        matrix: symmetric and positive definite, float64, shape (n, n), well conditioned.

    Returns:
        A lower triangular matrix V, float64, shape (n, n). The product of V, the matrix and the
        transpose of V is close to the identity.
    """
    rest = matrix.copy()
    size = len(rest)
    factor = np.zeros_like(rest)
    inverse = _RoundedRows(size)
    # In blocks, so that most of the work is matrix products.
    for first in range(0, size, _BLOCK):
        last = min(first + _BLOCK, size)
        block = slice(first, last)
        small = _small_inverse(_small_cholesky(rest[block, block]))
        rows = np.zeros((last - first, last))
        rows[:, block] = small
        if first:
            rows[:, :first] = -exact_product(small, inverse.multiply(factor[block, :first]))
        inverse.add(rows)
        if last < size:
            panel = exact_product(rest[last:, block], small.T)
            factor[last:, block] = panel
            _subtract_square(rest[last:, last:], panel)
    return inverse.values


class _RoundedRows:
    """A lower triangular matrix to which rows are added, and a copy of it rounded to 20 bits.

    Args:
        size: final number of rows.
    """

    def __init__(self, size: int) -> None:
        self.values: Doubles = np.zeros((size, size))
        """The matrix, not rounded; rows that are not added yet are zero."""
        self._rounded: Doubles = np.zeros((size, size))
        self._count = 0
        self._largest = 0.0
        self._steps = 0.0

    def add(self, rows: Doubles) -> None:
        """Add `rows`, shape (n, count), where `count` is the number of rows after the call."""
        first, self._count = self._count, self._count + len(rows)
        last = self._count
        self.values[first:last, :last] = rows
        self._largest = max(self._largest, float(np.abs(rows).max()))
        steps = 2.0 ** (_BITS - math.frexp(self._largest)[1])
        if steps != self._steps:
            # The step depends on the largest entry of all rows.
            self._steps, first = steps, 0
        self._rounded[first:last, :last] = np.rint(self.values[first:last, :last] * steps) / steps

    def multiply(self, left: Doubles) -> Doubles:
        """Return the exact product of `left` and the rows that have been added."""
        rounded = rounded_to_bits(left, _BITS)
        product = np.zeros_like(rounded)
        for first in range(0, self._count, _COLUMNS):
            columns = slice(first, min(first + _COLUMNS, self._count))
            # Above its diagonal, the matrix is zero.
            lower = self._rounded[first : self._count, columns]
            product[:, columns] = rounded[:, first:] @ lower
        return product


def _subtract_square(matrix: Doubles, panel: Doubles) -> None:
    rounded = rounded_to_bits(panel, _BITS)
    for first in range(0, len(matrix), _COLUMNS):
        columns = slice(first, first + _COLUMNS)
        # What is above the diagonal is never read.
        matrix[first:, columns] -= rounded[first:] @ rounded[columns].T


def _small_cholesky(matrix: Doubles) -> Doubles:
    factor = np.zeros_like(matrix)
    for place in range(len(matrix)):
        known = factor[place:, :place] * factor[place, :place]
        column = matrix[place:, place] - np.add.reduce(known, axis=1)
        # A pivot of zero would divide by zero.
        factor[place:, place] = column / math.sqrt(max(float(column[0]), _LEAST_PIVOT))
    return factor


def _small_inverse(factor: Doubles) -> Doubles:
    inverse = np.zeros_like(factor)
    for place in range(len(factor)):
        known = factor[place, :place, None] * inverse[:place]
        row = -np.add.reduce(known, axis=0)
        row[place] += 1.0
        inverse[place] = row / factor[place, place]
    return inverse
