"""The examples of a data set: read, noted where they cannot be written, texts written as csv."""

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
    """Yield every example of a source, label by label, in order.

    Args:
        container: reads the stack.
        view: the data set.
        source: `upload` or `feedback`.
    """
    dataset, names = view.dataset, {label.label_id: label.name for label in view.labels}
    for example in container.stores.examples.read_all(dataset.dataset_id, source, dataset.counts):
        yield example, names[example.label_id]


NOTES = "notes.json"


@dataclass
class Notes:
    """Gaps and changes."""

    missing: list[dict[str, object]] = field(default_factory=list)
    """Examples whose picture is not in the storage."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Labels and file names that no archive can hold, as they are exported."""

    def name(self, stored: str, exported: str) -> str:
        """Note a changed name, and return the exported one."""
        if stored != exported:
            self.renamed[stored] = exported
        return exported

    def write(self, place: Path) -> str:
        """Write a file next to the data if it has content, and return a line about it."""
        if not self.missing and not self.renamed:
            return ""
        content = {"missing": self.missing, "renamed": self.renamed}
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (place / NOTES).write_text(text + "\n", encoding="utf-8")
        return (
            f"{len(self.missing)} examples have no picture in the storage and are left out, "
            f"{len(self.renamed)} names are written otherwise: see {place / NOTES}"
        )


def export_texts(
    container: Container, view: DatasetView, source: str, place: Path, _: Notes
) -> int:
    """Write the texts of one source; return how many there are, and no file for none.

    Args:
        container: reads the stack.
        view: the data set.
        source: `upload` or `feedback`; the file is called by it.
        place: folder to write to.
    """
    path = place / f"{source}.csv"
    with path.open("wb") as file:
        rows = ((example.name, label) for example, label in labelled(container, view, source))
        count = write_csv(file, rows, [label.name for label in view.labels])
    if not count:
        path.unlink()
    return count
