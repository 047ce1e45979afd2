"""Computes short vectors that preserve the similarity of samples.

Source: Achlioptas 2003, Database-friendly random projections.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Halves, Singles

# Length of a short vector: cosines change by less than a tenth.
DIMS = 128
_SMALLEST = 1e-12


def short_vectors(features: Floats) -> Halves:
    """Compute short vectors of unit length from the features of a head, by random projection.

    Args:
        features: float, shape (samples, dims).

    Returns:
        The projections, float16, shape (samples, 128); a row of zeros stays zero.
    """
    shortened = unit(features.astype(np.float32)) @ _signs(features.shape[1])
    return unit(shortened).astype(np.float16)


def unit(rows: Singles) -> Singles:
    """Scale each row to unit length, float32, shape (rows, dims); a row of zeros stays zero."""
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=1))
    scaled: Singles = rows / np.maximum(lengths, np.float32(_SMALLEST))[:, None]
    return scaled


@lru_cache(maxsize=8)
def _signs(dims: int) -> Singles:
    # The numbers of this generator are the same in every version of numpy.
    drawn = np.random.RandomState(0).randint(0, 2, size=(dims, DIMS))
    signs: Singles = (drawn * 2 - 1).astype(np.float32)
    return signs
