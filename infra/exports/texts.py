"""Writes the texts of a data set as the csv file that an upload takes."""

from __future__ import annotations

import csv
from pathlib import Path

from chalicelib.container import Container
from chalicelib.domain.dataset import DatasetView

_HEADER = ("text", "label")


def export_texts(container: Container, view: DatasetView, source: str, place: Path) -> int:
    """Write the texts of one source; return how many there are, and no file for none.

    Args:
        container: reads the stack.
        view: the data set.
        source: `upload` or `feedback`; the file is called by it.
        place: folder to write to.

    Raises:
        StorageUnavailable: the storage did not answer.
    """
    dataset, names = view.dataset, {label.label_id: label.name for label in view.labels}
    path, count = place / f"{source}.csv", 0
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        # Written always: an example that reads like a header would be taken for one.
        rows.writerow(_HEADER)
        for example in container.stores.examples.read_all(
            dataset.dataset_id, source, dataset.counts
        ):
            rows.writerow((example.name, names[example.label_id]))
            count += 1
    if not count:
        path.unlink()
    return count
