"""Groups of texts that say the same: equal texts, and texts of one label with close vectors.

A group stays on one side of a split, or the held-out figures would flatter.
See: chalicelib/engines/split.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.floating[Any]]
    Ints = npt.NDArray[np.int64]

CLOSE_COSINE = 0.95
"""Cosine of centred feature vectors from which two texts of a label are near-duplicates."""
_EXHAUSTIVE_ROWS = 6_000
_BLOCK_ROWS = 1_024
_TABLES = 3
_BITS = 8
_STEPS = 2.0**13


def group_near_duplicates(
    digests: Sequence[bytes], labels: Ints, features_of: Callable[[Ints], Floats]
) -> Ints:
    """Number the groups.

    Labels of more than 6,000 examples are searched in buckets of random hyperplanes, which
    find most near-duplicates but not all.

    Args:
        digests: one per example; equal texts have equal digests.
        labels: label indexes, int, shape (examples,).
        features_of: gives the features of chosen rows, float64 or float32, shape (rows, dims).

    Returns:
        Group of every example, int, shape (examples,).
    """
    forest = _Forest(len(digests))
    first_row: dict[bytes, int] = {}
    for row, digest in enumerate(digests):
        forest.join(row, first_row.setdefault(digest, row))
    for rows in _rows_by_label(labels):
        for left, right in _close_pairs(_unit(features_of(rows))):
            forest.join(int(rows[left]), int(rows[right]))
    return forest.numbers()


class _Forest:
    """Union-find over example numbers."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))

    def root(self, row: int) -> int:
        """Find the group's representative, shortening the way to it."""
        parents = self._parents
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    def join(self, left: int, right: int) -> None:
        """Make one group of two; the lower number represents it."""
        low, high = sorted((self.root(left), self.root(right)))
        self._parents[high] = low

    def numbers(self) -> Ints:
        """Representative of every example, int, shape (examples,)."""
        return np.array([self.root(row) for row in range(len(self._parents))], np.int64)


def _rows_by_label(labels: Ints) -> Iterator[Ints]:
    """Rows of every label with at least two examples, int, shape (rows,)."""
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if len(rows) > 1:
            yield rows


def _unit(features: Floats) -> Floats:
    """Rows of length one on a grid, so that cosines are exact; float, shape (rows, dims)."""
    lengths = np.sqrt(np.add.reduce(features * features, axis=1))[:, None]
    unit: Floats = np.rint(features / np.maximum(lengths, 1e-12) * _STEPS)
    return unit


def _close_pairs(unit: Floats) -> Iterator[tuple[int, int]]:
    """Pairs of rows above the cosine, from features scaled by 2**13, float, (rows, dims)."""
    if len(unit) <= _EXHAUSTIVE_ROWS:
        yield from _pairs_within(unit, np.arange(len(unit)))
        return
    generator = np.random.default_rng(0)
    for _ in range(_TABLES):
        planes = generator.integers(0, 2, (unit.shape[1], _BITS)).astype(unit.dtype) * 2 - 1
        buckets = ((unit @ planes) > 0) @ (1 << np.arange(_BITS))
        for bucket in np.unique(buckets):
            yield from _pairs_within(unit, np.flatnonzero(buckets == bucket))


def _pairs_within(unit: Floats, rows: Ints) -> Iterator[tuple[int, int]]:
    """Compare all pairs of the given rows, a block of rows at a time."""
    limit = CLOSE_COSINE * _STEPS * _STEPS
    for first in range(0, len(rows), _BLOCK_ROWS):
        block = rows[first : first + _BLOCK_ROWS]
        cosines = unit[block] @ unit[rows[first:]].T
        for left, right in np.argwhere(cosines > limit):
            if right > left:
                yield int(block[left]), int(rows[first + right])
