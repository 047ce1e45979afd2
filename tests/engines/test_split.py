"""Properties of the train-test split and of the folds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.engines.split import ALWAYS_TRAINED, assign_folds, hold_out, shuffled_ranks

Ints = npt.NDArray[np.int64]


@st.composite
def grouped_examples(draw: st.DrawFn) -> tuple[Ints, Ints, Ints]:
    """Draw labels, groups and ranks of up to sixty examples, with groups across labels."""
    size = draw(st.integers(2, 60))
    labels = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    groups = draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
    ranks = draw(st.permutations(range(size)))
    return np.array(labels), np.array(groups), np.array(ranks)


def _digests(count: int) -> list[bytes]:
    return [number.to_bytes(4, "big") for number in range(count)]


@given(grouped_examples(), st.floats(0.01, 0.99))
def test_hold_out_trains_on_every_label(examples: tuple[Ints, Ints, Ints], share: float) -> None:
    """Every label keeps a training example."""
    labels, groups, ranks = examples

    held = hold_out(labels, groups, ranks, share)

    assert set(labels[~held]) == set(labels)


@given(grouped_examples(), st.floats(0.01, 0.99))
def test_hold_out_keeps_groups_whole(examples: tuple[Ints, Ints, Ints], share: float) -> None:
    """Near-duplicates stay on one side of the split."""
    labels, groups, ranks = examples

    held = hold_out(labels, groups, ranks, share)

    assert not set(groups[held]) & set(groups[~held])


@given(grouped_examples(), st.integers(2, 5))
def test_folds_keep_groups_whole_and_train_on_every_label(
    examples: tuple[Ints, Ints, Ints], folds: int
) -> None:
    """Every fold's training part has every label, and no group is in two folds."""
    labels, groups, ranks = examples

    assigned = assign_folds(labels, groups, ranks, folds)

    for group in np.unique(groups):
        assert len(np.unique(assigned[groups == group])) == 1
    for fold in range(folds):
        assert set(labels[assigned != fold]) == set(labels)


def test_hold_out_is_stratified() -> None:
    """Without groups a fifth of every label is held out."""
    labels = np.repeat([0, 1, 2], [50, 30, 5])
    ranks = shuffled_ranks(_digests(85), seed=0)

    held = hold_out(labels, np.arange(85), ranks, 0.8)

    assert np.bincount(labels[held]).tolist() == [10, 6, 1]


def test_hold_out_does_not_test_a_tiny_label() -> None:
    """Of a label with two examples none is held out."""
    labels = np.repeat([0, 1], [2, 10])

    held = hold_out(labels, np.arange(12), np.arange(12), 0.5)

    assert np.bincount(labels[held], minlength=2).tolist() == [0, 5]


def test_folds_are_equally_large() -> None:
    """Small labels are dealt to different folds, so that folds are equally large."""
    labels = np.repeat(np.arange(20), 5)

    assigned = assign_folds(labels, np.arange(100), np.arange(100), 3)

    counts = np.bincount(assigned)
    assert counts.max() - counts.min() <= 2


def test_folds_always_train_a_label_whose_texts_are_all_alike() -> None:
    """A label that consists of one group is in no fold."""
    labels = np.repeat([0, 1], 4)
    groups = np.array([0, 0, 0, 0, 4, 5, 6, 7])

    assigned = assign_folds(labels, groups, np.arange(8), 2)

    assert assigned[:4].tolist() == [ALWAYS_TRAINED] * 4
    assert sorted(assigned[4:].tolist()) == [0, 0, 1, 1]


def test_ranks_follow_the_digest_and_the_seed() -> None:
    """Ranks depend on digest and seed, not on the order of examples."""
    digests = _digests(50)

    ranks = shuffled_ranks(digests, seed=0)

    assert sorted(ranks.tolist()) == list(range(50))
    assert shuffled_ranks(digests[::-1], seed=0)[::-1].tolist() == ranks.tolist()
    assert shuffled_ranks(digests, seed=1).tolist() != ranks.tolist()
    assert ranks.tolist() != list(range(50))
