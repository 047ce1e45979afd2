"""What a training fixes before it learns: split, folds, features in training order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import Arithmetic, arithmetic_for
from chalicelib.engines.split import assign_folds, hold_out, shuffled_ranks
from chalicelib.engines.text.encoding.label_phrases import label_phrase
from chalicelib.engines.text.head.domain import middle, unit_vectors
from chalicelib.engines.text.head.features import Scaling, fit_scaling
from chalicelib.engines.text.head.layout import Layout, Outside, make_row_ranges, sorted_rows
from chalicelib.engines.text.similarity.near_duplicates import group_near_duplicates

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints
    from chalicelib.engines.interface import TextFitOptions, TextTrainingSet


PHRASE_EXAMPLES = 20
"""Below this many examples a label's phrase is one more example."""
FEWEST_TEXTS = 20
"""Below this many examples or background texts nothing is learnt of where the domain ends."""
_ASKED_EXAMPLES = 2_000
_SMALL_SET, _SMALL_SET_FOLDS, _FOLDS = 2_000, 5, 3
_ONE_HOLD_OUT_EXAMPLES = 50_000
_ONE_HOLD_OUT_WORK = 4e9


@dataclass(frozen=True, slots=True)
class FitPlan:
    """What is fixed before anything is learnt."""

    layout: Layout
    """Features in training order."""
    labels: int
    """Number of labels."""
    folds: tuple[int, ...]
    """Folds to hold out."""
    arithmetic: Arithmetic
    """How numbers are rounded."""
    scaling: Scaling
    """Means and scales of the encoders' blocks."""
    duplicates: Duplicates
    """Near-duplicates and the split."""
    outside: Outside | None = None
    """Background texts; None where nothing is to be rejected, or too little is known of it."""


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Texts of one label that say nearly the same."""

    kept_together: int
    """Texts beyond the first of every group."""
    across_split: int
    """Held-out texts with a near-duplicate in the training part."""


def make_plan(training_set: TextTrainingSet, labels: Ints, options: TextFitOptions) -> FitPlan:
    """Scale, group, split and sort the examples.

    Args:
        training_set: vectors and labels.
        labels: label indexes, int, shape (examples,).
        options: choices of the caller.
    """
    examples = len(labels)
    arithmetic = arithmetic_for(examples, options.threads)
    scaling = fit_scaling(training_set.blocks, sorted(training_set.blocks))

    def features_of(rows: Ints) -> Floats:
        return scaling.features(training_set.blocks, rows, arithmetic.dtype)

    keys = [
        digest + training_set.label_names[label].encode("utf-8", "surrogatepass")
        for digest, label in zip(training_set.digests, labels, strict=True)
    ]
    ranks = shuffled_ranks(keys, options.seed)
    groups = group_near_duplicates(training_set.words, labels, features_of)
    held = hold_out(labels, groups, ranks, options.split_ratio)
    units = groups
    if not held.any():
        # All texts of every label say the same: tearing them apart beats testing nothing.
        units = np.arange(examples)
        held = hold_out(labels, units, ranks, options.split_ratio)
    folds = assign_folds(labels, units, ranks, _fold_count(examples))
    order = sorted_rows(held, folds, ranks)
    phrases = _phrase_labels(training_set, labels)
    features = _all_features(training_set, scaling, order, phrases, arithmetic)
    layout = Layout(
        features,
        np.concatenate([labels[order], phrases]),
        order,
        make_row_ranges(held[order], folds[order], len(phrases)),
    )
    size = len(training_set.label_names)
    tried = _folds_to_try(examples, examples * features.shape[1] * size)
    outside = None
    if options.out_of_domain_rate is not None:
        outside = _outside(training_set, scaling, arithmetic, layout)
    return FitPlan(
        layout, size, tried, arithmetic, scaling, _duplicates(groups, units, held), outside
    )


def _outside(
    training_set: TextTrainingSet, scaling: Scaling, arithmetic: Arithmetic, layout: Layout
) -> Outside | None:
    """Deal the background texts to the folds, without those that are like the examples."""
    examples = len(layout.order)
    if training_set.background is None or examples < FEWEST_TEXTS:
        return None
    count = len(next(iter(training_set.background.values())))
    every = np.arange(count)
    features = arithmetic.features(
        scaling.features(training_set.background, every, arithmetic.dtype)
    )
    features = features[~_is_inside(features, layout)]
    if len(features) < FEWEST_TEXTS:
        return None
    return Outside(features, np.arange(len(features)) % _fold_count(examples))


def _is_inside(outside: Floats, layout: Layout) -> Bools:
    """Say which background texts are as near to an example as examples are to each other.

    A model of the weather would otherwise learn to reject questions about it.

    Args:
        outside: features of the background texts, float, shape (texts, dims).
        layout: the examples; up to 2,000 of them are asked.
    """
    centre = middle(outside)
    step = -(-len(layout.order) // _ASKED_EXAMPLES)
    units = unit_vectors(layout.features[: len(layout.order) : step], centre)
    alike = units @ units.T
    np.fill_diagonal(alike, -1.0)
    usual = np.median(alike.max(axis=1))
    return np.asarray((unit_vectors(outside, centre) @ units.T).max(1) > usual)


def _duplicates(groups: Ints, units: Ints, held: Bools) -> Duplicates:
    """Count the near-duplicates.

    Args:
        groups: which texts say the same, int, shape (examples,).
        units: what was divided, int, shape (examples,).
        held: which are held out, bool, shape (examples,).
    """
    trained = np.isin(groups, groups[~held])
    return Duplicates(len(units) - len(np.unique(units)), int((trained & held).sum()))


def _fold_count(examples: int) -> int:
    """Folds to deal the examples to: small sets need every example for training."""
    return _SMALL_SET_FOLDS if examples <= _SMALL_SET else _FOLDS


def _folds_to_try(examples: int, work: int) -> tuple[int, ...]:
    """Folds to hold out: a single one where examples, or examples x dims x labels, are many."""
    is_large = examples > _ONE_HOLD_OUT_EXAMPLES or work > _ONE_HOLD_OUT_WORK
    return (0,) if is_large else tuple(range(_fold_count(examples)))


def _phrase_labels(training_set: TextTrainingSet, labels: Ints) -> Ints:
    """Labels whose phrase is one more example, int, shape (phrases,)."""
    if training_set.label_blocks is None:
        return np.empty(0, np.int64)
    counts = np.bincount(labels, minlength=len(training_set.label_names))
    chosen = [
        place
        for place, name in enumerate(training_set.label_names)
        if counts[place] < PHRASE_EXAMPLES and label_phrase(name) is not None
    ]
    return np.array(chosen, np.int64)


def _all_features(
    training_set: TextTrainingSet,
    scaling: Scaling,
    order: Ints,
    phrases: Ints,
    arithmetic: Arithmetic,
) -> Floats:
    """Features of the examples in order, then of the phrases, float, shape (rows, dims)."""
    features = scaling.features(training_set.blocks, order, arithmetic.dtype)
    if len(phrases) and training_set.label_blocks is not None:
        extra = scaling.features(training_set.label_blocks, phrases, arithmetic.dtype)
        features = np.concatenate([features, extra])
    return arithmetic.features(features)
