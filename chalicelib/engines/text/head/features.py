"""Concatenates the vectors of several encoders to the feature matrix of the head.

The vectors of each encoder are centred and divided by their root mean square length. So all
encoders have the same weight, except the encoder `words`, which has twice this weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.text.encoding.encoders import WORDS

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints
    from chalicelib.engines.interface import Blocks


_CHUNK_ROWS = 4_096
_SMALLEST_NORM = 1e-6
# Weight of spelling next to meaning, chosen on generated commands.
_WEIGHTS = {WORDS: 2.0}


@dataclass(frozen=True, slots=True)
class Scaling:
    """Means and scales of the encoders' vectors, in a fixed order of the encoders."""

    names: tuple[str, ...]
    """Names of the encoders, sorted."""
    means: tuple[Floats, ...]
    """Mean of each encoder's vectors over the training texts, float32, shape (dims,)."""
    norms: tuple[float, ...]
    """Divisor of each encoder's centred vectors."""

    @property
    def dims(self) -> int:
        """Return the length of a feature vector."""
        return sum(len(mean) for mean in self.means)

    def features(self, blocks: Blocks, rows: Ints, dtype: Any) -> Floats:
        """Return the scaled features of the examples `rows`, shape (n, dims of all encoders).

        Args:
            blocks: for each encoder, raw vectors, float32, shape (examples, dims).
            rows: indexes of examples, int, shape (n,).
            dtype: float type of the result.
        """
        result = np.empty((len(rows), self.dims), dtype)
        for first in range(0, len(rows), _CHUNK_ROWS):
            part = rows[first : first + _CHUNK_ROWS]
            self._fill(blocks, part, result[first : first + _CHUNK_ROWS])
        return result

    def _fill(self, blocks: Blocks, rows: Ints, result: Floats) -> None:
        start = 0
        for name, mean, norm in zip(self.names, self.means, self.norms, strict=True):
            stop = start + len(mean)
            result[:, start:stop] = (blocks[name][rows] - mean) / np.float32(norm)
            start = stop


def fit_scaling(blocks: Blocks, names: Sequence[str]) -> Scaling:
    """Compute the mean and the scale of each encoder's vectors.

    Args:
        blocks: for each encoder, raw vectors, float32, shape (examples, dims).
        names: encoder names in the order of their columns in the features.
    """
    means, norms = [], []
    for name in names:
        mean, norm = _measure(blocks[name])
        means.append(mean)
        norms.append(norm / _WEIGHTS.get(name, 1.0))
    return Scaling(tuple(names), tuple(means), tuple(norms))


def _measure(block: Floats) -> tuple[Floats, float]:
    # Sums by chunk have the same order on every machine, and need no float64 copy.
    total = np.zeros(block.shape[1], np.float64)
    for first in range(0, len(block), _CHUNK_ROWS):
        total += np.add.reduce(block[first : first + _CHUNK_ROWS].astype(np.float64), axis=0)
    mean = (total / len(block)).astype(np.float32)
    squares = 0.0
    for first in range(0, len(block), _CHUNK_ROWS):
        centred = block[first : first + _CHUNK_ROWS].astype(np.float64) - mean
        squares += float(np.add.reduce((centred * centred).ravel()))
    norm = float(np.float32((squares / len(block)) ** 0.5))
    # A block of equal vectors has no scale and keeps its values.
    return mean, norm if norm > _SMALLEST_NORM else 1.0
