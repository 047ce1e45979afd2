"""Short vectors that keep how near samples are to each other.

Source: Achlioptas 2003, Database-friendly random projections.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Halves, Singles

# Length of a short vector: cosines are kept within a tenth.
DIMS = 128
_SMALLEST = 1e-12


def short_vectors(features: Floats) -> Halves:
    """Shorten what a model's head reads of samples.

    Args:
        features: float, shape (samples, dims).

    Returns:
        Of length one, float16, shape (samples, 128); a row of zeros stays one.
    """
    shortened = unit(features.astype(np.float32)) @ _signs(features.shape[1])
    return unit(shortened).astype(np.float16)


def unit(rows: Singles) -> Singles:
    """Scale rows to length one, float32, shape (rows, dims); a row of zeros stays one."""
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=1))
    scaled: Singles = rows / np.maximum(lengths, np.float32(_SMALLEST))[:, None]
    return scaled


@lru_cache(maxsize=8)
def _signs(dims: int) -> Singles:
    """Draw the matrix of signs for vectors of a length, the same each time, (dims, 128)."""
    # This generator's stream is frozen, whatever the version of numpy.
    drawn = np.random.RandomState(0).randint(0, 2, size=(dims, DIMS))
    signs: Singles = (drawn * 2 - 1).astype(np.float32)
    return signs
