"""Converts embeddings to unit vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats

# Root vectors are on multiples of 1 / GRID, so that products are exact.
GRID = 2.0**16
_SMALLEST = 1e-12


def unit_roots(embeddings: Floats) -> Doubles:
    """Return unit vectors of the square roots of embeddings, float64, (rows, dims), rounded.

    Args:
        embeddings: shape (rows, dims); negative values count as 0.
    """
    # The root reduces the weight of channels that are rarely but strongly active.
    roots = np.sqrt(np.maximum(embeddings.astype(np.float64), 0.0))
    rounded: Doubles = np.rint(unit_rows(roots) * GRID) / GRID
    return rounded


def unit_rows(rows: Doubles) -> Doubles:
    """Scale rows to unit length; return float64, (rows, dims). Rows of zeros do not change."""
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=1))
    unit: Doubles = rows / np.maximum(lengths, _SMALLEST)[:, None]
    return unit
