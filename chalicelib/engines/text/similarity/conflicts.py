"""Finds nearly equal texts with different labels, for the data report of a training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.text.similarity.buckets import buckets
from chalicelib.engines.text.similarity.near_duplicates import CLOSE_COSINE

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints


_DIGITS = 6


class ConflictingRows(NamedTuple):
    """Two nearly equal texts with different labels."""

    similarity: float
    """Cosine of the two feature vectors; 1 for equal texts."""
    left: int
    right: int


def conflicting_pairs(
    digests: Sequence[bytes], labels: Ints, features: Floats, limit: int
) -> list[ConflictingRows]:
    """Return pairs of nearly equal texts with different labels, the most similar first.

    All pairs of equal texts are found, and most pairs of other near-duplicates.

    Args:
        digests: digest of each text; equal texts have equal digests.
        labels: label index of each text, int, shape (rows,).
        features: centred feature vector of each text, float, shape (rows, dims).
        limit: maximum number of pairs.
    """
    firsts, equal = _equal_texts(digests, labels, limit)
    close: list[ConflictingRows] = []
    # Comparing all pairs would take hours for a large dataset.
    for rows in buckets(features, firsts) if len(equal) < limit else ():
        found = _close_rows(rows, features, labels, limit)
        close = _best({*close, *found}, limit) if found else close
    return [*equal, *close][:limit]


def _equal_texts(
    digests: Sequence[bytes], labels: Ints, limit: int
) -> tuple[Ints, list[ConflictingRows]]:
    seen: dict[bytes, int] = {}
    firsts: list[int] = []
    pairs: dict[tuple[int, int], int] = {}
    for row, digest in enumerate(digests):
        first = seen.setdefault(digest, row)
        if first == row:
            firsts.append(row)
        elif labels[first] != labels[row] and len(pairs) < limit:
            pairs.setdefault((first, int(labels[row])), row)
    found = [ConflictingRows(1.0, first, row) for (first, _), row in pairs.items()]
    return np.array(firsts, np.int64), found


def _close_rows(rows: Ints, features: Floats, labels: Ints, limit: int) -> list[ConflictingRows]:
    unit = features[rows].astype(np.float32)
    unit /= np.maximum(np.sqrt(np.add.reduce(unit * unit, axis=1)), 1e-12)[:, None]
    cosines = np.triu(np.where(labels[rows][:, None] != labels[rows], unit @ unit.T, 0.0))
    places = np.flatnonzero(cosines > CLOSE_COSINE)
    values = cosines.ravel()[places]
    best = np.argsort(-values, kind="stable")[:limit]
    pairs = np.sort(rows[np.array(np.divmod(places[best], len(rows)))], axis=0)
    return [
        ConflictingRows(min(1.0, round(float(value), _DIGITS)), int(left), int(right))
        for value, left, right in zip(values[best], *pairs, strict=True)
    ]


def _best(pairs: set[ConflictingRows], limit: int) -> list[ConflictingRows]:
    return sorted(pairs, key=lambda one: (-one.similarity, one.left, one.right))[:limit]
