"""Sorts a feature matrix, so that each part of the split and each fold is a few ranges of rows.

The fit for a fold can then use views of the matrix instead of copies. Rows are sorted by part of
the split (training or held-out), then by fold. If label names are used as examples, their rows are
last. The rows of label names are not in any fold, so every head is trained on them.
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
    """A range of rows of the sorted matrix, all in the same part of the split and the same fold."""

    start: int
    stop: int
    is_held_out: bool
    fold: int
    is_phrase: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The sorted feature matrix, its ranges of rows, and the index of each row's example."""

    features: Floats
    """Scaled features, float, shape (rows, dims)."""
    labels: Ints
    """Label indexes, int, shape (rows,)."""
    order: Ints
    """Index of the example in each row, int, shape (examples,). Rows of label names are left out.
    """
    ranges: tuple[RowRange, ...]
    """Ranges of rows that together cover the whole matrix."""

    def batches(self, accepts: Callable[[RowRange], bool]) -> list[ExampleBatch]:
        """Return views of the features and labels of each range for which `accepts` is true."""
        return [
            ExampleBatch(self.features[part.start : part.stop], self.labels[part.start : part.stop])
            for part in self.ranges
            if accepts(part)
        ]

    def examples(self, accepts: Callable[[RowRange], bool]) -> Ints:
        """Return the indexes of examples, int, (n,), in the ranges for which `accepts` is true."""
        parts = [
            self.order[part.start : part.stop]
            for part in self.ranges
            if accepts(part) and not part.is_phrase
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def hold_out(self, fold: int, background: BackgroundFolds | None = None) -> HeldOutFold:
        """Hold out `fold`: return its examples, and the remaining rows to train a head on."""
        held = self.batches(lambda part: part.fold == fold)
        examples = self.examples(lambda part: part.fold == fold)
        trained = self.examples(lambda part: part.fold == fold and not part.is_held_out)
        others = None if background is None else background.features[background.folds == fold]
        return HeldOutFold(
            training=self.batches(lambda part: part.fold != fold),
            texts=self.batches(lambda part: part.fold != fold and not part.is_phrase),
            held_out=held,
            background=others,
            examples=examples,
            truth=np.concatenate([np.empty(0, np.int64), *(batch.labels for batch in held)]),
            is_trained=np.isin(examples, trained),
        )


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutFold:
    """A fold that is held out, and the rows on which its head is trained."""

    training: Sequence[ExampleBatch]
    """Rows to train on, including those of label names."""
    texts: Sequence[ExampleBatch]
    """Rows to train on, without those of label names."""
    held_out: Sequence[ExampleBatch]
    """Rows of the held-out fold, which the head predicts."""
    background: Floats | None
    """Features of the background texts of the fold, float, shape (m, dims)."""
    examples: Ints
    """Indexes of the examples of the fold, int, shape (n,)."""
    truth: Ints
    """Label index of each example of the fold, int, shape (n,)."""
    is_trained: Bools
    """Which examples of the fold are in the training part of the split, bool, shape (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutFolds:
    """Several held-out folds, and arrays with the examples of all these folds."""

    folds: Sequence[HeldOutFold]
    """The folds; each has at least one example."""
    examples: Ints
    """Indexes of the examples of all folds, int, shape (n,)."""
    truth: Ints
    """Label index of each example of the folds, int, shape (n,)."""
    is_trained: Bools
    """Which examples of the folds are in the training part of the split, bool, shape (n,)."""
    may_choose: Bools
    """Whether each example of the folds may be used to choose settings, bool, shape (n,). True for
    examples of the training part, or for all examples if none is in the training part."""


def join_folds(folds: Sequence[HeldOutFold]) -> HeldOutFolds:
    """Concatenate the arrays of held-out examples of all `folds`."""
    is_trained = np.concatenate([fold.is_trained for fold in folds])
    return HeldOutFolds(
        folds,
        np.concatenate([fold.examples for fold in folds]),
        np.concatenate([fold.truth for fold in folds]),
        is_trained,
        is_trained if is_trained.any() else np.ones_like(is_trained),
    )


def sorted_rows(is_held_out: Bools, folds: Ints, ranks: Ints) -> Ints:
    """Return the indexes of examples, sorted by part of the split, then by fold, then by rank.

    Args:
        is_held_out: whether each example is held out, bool, shape (examples,).
        folds: fold of each example, int, shape (examples,).
        ranks: rank of each example within its fold, int, shape (examples,).
    """
    return np.lexsort((ranks, folds, is_held_out))


def make_row_ranges(is_held_out: Bools, folds: Ints, phrases: int) -> tuple[RowRange, ...]:
    """Find the ranges of rows that are in the same part of the split and the same fold.

    Args:
        is_held_out: whether each sorted row is held out, bool, shape (examples,).
        folds: fold of each sorted row, int, shape (examples,).
        phrases: number of rows of label names, which follow the rows of examples.
    """
    keys = np.stack([is_held_out.astype(np.int64), folds])
    cuts = np.flatnonzero((np.diff(keys, axis=1) != 0).any(axis=0)) + 1
    bounds = [0, *cuts.tolist(), len(folds)]
    runs = [
        RowRange(start, stop, bool(is_held_out[start]), int(folds[start]), is_phrase=False)
        for start, stop in pairwise(bounds)
    ]
    if phrases:
        end = len(folds) + phrases
        runs.append(RowRange(len(folds), end, False, ALWAYS_TRAINED, is_phrase=True))
    return tuple(runs)
