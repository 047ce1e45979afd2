"""Near-duplicate images: equal files and similar features, in small and large sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from chalicelib.engines.vision.features.table import Rows
from chalicelib.engines.vision.similarity import near_duplicates
from chalicelib.engines.vision.similarity.near_duplicates import DuplicateFinder
from tests.engines.vision.heads_data import ArrayFeatures, digest_of


def _features(pictures: int, copies: Sequence[tuple[int, int]] = ()) -> np.ndarray:
    values = np.abs(np.random.default_rng(5).normal(size=(pictures, 1, 64)))
    for original, copy in copies:
        values[copy] = values[original] * 1.02 + 0.001
    return values.astype(np.float16)


def _finder(values: np.ndarray, digests: Sequence[bytes] | None = None) -> DuplicateFinder:
    own = [digest_of(place) for place in range(len(values))] if digests is None else digests
    return DuplicateFinder(
        Rows(ArrayFeatures(values), [f"p{place}.png" for place in range(len(values))]), 64, own
    )


def _run(finder: DuplicateFinder) -> DuplicateFinder:
    while not finder.is_done:
        finder.step()
    return finder


def test_equal_files_and_like_features_are_joined() -> None:
    """Equal files and similar features are pairs; a group's number is its lowest index."""
    values = _features(30, [(3, 20)])
    digests = [digest_of(place) for place in range(30)]
    digests[25] = digests[20]

    finder = _run(_finder(values, digests))

    groups, pairs = finder.groups(), finder.pairs()
    assert groups[[3, 20, 25]].tolist() == [3, 3, 3]
    assert len(np.unique(groups)) == 28
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == [(3, 20), (20, 25)]
    assert 0.95 < pairs.cosines[0] <= 1.0 == pairs.cosines[1]


def test_other_pictures_stay_apart() -> None:
    """Images with different features are not paired."""
    finder = _run(_finder(_features(50)))

    assert len(finder.pairs().left) == 0
    np.testing.assert_array_equal(np.arange(50), finder.groups())


def test_large_sets_are_searched_in_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the exhaustive limit nearly all copies are found, and nothing else."""
    monkeypatch.setattr(near_duplicates, "_EXHAUSTIVE", 100)
    monkeypatch.setattr(near_duplicates, "_BUCKET", 50)
    copies = [(place, place + 200) for place in range(0, 200, 4)]

    pairs = _run(_finder(_features(400, copies), None)).pairs()

    found = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert found <= set(copies)
    assert len(found) >= 0.9 * len(copies)


def test_a_finder_goes_on_from_saved_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search resumed between any two steps finds the same pairs and groups."""
    monkeypatch.setattr(near_duplicates, "_BLOCK", 16)
    values = _features(60, [(1, 40), (41, 42), (5, 59)])
    whole = _run(_finder(values))

    resumed = _finder(values)
    while not resumed.is_done:
        resumed.step()
        saved = resumed.save()
        resumed = _finder(values)
        resumed.restore(saved)

    np.testing.assert_array_equal(whole.groups(), resumed.groups())
    for expected, found in zip(whole.pairs(), resumed.pairs(), strict=True):
        np.testing.assert_array_equal(expected, found)
