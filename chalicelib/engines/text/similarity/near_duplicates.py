"""Groups near-duplicates: equal texts, and texts of the same label with close vectors.

All texts of a group must be in the same part of a split. Otherwise the metrics on the held-out part
would be too good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.text.similarity.buckets import buckets

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints


# Cosine of centred feature vectors from which two texts of a label are near-duplicates.
CLOSE_COSINE = 0.95
_EXHAUSTIVE_ROWS = 6_000
_BLOCK_ROWS = 1_024
_STEPS = 2.0**13


def group_near_duplicates(
    digests: Sequence[bytes], labels: Ints, features_of: Callable[[Ints], Floats]
) -> Ints:
    """Return the group number of each example, int, (examples,); near-duplicates share a number.

    If a label has more than 6,000 different texts, each text is compared only with texts in the
    same bucket (see `buckets`). This finds most near-duplicates, but not all.

    Args:
        digests: digest of each example; equal texts have equal digests.
        labels: label indexes, int, shape (examples,).
        features_of: returns the features of examples, float64 or float32, shape (n, dims), given
            their indexes.
    """
    forest = _Forest(len(digests))
    seen: dict[bytes, int] = {}
    first_rows = np.array([seen.setdefault(digest, row) for row, digest in enumerate(digests)])
    for row in np.flatnonzero(first_rows != np.arange(len(digests))).tolist():
        forest.join(row, int(first_rows[row]))
    for rows in _rows_by_label(labels):
        texts = np.unique(first_rows[rows])
        unit = _unit(features_of(texts))
        for part in _parts_to_compare(unit):
            firsts = _components(unit[part])
            for member in np.flatnonzero(firsts != np.arange(len(part))).tolist():
                forest.join(int(texts[part[member]]), int(texts[part[firsts[member]]]))
    return forest.numbers()


class _Forest:
    """Groups of examples (union-find). The lowest index in a group represents the group."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))

    def root(self, row: int) -> int:
        """Return the lowest index in the group of an example; shorten the path to this index."""
        parents = self._parents
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    def join(self, left: int, right: int) -> None:
        """Join the groups of two examples."""
        low, high = sorted((self.root(left), self.root(right)))
        self._parents[high] = low

    def numbers(self) -> Ints:
        """Return, for each example, the lowest index in its group, int, shape (examples,)."""
        return np.array([self.root(row) for row in range(len(self._parents))], np.int64)


def _rows_by_label(labels: Ints) -> Iterator[Ints]:
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if len(rows) > 1:
            yield rows


def _unit(features: Floats) -> Floats:
    lengths = np.sqrt(np.add.reduce(features * features, axis=1))[:, None]
    # Rounded to fixed steps, so that cosines are exact on every processor.
    unit: Floats = np.rint(features / np.maximum(lengths, 1e-12) * _STEPS)
    return unit


def _parts_to_compare(unit: Floats) -> Iterator[Ints]:
    if len(unit) <= _EXHAUSTIVE_ROWS:
        yield np.arange(len(unit))
    else:
        yield from buckets(unit, np.arange(len(unit)))


def _components(unit: Floats) -> Ints:
    """Return for each vector the lowest index in its group of similar vectors, int, (rows,)."""
    groups = np.arange(len(unit))
    limit = CLOSE_COSINE * _STEPS * _STEPS
    for first in range(0, len(unit), _BLOCK_ROWS):
        block = unit[first : first + _BLOCK_ROWS]
        is_close = block @ unit[: first + len(block)].T > limit
        for row, near in enumerate(is_close, first):
            _merge(groups, row, np.flatnonzero(near[:row]))
    return groups


def _merge(groups: Ints, row: int, similar_rows: Ints) -> None:
    if not len(similar_rows):
        return
    touched = np.unique(groups[similar_rows])
    groups[row] = touched[0]
    if len(touched) > 1:
        groups[:row][np.isin(groups[:row], touched)] = touched[0]
