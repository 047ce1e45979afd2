"""Writes the texts of a data set as the csv file that an upload takes."""

from __future__ import annotations

import csv
from pathlib import Path

from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import DatasetView
from infra.exports.labelled import labelled
from infra.exports.notes import Notes

_HEADER = ("text", "label")


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
    path, count = place / f"{source}.csv", 0
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        # Written always: an example that reads like a header would be taken for one.
        rows.writerow(_HEADER)
        for example, label in labelled(container, view, source):
            rows.writerow((example.name, label))
            count += 1
    if not count:
        path.unlink()
    return count
