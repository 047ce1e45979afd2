"""Near-duplicates with different labels."""

from __future__ import annotations

import time

import numpy as np

from chalicelib.engines.text.similarity.conflicts import ConflictingRows, conflicting_pairs


def _digests(numbers: list[int]) -> list[bytes]:
    return [number.to_bytes(4, "big") for number in numbers]


def test_the_most_alike_come_first() -> None:
    """Pairs are ordered by cosine; distant pairs and pairs with one label are not listed."""
    features = np.array([[1, 0], [1, 0.1], [1, 0], [0, 1], [0.2, 1], [1, 0.1]], float)

    found = conflicting_pairs(
        _digests([1, 2, 1, 3, 4, 5]), np.array([0, 1, 1, 0, 1, 1]), features, 9
    )

    assert found[0] == ConflictingRows(1.0, 0, 2)
    assert [(pair.left, pair.right) for pair in found[1:]] == [(0, 1), (0, 5), (3, 4)]
    assert found[1].similarity == round(1 / 1.01**0.5, 6)


def test_one_text_under_many_labels_is_named_once_for_each() -> None:
    """A text under many labels is listed once for each other label."""
    labels = np.array([0, 1, 2, 1, 0, 2])

    found = conflicting_pairs(_digests([7] * 6), labels, np.ones((6, 4)), 9)

    assert found == [ConflictingRows(1.0, 0, 1), ConflictingRows(1.0, 0, 2)]


def test_planted_pairs_are_found_among_many() -> None:
    """Nearly all of 60 pairs among 6,000 texts are found, and nothing else."""
    generator = np.random.default_rng(0)
    features = generator.standard_normal((6_000, 48))
    features[3_000:3_060] = features[:60] + 0.1 * generator.standard_normal((60, 48))
    labels = np.repeat([0, 1], 3_000)

    found = conflicting_pairs(_digests(list(range(6_000))), labels, features, 100)

    assert all(pair.right == pair.left + 3_000 for pair in found)
    assert len(found) >= 57


def test_texts_that_are_all_alike_end_soon() -> None:
    """Eight thousand near-duplicates with ten labels give the hundred nearest within seconds."""
    generator = np.random.default_rng(0)
    features = 1 + 0.01 * generator.standard_normal((8_000, 16))
    start = time.process_time()

    found = conflicting_pairs(_digests(list(range(8_000))), np.arange(8_000) % 10, features, 100)

    assert len(found) == 100
    assert [pair.similarity for pair in found] == sorted(
        (p.similarity for p in found), reverse=True
    )
    assert time.process_time() - start < 20


def test_nothing_to_compare() -> None:
    """Zero vectors, and a single text, have no near-duplicates."""
    assert conflicting_pairs(_digests([1, 2]), np.array([0, 1]), np.zeros((2, 4)), 9) == []
    assert conflicting_pairs(_digests([1]), np.array([0]), np.ones((1, 4)), 9) == []
