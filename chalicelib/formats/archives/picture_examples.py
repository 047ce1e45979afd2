"""Checks labels of images and boxes; collects accepted examples. See contract section 5."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.domain.common.limits import MAX_NAME_CHARACTERS
from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.datasets.label_names import INVISIBLE, is_visible
from chalicelib.domain.documents.picture import Box

_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def find_label_fault(label: str) -> str:
    """Return why a trimmed label cannot be used; "" if it can be used."""
    if not label:
        return "the label is empty; give it a name of at least one visible character."
    found = _FORBIDDEN.search(label)
    if found:
        return f"the label holds the control character U+{ord(found.group()):04X}; remove it."
    if not label.isascii() and not is_visible(label):
        return f"{INVISIBLE} Write a name that can be read."
    return ""


def cut_label(label: str) -> str:
    """Cut a trimmed label to the maximum length that is stored."""
    if len(label) <= MAX_NAME_CHARACTERS:
        return label
    return label[:MAX_NAME_CHARACTERS].rstrip()


class LabelBook:
    """Finds different labels that become equal when they are cut to 180 characters.

    Add all labels before you call `find_fault`.
    """

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._merged: set[str] = set()

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, label: str) -> None:
        """Add a trimmed, valid label."""
        name = cut_label(label)
        digest = text_digest(label)
        if self._digests.setdefault(name, digest) != digest:
            self._merged.add(name)

    def find_fault(self, name: str) -> str:
        """Return an error text if several added labels begin with `name`; otherwise "".

        Args:
            name: The first 180 characters of a label that was added before.
        """
        if name not in self._merged:
            return ""
        return (
            f"the label equals another one when cut to {MAX_NAME_CHARACTERS} characters; make "
            f"the labels differ in their first {MAX_NAME_CHARACTERS} characters."
        )


@dataclass(frozen=True, slots=True)
class PictureItem:
    """An accepted example of an upload. It is a labelled image, or a labelled box of an image."""

    label: str
    """Label name, cut to 180 characters."""
    name: str
    """File name without folders, cut to 150 characters."""
    digest: bytes
    """Digest of the image file, 16 bytes."""
    box: Box | None
    """Box of the object, clipped to the image; None if the dataset is not for detection."""


class PictureItems:
    """The accepted examples of an upload, in order. They can be iterated several times."""

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
        """Add an image file. Examples that `add` adds afterwards belong to this file."""
        self._files.append((name, digest))

    def add(self, label: str, box: Box | None = None) -> None:
        """Add an example of the last image file. Examples with and without box cannot be mixed."""
        index = self._label_indexes.setdefault(label, len(self._labels))
        if index == len(self._labels):
            self._labels.append(label)
        self._label_of.append(index)
        self._file_of.append(len(self._files) - 1)
        if box is not None:
            self._sides.extend((box.x, box.y, box.width, box.height))
