"""Finds near-duplicate images: equal files, and files with almost equal features.

Near-duplicates must be in the same part of a split. Otherwise the metrics on the held-out part
would be too good. If near-duplicates have different labels, one label is probably wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.vision.similarity.vectors import unit_roots, unit_rows

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Ints
    from chalicelib.engines.vision.features.table import Rows

# Minimum cosine of centred root features of near-duplicates. A second compression in good quality
# leaves .98; different images of one object stay below this value.
CLOSE_COSINE = 0.95
# Maximum number of listed pairs; further pairs only join groups.
MAX_PAIRS = 100_000
_EXHAUSTIVE = 6_000
_BLOCK = 1_024
_BUCKET = 512
_TABLES = 4
_STEPS = 2.0**13
_MEAN_ROWS = 2_048


class Pairs(NamedTuple):
    """Pairs of near-duplicate images."""

    left: Ints
    """Index of the first image of each pair, the lower one, int, shape (pairs,)."""
    right: Ints
    """Index of the second image of each pair, int, shape (pairs,)."""
    cosines: Doubles
    """Cosine of the two images' features, float64, shape (pairs,); 1 for equal files."""


class DuplicateFinder:
    """Finds near-duplicates in steps, one block of images per step. The state can be saved.

    If there are more than 6,000 images, random hyperplanes divide them into buckets, and only
    images in the same bucket are compared. This finds most near-duplicates, but not all.
    """

    def __init__(self, rows: Rows, dims: int, digests: Sequence[bytes]) -> None:
        """Prepare the search, and group equal files.

        Args:
            rows: reads the features of the images.
            dims: the first `dims` features of each image are compared; they must not be negative.
            digests: digests of the image files.
        """
        self._rows = rows
        self._dims = dims
        self._parents = np.arange(len(digests))
        self._found: list[tuple[int, int, float]] = []
        self._next = 0
        first: dict[bytes, int] = {}
        for place, digest in enumerate(digests):
            original = first.setdefault(digest, place)
            if original != place:
                self._join(original, place, 1.0)
        self._unique = np.array(sorted(first.values()), np.int64)
        self._work: list[tuple[Ints, Ints]] | None = None
        self._mean: Doubles | None = None

    @property
    def is_done(self) -> bool:
        """Whether all images have been compared."""
        return self._work is not None and self._next >= len(self._work)

    @property
    def share(self) -> float:
        """Progress of the search, 0 to 1."""
        return self._next / max(len(self._work), 1) if self._work is not None else 0.0

    def step(self) -> None:
        """Compare the next block of images with the images after it."""
        if self._work is None:
            self._work = list(self._comparisons())
            return
        left, right = self._work[self._next]
        self._next += 1
        cosines = (self._units(left) @ self._units(right).T) / (_STEPS * _STEPS)
        near, far = np.nonzero(cosines > CLOSE_COSINE)
        is_pair = right[far] > left[near]
        for one, other in zip(near[is_pair].tolist(), far[is_pair].tolist(), strict=True):
            cosine = min(1.0, float(cosines[one, other]))
            self._join(int(left[one]), int(right[other]), cosine)

    def groups(self) -> Ints:
        """Return, for each image, the lowest index in its group, int, shape (images,)."""
        return np.array([self._root(place) for place in range(len(self._parents))], np.int64)

    def pairs(self) -> Pairs:
        """Return each pair of near-duplicates once, sorted by index."""
        table = sorted({(left, right): cosine for left, right, cosine in self._found}.items())
        left = np.array([pair[0] for pair, _ in table], np.int64)
        right = np.array([pair[1] for pair, _ in table], np.int64)
        return Pairs(left, right, np.array([cosine for _, cosine in table], np.float64))

    def save(self) -> dict[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        return {
            "parents": self._parents,
            "found": np.array(self._found, np.float64).reshape(-1, 3),
            "next": np.array([self._next if self._work is not None else -1]),
        }

    def restore(self, arrays: dict[str, Array]) -> None:
        """Resume from the arrays that `save` returned."""
        self._parents = arrays["parents"].astype(np.int64)
        self._found = [(int(one), int(other), float(cos)) for one, other, cos in arrays["found"]]
        begun = int(arrays["next"][0])
        if begun >= 0:
            self._work = list(self._comparisons())
            self._next = begun

    def _comparisons(self) -> Iterator[tuple[Ints, Ints]]:
        unique = self._unique
        if len(unique) <= _EXHAUSTIVE:
            for first in range(0, len(unique), _BLOCK):
                yield unique[first : first + _BLOCK], unique[first:]
            return
        for codes in self._codes(unique):
            order = np.lexsort((unique, codes))
            bounds = np.flatnonzero(np.diff(codes[order])) + 1
            for bucket in np.split(unique[order], bounds):
                # A bucket of similar images is searched with a window, so that work stays bounded.
                for first in range(0, len(bucket), _BLOCK):
                    yield bucket[first : first + _BLOCK], bucket[first : first + 2 * _BLOCK]

    def _codes(self, places: Ints) -> Iterator[Ints]:
        generator = np.random.default_rng(0)
        bits = max(1, int(len(places) / _BUCKET).bit_length())
        planes = generator.integers(0, 2, (self._dims, _TABLES * bits)).astype(np.float64) * 2 - 1
        signs = np.empty((len(places), _TABLES * bits), bool)
        for first in range(0, len(places), _BLOCK):
            part = places[first : first + _BLOCK]
            signs[first : first + _BLOCK] = self._units(part) @ planes > 0
        for table in range(_TABLES):
            yield signs[:, table * bits : (table + 1) * bits] @ (1 << np.arange(bits))

    def _units(self, places: Ints) -> Doubles:
        if self._mean is None:
            spread = np.linspace(0, len(self._unique) - 1, min(_MEAN_ROWS, len(self._unique)))
            chosen = self._unique[spread.astype(np.int64)]
            self._mean = np.add.reduce(self._roots(chosen), axis=0) / len(chosen)
        # Whole numbers keep every sum of products exact, so no BLAS kernel changes the pairs.
        whole: Doubles = np.rint(unit_rows(self._roots(places) - self._mean) * _STEPS)
        return whole

    def _roots(self, places: Ints) -> Doubles:
        return unit_roots(self._rows.raw(self._rows.first[places])[:, : self._dims])

    def _root(self, place: int) -> int:
        parents = self._parents
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = int(parents[place])
        return place

    def _join(self, left: int, right: int, cosine: float) -> None:
        if len(self._found) < MAX_PAIRS:
            self._found.append((min(left, right), max(left, right), cosine))
        low, high = sorted((self._root(left), self._root(right)))
        self._parents[high] = low
