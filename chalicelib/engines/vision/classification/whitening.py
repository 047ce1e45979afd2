"""Whitens embeddings, so that images of the same label vary equally in all directions.

A direction in which images of the same label vary much does not help to distinguish labels. So
embeddings are divided by this variation. Other directions then have more weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.classification.exact_matrix import inverse_cholesky
from chalicelib.engines.vision.similarity.vectors import GRID, unit_roots, unit_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Array, Doubles, Floats, Ints, Singles

# Unit of the stored matrix; only the proportions of the matrix matter.
MATRIX_UNIT = 2.0**-15
_LARGEST = 32_767
_LEAST_SHRINKAGE = 0.3
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Whitening:
    """Converts an embedding to the input of the head."""

    mean: Singles
    """Mean of the square roots of embeddings, float32, multiples of 2**-16, shape (dims,)."""
    # int16 is half the size of float32 and converts much faster than float16.
    matrix: npt.NDArray[np.int16]
    """Whitening matrix, upper triangular, in units of 2**-15, int16, shape (dims, dims)."""

    @property
    def dims(self) -> int:
        """Length of a whitened embedding."""
        return len(self.mean)

    @property
    def unit(self) -> float:
        """Whitened values are rounded to multiples of this number."""
        return 2.0**-15

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the whitening by name, for an artifact."""
        return {"mean": self.mean, "whitening": self.matrix}

    def apply(self, embeddings: Floats) -> Doubles:
        """Return whitened unit vectors, float64, (rows, dims), equal for any number of threads.

        Args:
            embeddings: values of at least 0, shape (rows, dims).
        """
        centred = unit_roots(embeddings) - self.mean
        return unit_rows(centred @ (self.matrix.astype(np.float64) * MATRIX_UNIT))


def fit_whitening(embeddings: Floats, labels: Ints) -> Whitening:
    """Fit the whitening to embeddings. If no label has two rows, it only centres embeddings.

    Args:
        embeddings: embeddings of the training part, shape (rows, dims), at most 2**20 rows.
        labels: label indexes, int, shape (rows,).
    """
    rows = unit_roots(embeddings)
    mean = np.rint(np.add.reduce(rows, axis=0) / len(rows) * GRID) / GRID
    scatter, freedom = _scatter_within(rows, labels)
    matrix = inverse_cholesky(_shrunk(scatter / max(freedom, 1), freedom)).T
    whole = np.rint(matrix * (_LARGEST / np.abs(matrix).max()))
    return Whitening(mean.astype(np.float32), whole.astype(np.int16))


def _scatter_within(rows: Doubles, labels: Ints) -> tuple[Doubles, int]:
    distances = rows.copy()
    present = np.unique(labels)
    for label in present:
        chosen = labels == label
        distances[chosen] -= np.add.reduce(rows[chosen], axis=0) / chosen.sum()
    # With these steps, all sums of up to 2**21 products are exact.
    np.rint(distances * GRID, out=distances)
    scatter: Doubles = (distances.T @ distances) / (GRID * GRID)
    return scatter, len(rows) - len(present)


def _shrunk(covariance: Doubles, freedom: int) -> Doubles:
    """Shrink a covariance matrix towards the identity, and scale it to a mean variance of 1.

    Source: Chen et al. 2010, oracle approximating shrinkage. `freedom` is the degrees of freedom.
    """
    dims = len(covariance)
    trace = float(np.add.reduce(np.diagonal(covariance)))
    if trace <= _SMALLEST or freedom < 1:
        return np.eye(dims)
    squares = float(np.add.reduce(np.add.reduce(covariance * covariance, axis=1)))
    above = (1.0 - 2.0 / dims) * squares + trace * trace
    below = (freedom + 1.0 - 2.0 / dims) * (squares - trace * trace / dims)
    # At least 0.3, because images of a label vary less within one dataset than in later
    # predictions.
    shrinkage = 1.0 if below <= 0.0 else min(1.0, max(_LEAST_SHRINKAGE, above / below))
    shrunk = covariance * ((1.0 - shrinkage) * dims / trace)
    shrunk[np.diag_indices(dims)] += shrinkage
    return shrunk
