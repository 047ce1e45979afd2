"""Near rows share a bucket, and no bucket is large."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.text.similarity.buckets import TABLES, buckets


def test_near_rows_share_a_bucket() -> None:
    """Of 2,000 rows and noisy copies nearly all meet; each table has each row once."""
    generator = np.random.default_rng(0)
    originals = generator.standard_normal((2_000, 64))
    features = np.concatenate([originals, originals + 0.1 * generator.standard_normal((2_000, 64))])
    met, dealt = set(), np.zeros(4_000, int)

    for rows in buckets(features, np.arange(4_000)):
        dealt[rows] += 1
        members = set(rows.tolist())
        met |= {row for row in members if row + 2_000 in members}

    assert len(met) > 1_960
    assert dealt.max() == TABLES


def test_alike_rows_are_cut_into_small_buckets() -> None:
    """Rows that are all alike are divided into small buckets."""
    sizes = [len(rows) for rows in buckets(np.ones((3_000, 8)), np.arange(3_000))]

    assert max(sizes) == 256
    assert sum(sizes) == 3_000 * TABLES


def test_only_the_given_rows_are_dealt() -> None:
    """Only the given rows are assigned; a single row has no partner."""
    features = np.random.default_rng(0).standard_normal((50, 8))

    assert {int(row) for rows in buckets(features, np.array([3, 7])) for row in rows} == {3, 7}
    assert list(buckets(features, np.array([3]))) == []
