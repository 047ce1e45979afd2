"""Prepares a training: groups near-duplicates, splits the examples, and sorts the features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import Arithmetic, arithmetic_for
from chalicelib.engines.split import split_examples
from chalicelib.engines.text.background import FEWEST_TEXTS, assign_background
from chalicelib.engines.text.encoding.label_phrases import label_phrase
from chalicelib.engines.text.head.features import Scaling, fit_scaling
from chalicelib.engines.text.head.layout import Layout, make_row_ranges, sorted_rows
from chalicelib.engines.text.similarity.near_duplicates import group_near_duplicates

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Ints
    from chalicelib.engines.interface import TextFitOptions, TextTrainingSet
    from chalicelib.engines.text.background import BackgroundFolds


# Below this many examples of a label, its name as a phrase is one more example.
PHRASE_EXAMPLES = 20
# Small sets need every example for training, so their folds are smaller.
_SMALL_SET, _SMALL_SET_FOLDS, _FOLDS = 2_000, 5, 3
# Beyond these limits, more than one fold would take longer than a function may run.
_ONE_HOLD_OUT_EXAMPLES = 50_000
_ONE_HOLD_OUT_WORK = 4e9


@dataclass(frozen=True, slots=True)
class FitPlan:
    """The split, the folds and the features of a training, prepared before a head is fitted."""

    layout: Layout
    """Features of the examples, sorted for the training."""
    labels: int
    folds: tuple[int, ...]
    """Indexes of the folds to hold out."""
    arithmetic: Arithmetic
    scaling: Scaling
    duplicates: Duplicates
    background: BackgroundFolds | None = None
    """Folds of background texts; None if nothing is rejected, or there are too few of them."""


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Counts of near-duplicates: texts of one label with nearly the same meaning."""

    kept_together: int
    """Number of texts in groups of near-duplicates, not counting the first of each group."""
    across_split: int
    """Number of held-out texts with a near-duplicate in the training part."""


def make_plan(training_set: TextTrainingSet, labels: Ints, options: TextFitOptions) -> FitPlan:
    """Scale the vectors, group near-duplicates, then split and sort the examples.

    Args:
        training_set: vectors and labels of the examples.
        labels: label indexes, int, shape (examples,).
        options: options of the training.
    """
    size, examples = len(training_set.label_names), len(labels)
    dims = sum(block.shape[1] for block in training_set.blocks.values())
    fold_count = _fold_count(examples)
    tried = _folds_to_try(examples, examples * dims * size)
    phrases = _phrase_labels(training_set, labels)
    arithmetic = arithmetic_for(examples, options.threads)
    scaling = fit_scaling(training_set.blocks, sorted(training_set.blocks))
    features_of = partial(scaling.features, training_set.blocks, dtype=arithmetic.dtype)
    groups = group_near_duplicates(training_set.words, labels, features_of)
    keys = [
        digest + training_set.label_names[label].encode("utf-8", "surrogatepass")
        for digest, label in zip(training_set.digests, labels, strict=True)
    ]
    split = split_examples(keys, labels, groups, options.split_ratio, fold_count, options.seed)
    order = sorted_rows(split.held_out, split.folds, split.ranks)
    ranges = make_row_ranges(split.held_out[order], split.folds[order], len(phrases))
    features = features_of(order)
    if len(phrases) and training_set.label_blocks is not None:
        extra = scaling.features(training_set.label_blocks, phrases, arithmetic.dtype)
        features = np.concatenate([features, extra])
    rows = np.concatenate([labels[order], phrases])
    layout = Layout(arithmetic.features(features), rows, order, ranges)
    background = None
    # A few examples do not show where their domain ends.
    known = options.out_of_domain_rate is not None and examples >= FEWEST_TEXTS
    if training_set.background is not None and known:
        every = np.arange(len(next(iter(training_set.background.values()))))
        others = scaling.features(training_set.background, every, arithmetic.dtype)
        others = arithmetic.features(others)
        background = assign_background(others, layout.features[:examples], fold_count)
    duplicates = Duplicates(split.grouped, split.across)
    return FitPlan(layout, size, tried, arithmetic, scaling, duplicates, background)


def _fold_count(examples: int) -> int:
    return _SMALL_SET_FOLDS if examples <= _SMALL_SET else _FOLDS


def _folds_to_try(examples: int, work: int) -> tuple[int, ...]:
    is_large = examples > _ONE_HOLD_OUT_EXAMPLES or work > _ONE_HOLD_OUT_WORK
    return (0,) if is_large else tuple(range(_fold_count(examples)))


def _phrase_labels(training_set: TextTrainingSet, labels: Ints) -> Ints:
    if training_set.label_blocks is None:
        return np.empty(0, np.int64)
    counts = np.bincount(labels, minlength=len(training_set.label_names))
    chosen = [
        place
        for place, name in enumerate(training_set.label_names)
        if counts[place] < PHRASE_EXAMPLES and label_phrase(name) is not None
    ]
    return np.array(chosen, np.int64)
