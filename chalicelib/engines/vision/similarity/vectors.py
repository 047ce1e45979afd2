"""Embeddings as vectors of length one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats


# Root vectors lie on multiples of one over this.
GRID = 2.0**16
_SMALLEST = 1e-12


def unit_roots(embeddings: Floats) -> Doubles:
    """Square roots, as rows of length one on a grid of 2**-16.

    The root evens out channels that are rarely but strongly active.

    Args:
        embeddings: at least 0, shape (rows, dims); anything below counts as 0.

    Returns:
        Float64, shape (rows, dims); a row of zeros stays one.
    """
    roots = np.sqrt(np.maximum(embeddings.astype(np.float64), 0.0))
    rounded: Doubles = np.rint(unit_rows(roots) * GRID) / GRID
    return rounded


def unit_rows(rows: Doubles) -> Doubles:
    """Scale rows to length one, float64, shape (rows, dims); a row of zeros stays one."""
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=1))
    unit: Doubles = rows / np.maximum(lengths, _SMALLEST)[:, None]
    return unit
