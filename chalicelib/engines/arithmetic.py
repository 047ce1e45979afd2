"""Arithmetic whose results do not depend on threads or on the type of processor.

A sum of products that is exact does not depend on the order of its terms. So features, weights and
residuals are rounded to multiples of fixed steps. The steps are coarse enough for every matrix
product to be exact in float64. Exponential and logarithm use only + - x /, which IEEE 754 defines
exactly. For large sets of examples, plain float32 is used instead.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats

# Maximum number of examples. With more, sums exceed 53 bits, and float64 takes too long.
EXACT_EXAMPLES = 30_000

# Sums over 30,000 examples of features times weights or residuals stay below 53 bits.
_FEATURE_STEPS = 2.0**13
_WEIGHT_STEPS = 2.0**18
_RESIDUAL_STEPS = 2.0**22
_LN2_HIGH = 0.693145751953125
_LN2_LOW = 1.42860682030941723212e-6
_EXP_SERIES = tuple(1.0 / math.factorial(term) for term in range(8, -1, -1))
# Number of values per block: 128 kB of float64.
_CACHED_VALUES = 16_384
# Powers of two are written into the bits of the exponent, which end at -1022, that is e**-708.
_SMALLEST_EXPONENT = -700.0


class Arithmetic(Protocol):
    """Defines how numbers are rounded, and how exponentials and logarithms are computed."""

    dtype: Any
    """NumPy type of every array in a fit."""
    threads: int
    """Number of threads that share an evaluation. Results do not depend on it."""

    def features(self, values: Floats) -> Floats:
        """Round features, float, any shape, in place; return them."""
        ...

    def weights(self, values: Floats) -> Floats:
        """Round weights, float, any shape, in place; return them."""
        ...

    def residuals(self, values: Floats) -> Floats:
        """Round weighted residuals, float, any shape, in place; return them."""
        ...

    def exp(self, values: Floats) -> Floats:
        """Replace values, float, at most 0, any shape, by their exponentials; return them."""
        ...

    def log(self, values: Floats) -> Floats:
        """Return the natural logarithms of positive values, float, any shape."""
        ...


class PlainArithmetic:
    """Plain float32 arithmetic: fast, but results can be repeated only on the same machine."""

    dtype: Any = np.float32

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def features(self, values: Floats) -> Floats:
        """Return features without rounding them."""
        return values

    def weights(self, values: Floats) -> Floats:
        """Return weights without rounding them."""
        return values

    def residuals(self, values: Floats) -> Floats:
        """Return weighted residuals without rounding them."""
        return values

    def exp(self, values: Floats) -> Floats:
        """Replace values, float32, any shape, by their exponentials; return them."""
        return np.exp(values, out=values)

    def log(self, values: Floats) -> Floats:
        """Return the natural logarithms of values, float32, any shape."""
        return np.log(values)


class GridArithmetic:
    """Rounds float64 to fixed steps, so that results do not depend on threads or BLAS kernels."""

    dtype: Any = np.float64

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def features(self, values: Floats) -> Floats:
        """Round features, float64, any shape, to multiples of 2**-13 in place; return them."""
        return _round_to(values, _FEATURE_STEPS)

    def weights(self, values: Floats) -> Floats:
        """Round weights, float64, any shape, to multiples of 2**-18 in place; return them."""
        return _round_to(values, _WEIGHT_STEPS)

    def residuals(self, values: Floats) -> Floats:
        """Round residuals, float64, any shape, to multiples of 2**-22 in place; return them."""
        return _round_to(values, _RESIDUAL_STEPS)

    def exp(self, values: Floats) -> Floats:
        """Replace values, float64, at most 0, any shape, by their exponentials; return them."""
        return exact_exp(values)

    def log(self, values: Floats) -> Floats:
        """Return the natural logarithms of positive values, float64, any shape."""
        return exact_log(values)


def arithmetic_for(examples: int, threads: int = 1) -> Arithmetic:
    """Return `GridArithmetic` for up to EXACT_EXAMPLES examples, and `PlainArithmetic` for more.

    `threads` is the number of threads to use. Results do not depend on it.
    """
    return GridArithmetic(threads) if examples <= EXACT_EXAMPLES else PlainArithmetic(threads)


def _round_to(values: Floats, steps: float) -> Floats:
    values *= steps
    np.rint(values, out=values)
    values /= steps
    return values


def exact_exp(values: Floats) -> Floats:
    """Compute the exponential in place, using only + - x /; return the same array.

    Args:
        values: numbers of at most 0, float64, contiguous, any shape; overwritten. Values below
            -700 count as -700.

    Returns:
        The same array, relative error below 1e-9.

    Source: x = k ln 2 + r, exp(x) = 2**k exp(r), Taylor series of exp(r).
    """
    flat = values.reshape(-1)
    # Blocks are small enough for the cache, because the series uses each of them a dozen times.
    for first in range(0, len(flat), _CACHED_VALUES):
        _exp_block(flat[first : first + _CACHED_VALUES])
    return values


def _exp_block(values: Floats) -> None:
    np.maximum(values, _SMALLEST_EXPONENT, out=values)
    powers = np.rint(values * (1.0 / (_LN2_HIGH + _LN2_LOW)))
    # ln 2 in two parts, after Cody and Waite: multiples of the first are exact.
    values -= powers * _LN2_HIGH
    values -= powers * _LN2_LOW
    result = values * _EXP_SERIES[0]
    for coefficient in _EXP_SERIES[1:-1]:
        result += coefficient
        result *= values
    result += _EXP_SERIES[-1]
    # 2**k is written straight into the exponent bits: ldexp is several times slower.
    scale = ((powers.astype(np.int64) + 1023) << 52).view(np.float64)
    np.multiply(result, scale, out=values)


def exact_log(values: Floats) -> Floats:
    """Return the natural logarithm, using only + - x /.

    Args:
        values: positive numbers, float64, any shape.

    Returns:
        Logarithms, float64, same shape, error below 1e-12.

    Source: x = m 2**k, ln m = 2 artanh((m - 1) / (m + 1)).
    """
    mantissas, exponents = np.frexp(values)
    # The series converges fastest for mantissas between the square roots of 1/2 and 2.
    low = mantissas < 0.7071067811865476
    mantissas = np.where(low, mantissas * 2.0, mantissas)
    powers = (exponents - low).astype(np.float64)
    ratio = (mantissas - 1.0) / (mantissas + 1.0)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for odd in range(17, 0, -2):
        series = series * square + 1.0 / odd
    logs: Floats = 2.0 * ratio * series + powers * (_LN2_HIGH + _LN2_LOW)
    return logs
