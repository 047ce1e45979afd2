"""Texts or pictures that wait for their vectors, in parts; a part disappears once it is done."""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.domain.datasets.dataset import VISION, Dataset
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix

# Texts of one part, about a second or two of work.
PART_TEXTS = 1_000
# Pictures of one part, a few seconds of work.
PART_PICTURES = 64


class PartStore:
    """Reads and writes parts."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def writer(self, dataset: Dataset, upload: str) -> PartWriter:
        """Begin the parts of one upload."""
        is_vision = dataset.family == VISION
        size = PART_PICTURES if is_vision else PART_TEXTS
        return PartWriter(self._artifacts, f"{_prefix(dataset.dataset_id)}{upload}", size)

    def waiting(self, dataset_id: int, upload: str = "") -> list[str]:
        """List the parts that wait, of one upload or of all, by key."""
        return self._artifacts.keys(_prefix(dataset_id) + (f"{upload}/" if upload else ""))

    def items(self, part: str) -> list[str] | None:
        """Read the texts or picture digests (hex) of a part; None when it is done."""
        items: list[str] | None = self._artifacts.get_json(part)
        return items

    def replace(self, part: str, items: list[str]) -> None:
        """Write a part anew; an empty one is done."""
        if items:
            self._artifacts.put_json(part, items)
        else:
            self.done(part)

    def discard(self, dataset_id: int, upload: str) -> None:
        """Remove the parts of an upload that failed."""
        self._artifacts.delete_prefix(f"{_prefix(dataset_id)}{upload}/")

    def done(self, part: str) -> None:
        """Remove a part."""
        self._artifacts.delete(part)


class PartWriter:
    """Collects texts or picture digests and writes each full part."""

    def __init__(self, artifacts: ArtifactStore, prefix: str, size: int) -> None:
        self._artifacts = artifacts
        self._prefix = prefix
        self._size = size
        self._items: list[str] = []
        self._number = 0

    def add(self, item: str) -> None:
        """Add one text, or the digest of a picture."""
        self._items.append(item)
        if len(self._items) == self._size:
            self.close()

    def close(self) -> None:
        """Write what is left."""
        if self._items:
            self._artifacts.put_json(f"{self._prefix}/{self._number:05d}.json", self._items)
            self._number += 1
            self._items = []


def work_off(
    waiting: Callable[[], list[str]],
    do: Callable[[str], object],
    check: Callable[[int, int], None],
) -> None:
    """Do parts that a queue does, too, the last ones first: the queue began with the others.

    Args:
        waiting: lists the parts that wait; those to come are left to the queue.
        do: does a part.
        check: called between parts with the parts done and all parts; raises to stop.
    """
    first = waiting()
    left = first
    while left:
        check(len(first) - len(left), len(first))
        do(left[-1])
        still = frozenset(waiting())
        left = [part for part in left[:-1] if part in still]


def _prefix(dataset_id: int) -> str:
    return f"{dataset_prefix(dataset_id)}parts/"
