"""Sorts a feature matrix so that the training part of every fold is a few ranges of rows.

So folds use views instead of copies. Rows are sorted by side of the split (training or held-out)
and by fold. Label phrases come last, and every head is trained on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.split import ALWAYS_TRAINED
from chalicelib.engines.text.head.regression import ExampleBatch

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints
    from chalicelib.engines.text.background import BackgroundFolds


class RowRange(NamedTuple):
    """A run of rows of the matrix."""

    start: int
    stop: int
    is_held: bool
    fold: int
    is_phrase: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The sorted matrix, its ranges of rows, and the example that each row belongs to."""

    features: Floats
    """Scaled features, float, shape (rows, dims)."""
    labels: Ints
    """Label indexes, int, shape (rows,)."""
    order: Ints
    """Example of every row except those of phrases, int, shape (examples,)."""
    ranges: tuple[RowRange, ...]
    """Runs that together cover all rows."""

    def batches(self, accepts: Callable[[RowRange], bool]) -> list[ExampleBatch]:
        """Return views of the features and labels in each accepted range of rows."""
        return [
            ExampleBatch(self.features[part.start : part.stop], self.labels[part.start : part.stop])
            for part in self.ranges
            if accepts(part)
        ]

    def examples(self, accepts: Callable[[RowRange], bool]) -> Ints:
        """Return the examples in the accepted ranges, in order, int, shape (n,)."""
        parts = [
            self.order[part.start : part.stop]
            for part in self.ranges
            if accepts(part) and not part.is_phrase
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def hold_out(self, fold: int, background: BackgroundFolds | None = None) -> HeldOutFold:
        """Hold out a fold: return its examples, and the rows that its head trains on."""
        held = self.batches(lambda part: part.fold == fold)
        examples = self.examples(lambda part: part.fold == fold)
        trained = self.examples(lambda part: part.fold == fold and not part.is_held)
        others = None if background is None else background.features[background.folds == fold]
        return HeldOutFold(
            training=self.batches(lambda part: part.fold != fold),
            texts=self.batches(lambda part: part.fold != fold and not part.is_phrase),
            held=held,
            background=others,
            examples=examples,
            truth=np.concatenate([np.empty(0, np.int64), *(batch.labels for batch in held)]),
            is_trained=np.isin(examples, trained),
        )


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutFold:
    """A fold that is held out, and the rows that its head trains on."""

    training: Sequence[ExampleBatch]
    """Rows to train on, with label phrases."""
    texts: Sequence[ExampleBatch]
    """The same rows without label phrases."""
    held: Sequence[ExampleBatch]
    """Rows of the fold."""
    background: Floats | None
    """Features of the background texts of the fold, float, shape (m, dims)."""
    examples: Ints
    """Examples of the fold, int, shape (n,)."""
    truth: Ints
    """Their label indexes, int, shape (n,)."""
    is_trained: Bools
    """Which of them belong to the training part of the split, bool, shape (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutFolds:
    """Several folds, and their examples one after the other."""

    folds: Sequence[HeldOutFold]
    """Each has examples."""
    examples: Ints
    """Examples of all folds, int, shape (n,)."""
    truth: Ints
    """Their label indexes, int, shape (n,)."""
    is_trained: Bools
    """Which of them belong to the training part of the split, bool, shape (n,)."""
    may_choose: Bools
    """Which of them may decide a setting: those of the training part, or all if it has none."""


def join_folds(folds: Sequence[HeldOutFold]) -> HeldOutFolds:
    """Concatenate the held-out examples of folds."""
    is_trained = np.concatenate([fold.is_trained for fold in folds])
    return HeldOutFolds(
        folds,
        np.concatenate([fold.examples for fold in folds]),
        np.concatenate([fold.truth for fold in folds]),
        is_trained,
        is_trained if is_trained.any() else np.ones_like(is_trained),
    )


def sorted_rows(held: Bools, folds: Ints, ranks: Ints) -> Ints:
    """Return example indexes sorted by held-out or not, fold and rank, int, shape (examples,)."""
    return np.lexsort((ranks, folds, held))


def make_row_ranges(held: Bools, folds: Ints, phrases: int) -> tuple[RowRange, ...]:
    """Find the ranges of rows with the same side of the split and the same fold.

    Args:
        held: whether each row is held out, in sorted order, bool, shape (examples,).
        folds: fold of every row in sorted order, int, shape (examples,).
        phrases: number of rows of label phrases at the end.
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
