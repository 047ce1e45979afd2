"""One feature matrix in which every training part is a handful of runs, so that no fold copies it.

Rows are sorted by side of the split and by fold; label phrases come last and are always trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.split import ALWAYS_TRAINED
from chalicelib.engines.text.head.regression import ExampleBatch

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints


class RowRange(NamedTuple):
    """A run of rows of the matrix."""

    start: int
    stop: int
    is_held: bool
    fold: int
    is_phrase: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The matrix, its runs, and where every row came from."""

    features: Floats
    """Scaled features, float, shape (rows, dims)."""
    labels: Ints
    """Label indexes, int, shape (rows,)."""
    order: Ints
    """Example of every row that is one, int, shape (examples,)."""
    ranges: tuple[RowRange, ...]
    """Runs, together all rows."""

    def batches(self, keep: Callable[[RowRange], bool]) -> list[ExampleBatch]:
        """Views of the runs that `keep` accepts."""
        return [
            ExampleBatch(self.features[part.start : part.stop], self.labels[part.start : part.stop])
            for part in self.ranges
            if keep(part)
        ]

    def examples(self, keep: Callable[[RowRange], bool]) -> Ints:
        """Example numbers of the runs that `keep` accepts, in order, int, shape (n,)."""
        parts = [
            self.order[part.start : part.stop]
            for part in self.ranges
            if keep(part) and not part.is_phrase
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Outside:
    """Background texts, held out with the folds as examples are."""

    features: Floats
    """Scaled features, float, shape (texts, dims)."""
    folds: Ints
    """Fold of every text, int, shape (texts,)."""

    def of(self, fold: int) -> Floats:
        """Features of the texts of a fold, float, shape (n, dims)."""
        return np.asarray(self.features[self.folds == fold])

    def beside(self, fold: int) -> Floats:
        """Features of the texts of all other folds, float, shape (n, dims)."""
        return np.asarray(self.features[self.folds != fold])


def sorted_rows(held: Bools, folds: Ints, ranks: Ints) -> Ints:
    """Example of every row: by side, then fold, then rank; int, shape (examples,)."""
    return np.lexsort((ranks, folds, held))


def make_row_ranges(held: Bools, folds: Ints, phrases: int) -> tuple[RowRange, ...]:
    """Runs of equal side and fold.

    Args:
        held: side of every row in sorted order, bool, shape (examples,).
        folds: fold of every row in sorted order, int, shape (examples,).
        phrases: rows of label phrases after them.

    Returns:
        The runs in order.
    """
    keys = np.stack([held.astype(np.int64), folds])
    cuts = np.flatnonzero((np.diff(keys, axis=1) != 0).any(axis=0)) + 1
    bounds = [0, *cuts.tolist(), len(folds)]
    runs = [
        RowRange(start, stop, bool(held[start]), int(folds[start]), is_phrase=False)
        for start, stop in pairwise(bounds)
    ]
    if phrases:
        end = len(folds) + phrases
        runs.append(RowRange(len(folds), end, False, ALWAYS_TRAINED, is_phrase=True))
    return tuple(runs)
