"""Reads the examples of a dataset, writes texts as CSV, and notes what cannot be written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.example import Example
from chalicelib.formats.exports.texts import write_csv

# An example and the name of its label.
Labelled = tuple[Example, str]


def labelled(container: Container, view: DatasetView, source: str) -> Iterator[Labelled]:
    """Yield all examples of a source, label by label, in order.

    Args:
        container: services and stores of the stack.
        view: the dataset.
        source: `upload` or `feedback`.
    """
    dataset, names = view.dataset, {label.label_id: label.name for label in view.labels}
    for example in container.stores.examples.read_all(dataset.dataset_id, source, dataset.counts):
        yield example, names[example.label_id]


NOTES = "notes.json"


@dataclass
class Notes:
    """Missing images and changed names of an export."""

    missing: list[dict[str, object]] = field(default_factory=list)
    """Examples whose image is not in the storage."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Labels and file names that an archive cannot contain, with the exported names."""

    def name(self, stored: str, exported: str) -> str:
        """Note that a name was changed, and return the exported name."""
        if stored != exported:
            self.renamed[stored] = exported
        return exported

    def write(self, place: Path) -> str:
        """Write the notes, if any, to a file next to the data; return a line for the user."""
        if not self.missing and not self.renamed:
            return ""
        content = {"missing": self.missing, "renamed": self.renamed}
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (place / NOTES).write_text(text + "\n", encoding="utf-8")
        return (
            f"{len(self.missing)} examples have no image in the storage and are left out, "
            f"{len(self.renamed)} names are written otherwise: see {place / NOTES}"
        )


def export_texts(
    container: Container, view: DatasetView, source: str, place: Path, _: Notes
) -> int:
    """Write the texts of one source to a file, if there are any; return their number.

    Args:
        container: services and stores of the stack.
        view: the dataset.
        source: `upload` or `feedback`, also the name of the file.
        place: folder to write to.
    """
    path = place / f"{source}.csv"
    with path.open("wb") as file:
        rows = ((example.name, label) for example, label in labelled(container, view, source))
        count = write_csv(file, rows, [label.name for label in view.labels])
    if not count:
        path.unlink()
    return count
