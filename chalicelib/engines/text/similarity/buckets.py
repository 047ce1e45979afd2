"""Forms small groups (buckets) of feature vectors with similar directions, to search faster.

Random hyperplanes divide the space. Vectors on the same side of every plane are in the same bucket.
Buckets have a maximum size, so that a search in many similar texts does not take longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints


# Number of independent bucket assignments; nearly all pairs of near rows share a bucket once.
TABLES = 6
_TYPICAL_ROWS = 64
_MOST_ROWS = 256
_CHUNK_ROWS = 4_096


def buckets(features: Floats, rows: Ints) -> Iterator[Ints]:
    """Yield buckets of 2 to 256 row indexes, int, shape (m,). A row can be in several buckets.

    Args:
        features: feature vectors, float, shape (all rows, dims). If they are rounded, the buckets
            are the same on every processor.
        rows: indexes in `features` of the vectors to group, int, shape (n,).
    """
    generator = np.random.default_rng(0)
    bits = (len(rows) // _TYPICAL_ROWS).bit_length()
    for _ in range(TABLES):
        # The last plane does not form buckets: a bucket that is too large is cut along it.
        planes = generator.integers(0, 2, (features.shape[1], bits + 1)) * 2 - 1
        codes, depths = _sides(features, rows, planes.astype(features.dtype))
        order = np.lexsort((depths, codes))
        for members in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
            for first in range(0, len(members), _MOST_ROWS):
                if len(members) - first > 1:
                    yield rows[members[first : first + _MOST_ROWS]]


def _sides(features: Floats, rows: Ints, planes: Floats) -> tuple[Ints, Floats]:
    codes = np.empty(len(rows), np.int64)
    depths = np.empty(len(rows), features.dtype)
    powers = 1 << np.arange(planes.shape[1] - 1)
    for first in range(0, len(rows), _CHUNK_ROWS):
        heights = features[rows[first : first + _CHUNK_ROWS]] @ planes
        codes[first : first + _CHUNK_ROWS] = (heights[:, :-1] > 0) @ powers
        depths[first : first + _CHUNK_ROWS] = heights[:, -1]
    return codes, depths
