"""Standardises features: subtracts the mean of each column, then divides by its deviation.

Features have the shape (rows, 2992), or (rows, 1280) if they contain only the embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.multi_label.extractor import DIMS, EMBEDDING_DIMS
from chalicelib.engines.vision.similarity.vectors import unit_roots

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Floats, Singles

EMBEDDING, POOLED, BOTH = 0, 1, 2
# Names of the blocks of features, by number.
BLOCK_NAMES = ("embedding", "pooled", "embedding+pooled")
# Step between two transformed numbers.
UNIT = 2.0**-12
MOST = 7.5
_LEAST_SPREAD = 1e-3


def block_dims(block: int) -> int:
    """Return the number of columns of a block of features: EMBEDDING, POOLED or BOTH."""
    return (EMBEDDING_DIMS, DIMS - EMBEDDING_DIMS, DIMS)[block]


def block_columns(features: Floats, block: int) -> Doubles:
    """Return the columns of a block of features: EMBEDDING, POOLED or BOTH.

    An embedding is replaced by the unit vector of its square roots (see `unit_roots`).
    """
    if block == POOLED:
        return features[:, EMBEDDING_DIMS:].astype(np.float64)
    roots = unit_roots(features[:, :EMBEDDING_DIMS])
    if block == EMBEDDING:
        return roots
    return np.concatenate([roots, features[:, EMBEDDING_DIMS:].astype(np.float64)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Standardizing:
    """Converts features to the input of the head."""

    block: int
    mean: Singles
    """Mean to subtract from each column, float32, shape (columns,)."""
    scale: Singles
    """Factor by which each centred column is multiplied, float32, shape (columns,)."""

    @property
    def dims(self) -> int:
        """Length of a row of transformed features."""
        return len(self.mean)

    @property
    def unit(self) -> float:
        """Transformed values are rounded to multiples of this number."""
        return UNIT

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the standardisation by name, for an artifact."""
        return {"mean": self.mean, "scale": self.scale}

    def apply(self, features: Floats) -> Doubles:
        """Return transformed rows, float64, shape (rows, columns). Values are from -7.5 to 7.5."""
        columns = block_columns(features, self.block) - self.mean
        columns *= self.scale
        return np.clip(columns, -MOST, MOST)


def fit_standardizing(features: Floats, block: int) -> Standardizing:
    """Fit the standardisation to the features of the training part.

    Args:
        features: features of the training part, shape (rows, 2992).
        block: EMBEDDING, POOLED or BOTH.
    """
    columns = block_columns(features, block)
    mean = np.add.reduce(columns, axis=0) / len(columns)
    columns -= mean
    columns *= columns
    spread = np.sqrt(np.add.reduce(columns, axis=0) / len(columns))
    least = _LEAST_SPREAD * float(np.sqrt(np.add.reduce(spread * spread) / len(spread)))
    # Columns that hardly change would otherwise be amplified to noise.
    scale = 1.0 / np.maximum(spread, max(least, _LEAST_SPREAD**2))
    return Standardizing(block, mean.astype(np.float32), scale.astype(np.float32))
