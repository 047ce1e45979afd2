"""The decisions before a training: groups, split and folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.plan import Duplicates, make_plan
from tests.engines.text.clusters import a_training_set


def test_near_duplicates_are_kept_on_one_side() -> None:
    """Twenty duplicated texts are counted, and none is on both sides of the split."""
    examples = a_training_set([30] * 3, dims=(40,), spread=1.0)
    rows = np.concatenate([np.arange(90), np.arange(20)])
    doubled = replace(
        examples,
        blocks={name: block[rows] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[rows],
        digests=[examples.digests[row] for row in rows],
    )

    plan = make_plan(doubled, doubled.label_indexes, TextFitOptions())

    assert plan.duplicates == Duplicates(kept_together=20, across_split=0)
    held = set(plan.layout.examples(lambda part: part.is_held_out).tolist())
    assert 10 < len(held) < 35
    assert all((row in held) == (90 + row in held) for row in range(20))


def test_texts_of_the_same_words_are_kept_on_one_side() -> None:
    """Texts that differ in case and punctuation stay together, however distant their vectors."""
    examples = a_training_set([30] * 3, dims=(40,), spread=1.0)
    words = [bytes([row // 2]) for row in range(90)]

    plan = make_plan(
        replace(examples, word_digests=words), examples.label_indexes, TextFitOptions()
    )

    assert plan.duplicates == Duplicates(kept_together=45, across_split=0)
    held = set(plan.layout.examples(lambda part: part.is_held_out).tolist())
    assert 10 < len(held) < 35
    assert all((row in held) == (row + 1 in held) for row in range(0, 90, 2))


def test_texts_that_are_all_alike_are_torn_and_counted() -> None:
    """If every label is one group, groups are split, and the number is reported."""
    examples = a_training_set([10, 10])
    alike = replace(examples, digests=[bytes([label]) for label in examples.label_indexes.tolist()])

    plan = make_plan(alike, alike.label_indexes, TextFitOptions())

    assert plan.duplicates == Duplicates(kept_together=0, across_split=4)


def test_large_sets_hold_out_one_fold() -> None:
    """Thousands of examples use three folds, few five, very large sets one."""
    few = a_training_set([40] * 3)
    many = a_training_set([1_000] * 3, dims=(4,))
    wide = a_training_set([5] * 800, dims=(1_300,))

    plans = [make_plan(each, each.label_indexes, TextFitOptions()) for each in (few, many, wide)]

    assert [plan.folds for plan in plans] == [(0, 1, 2, 3, 4), (0, 1, 2), (0,)]
