"""Splits the texts or images of an upload into parts; one worker computes a part's vectors.

A part is deleted once its vectors are stored.
"""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.domain.datasets.dataset import VISION, Dataset
from chalicelib.domain.datasets.windows import find_windows
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix

# Windows of texts per part, which take a second or two.
PART_TEXTS = 1_000
# Images per part, which take a few seconds.
PART_PICTURES = 64


class PartStore:
    """Reads, writes and deletes parts."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def writer(self, dataset: Dataset, upload: str) -> PartWriter:
        """Return a writer for the parts of an upload."""
        is_vision = dataset.family == VISION
        size = PART_PICTURES if is_vision else PART_TEXTS
        return PartWriter(self._artifacts, f"{_prefix(dataset.dataset_id)}{upload}", size)

    def waiting(self, dataset_id: int, upload: str = "") -> list[str]:
        """Return the keys of the unfinished parts of a dataset, or of one of its uploads."""
        return self._artifacts.keys(_prefix(dataset_id) + (f"{upload}/" if upload else ""))

    def items(self, part: str) -> list[str] | None:
        """Return the texts or image digests (hex) of a part; None if it is finished and deleted."""
        items: list[str] | None = self._artifacts.get_json(part)
        return items

    def replace(self, part: str, items: list[str]) -> None:
        """Replace the items of a part; delete the part if no items are left."""
        if items:
            self._artifacts.put_json(part, items)
        else:
            self.delete(part)

    def discard(self, dataset_id: int, upload: str) -> None:
        """Delete the parts of a failed upload."""
        self._artifacts.delete_prefix(f"{_prefix(dataset_id)}{upload}/")

    def delete(self, part: str) -> None:
        """Delete a part that is finished."""
        self._artifacts.delete(part)


class PartWriter:
    """Collects texts or image digests, and writes a part as soon as it is full.

    All parts have about the same number of windows (sections of long texts), so they take about the
    same time.
    """

    def __init__(self, artifacts: ArtifactStore, prefix: str, size: int) -> None:
        self._artifacts = artifacts
        self._prefix = prefix
        self._size = size
        self._items: list[str] = []
        self._windows = 0
        self._number = 0

    def add(self, item: str) -> None:
        """Add a text or an image's digest."""
        self._items.append(item)
        self._windows += len(find_windows(item))
        if self._windows >= self._size:
            self.close()

    def close(self) -> None:
        """Write the remaining items as the last part."""
        if self._items:
            self._artifacts.put_json(f"{self._prefix}/{self._number:05d}.json", self._items)
            self._number += 1
            self._items, self._windows = [], 0


def process_parts(
    waiting: Callable[[], list[str]],
    do: Callable[[str], object],
    check: Callable[[int, int], None],
) -> None:
    """Process unfinished parts from the last to the first. Other workers start with the first.

    Args:
        waiting: returns the keys of unfinished parts. Parts that appear later are ignored.
        do: processes the part with a given key.
        check: called between parts with the numbers of finished parts and of all parts; may raise
            an error to stop.
    """
    # From the end, because workers of the queue start at the front. So a part is rarely done twice.
    first = waiting()
    left = first
    while left:
        check(len(first) - len(left), len(first))
        do(left[-1])
        still = frozenset(waiting())
        left = [part for part in left[:-1] if part in still]


def _prefix(dataset_id: int) -> str:
    return f"{dataset_prefix(dataset_id)}parts/"
