"""From raw vectors of several encoders to the one feature matrix of the head.

Every encoder's block is centred on the training mean and divided by its RMS norm, so that no
encoder outweighs another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints
    from chalicelib.engines.interface import Blocks


_CHUNK_ROWS = 4_096
_SMALLEST_NORM = 1e-6


@dataclass(frozen=True, slots=True)
class Scaling:
    """Means and scales of the blocks, in a fixed order of the encoders."""

    names: tuple[str, ...]
    """Encoder names, sorted."""
    means: tuple[Floats, ...]
    """Training mean of every block, float32, shape (dims,)."""
    norms: tuple[float, ...]
    """Root mean square of the centred vectors' length, by block."""

    @property
    def dims(self) -> int:
        """Length of a feature vector."""
        return sum(len(mean) for mean in self.means)

    def features(self, blocks: Blocks, rows: Ints, dtype: Any) -> Floats:
        """Scale and concatenate chosen rows.

        Args:
            blocks: raw vectors by encoder, float32, shape (examples, dims).
            rows: which examples, int, shape (n,).
            dtype: float type of the result.

        Returns:
            Features, shape (n, all dims).
        """
        result = np.empty((len(rows), self.dims), dtype)
        for first in range(0, len(rows), _CHUNK_ROWS):
            part = rows[first : first + _CHUNK_ROWS]
            self._fill(blocks, part, result[first : first + _CHUNK_ROWS])
        return result

    def _fill(self, blocks: Blocks, rows: Ints, result: Floats) -> None:
        """Write the features of some rows, float, shape (rows, all dims)."""
        start = 0
        for name, mean, norm in zip(self.names, self.means, self.norms, strict=True):
            stop = start + len(mean)
            result[:, start:stop] = (blocks[name][rows] - mean) / np.float32(norm)
            start = stop


def fit_scaling(blocks: Blocks, names: Sequence[str]) -> Scaling:
    """Measure the blocks of the training examples.

    Args:
        blocks: raw vectors by encoder, float32, shape (examples, dims).
        names: encoder names in the order of the features.

    Returns:
        Their means and RMS norms; a block whose vectors are all equal keeps its scale.
    """
    means, norms = [], []
    for name in names:
        mean, norm = _measure(blocks[name])
        means.append(mean)
        norms.append(norm)
    return Scaling(tuple(names), tuple(means), tuple(norms))


def _measure(block: Floats) -> tuple[Floats, float]:
    """Mean vector and RMS norm of one block, float32, shape (examples, dims).

    Plain sums in chunks, in an order that no BLAS kernel changes and without a float64 copy.
    """
    total = np.zeros(block.shape[1], np.float64)
    for first in range(0, len(block), _CHUNK_ROWS):
        total += np.add.reduce(block[first : first + _CHUNK_ROWS].astype(np.float64), axis=0)
    mean = (total / len(block)).astype(np.float32)
    squares = 0.0
    for first in range(0, len(block), _CHUNK_ROWS):
        centred = block[first : first + _CHUNK_ROWS].astype(np.float64) - mean
        squares += float(np.add.reduce((centred * centred).ravel()))
    norm = float(np.float32((squares / len(block)) ** 0.5))
    return mean, norm if norm > _SMALLEST_NORM else 1.0
