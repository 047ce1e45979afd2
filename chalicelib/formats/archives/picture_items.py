"""Kept examples of an archive in little memory: 40 bytes each, beside names and digests.

Made by chalicelib/formats/archives/picture_scan.py, read by the ingest.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.domain.documents.box import Box


@dataclass(frozen=True, slots=True)
class PictureItem:
    """One example that the upload brings."""

    label: str
    """Label name, cut to 180 characters."""
    name: str
    """File name without folders, cut to 150 characters."""
    digest: bytes
    """Digest of the picture file, 16 bytes."""
    box: Box | None
    """Detection: the object, clipped to the picture; None for the other types."""


class PictureItems:
    """The examples in the order in which they were kept; may be read any number of times."""

    def __init__(self) -> None:
        self._labels: list[str] = []
        self._label_indexes: dict[str, int] = {}
        self._files: list[tuple[str, bytes]] = []
        self._label_of, self._file_of = array("I"), array("I")
        self._sides = array("d")

    def __len__(self) -> int:
        return len(self._label_of)

    def __iter__(self) -> Iterator[PictureItem]:
        has_boxes = bool(self._sides)
        for at, (label, file) in enumerate(zip(self._label_of, self._file_of, strict=True)):
            box = Box(*self._sides[4 * at : 4 * at + 4]) if has_boxes else None
            name, digest = self._files[file]
            yield PictureItem(self._labels[label], name, digest, box)

    def add_file(self, name: str, digest: bytes) -> None:
        """Name the picture file of the examples that follow."""
        self._files.append((name, digest))

    def add(self, label: str, box: Box | None = None) -> None:
        """Add an example of the file that was added last; all have a box, or none."""
        index = self._label_indexes.setdefault(label, len(self._labels))
        if index == len(self._labels):
            self._labels.append(label)
        self._label_of.append(index)
        self._file_of.append(len(self._files) - 1)
        if box is not None:
            self._sides.extend((box.x, box.y, box.width, box.height))
