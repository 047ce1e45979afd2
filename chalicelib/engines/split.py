"""Divides examples into a training part, a held-out part, and folds.

Each label is divided in the same proportion. The part and the fold of an example depend on its
digest and the seed, not on its position. Groups of near-duplicates are never divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints

# Fold number of an example that every fold trains on.
ALWAYS_TRAINED = -1
_FEWEST_TO_SPLIT = 3


@dataclass(frozen=True, slots=True, eq=False)
class ExampleSplit:
    """The held-out part and the folds of a set of examples."""

    ranks: Ints
    """Pseudo-random order of the examples, int, shape (examples,)."""
    held_out: Bools
    """Which examples are held out, bool, shape (examples,)."""
    folds: Ints
    """Fold of every example, int, shape (examples,)."""
    grouped: int
    """Number of examples in groups of near-duplicates, not counting the first of each."""
    across: int
    """Number of held-out examples with a near-duplicate in the training part."""


def split_examples(
    keys: Sequence[bytes],
    labels: Ints,
    groups: Ints,
    training_share: float,
    folds: int,
    seed: int,
) -> ExampleSplit:
    """Choose the held-out examples and the folds.

    Args:
        keys: digest of every example.
        labels: label indexes, int, shape (examples,).
        groups: group number, equal for near-duplicates, int, shape (examples,).
        training_share: fraction of a label's examples to train on.
        folds: number of folds, at least 2.
        seed: seed of the random order of examples.
    """
    ranks = shuffled_ranks(keys, seed)
    held = hold_out(labels, groups, ranks, training_share)
    units = groups
    if not held.any():
        # If every label is one group, groups are divided, because otherwise nothing could be
        # tested.
        units = np.arange(len(labels))
        held = hold_out(labels, units, ranks, training_share)
    trained = np.isin(groups, groups[~held])
    return ExampleSplit(
        ranks=ranks,
        held_out=held,
        folds=assign_folds(labels, units, ranks, folds),
        grouped=len(units) - len(np.unique(units)),
        across=int((trained & held).sum()),
    )


def shuffled_ranks(digests: Sequence[bytes], seed: int) -> Ints:
    """Return a random rank of every example, from its digest and the seed, int, (examples,)."""
    key = seed.to_bytes(8, "big", signed=True)
    hashes = [blake2b(digest, digest_size=16, key=key).digest() for digest in digests]
    order = sorted(range(len(hashes)), key=hashes.__getitem__)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def hold_out(labels: Ints, groups: Ints, ranks: Ints, training_share: float) -> Bools:
    """Choose the held-out examples, label by label; return a mask, bool, shape (examples,).

    Every label has at least one example to train on. If a label has fewer than three examples, or
    all its examples are in one group, none of them is held out.

    Args:
        labels: label indexes, int, shape (examples,).
        groups: group number, equal for near-duplicates, int, shape (examples,).
        ranks: order in which examples are taken, int, shape (examples,).
        training_share: fraction of a label's examples to train on.
    """
    members = _members(groups, ranks)
    held = np.zeros(len(labels), bool)
    remaining = np.bincount(labels)
    wanted = _test_counts(remaining, training_share)
    taken = np.zeros_like(remaining)
    for rows in members:
        counts = np.bincount(labels[rows], minlength=len(remaining))
        touched = np.flatnonzero(counts)
        if np.all(taken[touched] + counts[touched] <= wanted[touched]):
            held[rows] = True
            taken += counts
    return held


def assign_folds(labels: Ints, groups: Ints, ranks: Ints, folds: int) -> Ints:
    """Assign the examples of every label to folds.

    Args:
        labels: label indexes, int, shape (examples,).
        groups: group number, equal for near-duplicates, int, shape (examples,).
        ranks: order in which examples are assigned, int, shape (examples,).
        folds: number of folds, at least 2.

    Returns:
        The fold of every example, int, shape (examples,). `ALWAYS_TRAINED` if holding out the
        example would leave its label without training examples.
    """
    assigned = np.full(len(labels), ALWAYS_TRAINED, np.int64)
    filled = np.zeros((int(labels.max()) + 1, folds), np.int64)
    for rows in _members(groups, ranks):
        label = int(np.bincount(labels[rows]).argmax())
        # Each label starts at another fold, so that the folds have equal sizes.
        turn = (np.arange(folds) + label) % folds
        fold = int(turn[np.argmin(filled[label, turn])])
        filled[label, fold] += len(rows)
        assigned[rows] = fold
    return _with_every_label_trained(assigned, labels, groups)


def _with_every_label_trained(assigned: Ints, labels: Ints, groups: Ints) -> Ints:
    size = int(labels.max()) + 1
    while True:
        places = np.zeros((size, int(assigned.max()) + 2), np.int64)
        np.add.at(places, (labels, assigned + 1), 1)
        is_stuck = (places[:, 0] == 0) & ((places > 0).sum(axis=1) == 1)
        if not is_stuck.any():
            return assigned
        # Without these groups, a fold could not train on the label, so they belong to no fold.
        freed = np.unique(groups[is_stuck[labels]])
        assigned[np.isin(groups, freed)] = ALWAYS_TRAINED


def _test_counts(counts: Ints, training_share: float) -> Ints:
    wanted = np.rint(counts * (1.0 - training_share)).astype(np.int64)
    wanted = np.clip(wanted, 1, np.maximum(counts - 1, 1))
    return np.where(counts < _FEWEST_TO_SPLIT, 0, wanted)


def _members(groups: Ints, ranks: Ints) -> list[Ints]:
    """Return the indexes of the members of each group, sorted by rank.

    The group with the lowest rank is first.
    """
    order = np.lexsort((ranks, groups))
    bounds = np.flatnonzero(np.diff(groups[order])) + 1
    parts = np.split(order, bounds)
    return sorted(parts, key=lambda rows: int(ranks[rows[0]]))
