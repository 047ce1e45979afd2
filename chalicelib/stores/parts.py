"""Texts that wait to be embedded, in parts of 1,000; a part disappears once it is done."""

from __future__ import annotations

from chalicelib.domain.dataset import Dataset
from chalicelib.stores.artifacts import ArtifactStore, dataset_prefix

PART_TEXTS = 1_000
"""Texts of one part, about a second or two of work."""


class PartStore:
    """Reads and writes parts."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def writer(self, dataset: Dataset, upload: str) -> PartWriter:
        """Begin the parts of one upload."""
        return PartWriter(self._artifacts, f"{_prefix(dataset.dataset_id)}{upload}")

    def waiting(self, dataset_id: int) -> list[str]:
        """List the parts that wait, by key.

        Raises:
            StorageUnavailable: the bucket did not answer.
        """
        return self._artifacts.keys(_prefix(dataset_id))

    def texts(self, part: str) -> list[str] | None:
        """Read the texts of a part; None when it is done.

        Raises:
            StorageUnavailable: the bucket did not answer.
        """
        texts: list[str] | None = self._artifacts.get_json(part)
        return texts

    def done(self, part: str) -> None:
        """Remove a part.

        Raises:
            StorageUnavailable: it may still be there; embedding it again is harmless.
        """
        self._artifacts.delete(part)


class PartWriter:
    """Collects texts and writes each full part."""

    def __init__(self, artifacts: ArtifactStore, prefix: str) -> None:
        self._artifacts = artifacts
        self._prefix = prefix
        self._texts: list[str] = []
        self._number = 0

    def add(self, text: str) -> None:
        """Add one text.

        Raises:
            StorageUnavailable: a part may not have been written.
        """
        self._texts.append(text)
        if len(self._texts) == PART_TEXTS:
            self.close()

    def close(self) -> None:
        """Write what is left.

        Raises:
            StorageUnavailable: the part may not have been written.
        """
        if self._texts:
            self._artifacts.put_json(f"{self._prefix}/{self._number:05d}.json", self._texts)
            self._number += 1
            self._texts = []


def _prefix(dataset_id: int) -> str:
    """Folder of a dataset's waiting parts."""
    return f"{dataset_prefix(dataset_id)}parts/"
