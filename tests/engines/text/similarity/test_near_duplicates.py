"""Groups of near-duplicate texts."""

from __future__ import annotations

import time

import numpy as np
import pytest

from chalicelib.engines.text.similarity import near_duplicates
from chalicelib.engines.text.similarity.near_duplicates import group_near_duplicates


def _digests(numbers: list[int]) -> list[bytes]:
    return [number.to_bytes(4, "big") for number in numbers]


def _groups(features: np.ndarray, labels: list[int], numbers: list[int]) -> list[int]:
    rows = np.asarray(features, float)
    return group_near_duplicates(
        _digests(numbers), np.array(labels), lambda chosen: rows[chosen]
    ).tolist()


def test_close_texts_of_a_label_are_one_group() -> None:
    """Within a label a cosine of 0.998 joins texts, 0.89 does not; length is ignored."""
    features = np.array([[1, 0], [2, 0.1], [1, 0.5], [0, 1]])

    assert _groups(features, [0, 0, 0, 0], [0, 1, 2, 3]) == [0, 0, 2, 3]


def test_close_texts_of_two_labels_stay_apart() -> None:
    """Across labels only equal texts are joined."""
    features = np.array([[1, 0], [1, 0.01], [0, 1], [0, 1]])

    assert _groups(features, [0, 1, 0, 1], [0, 1, 2, 2]) == [0, 1, 2, 2]


def test_chains_are_one_group() -> None:
    """Near-duplicates are transitive."""
    angles = np.radians([0, 15, 30, 90])
    features = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    assert _groups(features, [0, 0, 0, 0], [0, 1, 2, 3]) == [0, 0, 0, 3]


def test_zero_vectors_are_no_duplicates() -> None:
    """Zero vectors are not near-duplicates."""
    assert _groups(np.zeros((3, 2)), [0, 0, 0], [0, 1, 2]) == [0, 1, 2]


def test_large_labels_are_searched_in_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the exhaustive limit nearly all near-duplicates are found, and no others."""
    monkeypatch.setattr(near_duplicates, "_EXHAUSTIVE_ROWS", 100)
    generator = np.random.default_rng(0)
    originals = generator.standard_normal((300, 40))
    copies = originals + 0.05 * generator.standard_normal((300, 40))
    features = np.concatenate([originals, copies])

    groups = _groups(features, [0] * 600, list(range(600)))

    found = sum(groups[300 + row] == row for row in range(300))
    assert groups[:300] == list(range(300))
    assert found >= 285


def test_equal_and_alike_texts_are_grouped_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of equal texts are one group within seconds."""
    generator = np.random.default_rng(0)
    features = 1 + 0.01 * generator.standard_normal((3_000, 16))
    start = time.process_time()

    assert set(_groups(features, [0] * 3_000, list(range(3_000)))) == {0}
    assert set(_groups(features, [0] * 3_000, [1] * 3_000)) == {0}
    monkeypatch.setattr(near_duplicates, "_EXHAUSTIVE_ROWS", 100)
    assert len(set(_groups(features, [0] * 3_000, list(range(3_000))))) == 1
    assert time.process_time() - start < 12
