"""Writes the pictures of a data set as the zip archive that an upload takes."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from chalicelib.container import Container
from chalicelib.domain.dataset import DETECTION, DatasetView
from chalicelib.domain.example import Example

ANNOTATIONS = "annotations.csv"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Equal data gives equal archives."""


class Archive:
    """A zip archive whose members have different names."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names: set[str] = set()

    def add(self, folder: str, name: str, content: bytes) -> str:
        """Add a file under a free name and return that.

        A name that is taken gets a folder above, because the folder right above is the label.
        """
        place = str(PurePosixPath(folder, name))
        number = 2
        while place in self._names:
            place = str(PurePosixPath(str(number), folder, name))
            number += 1
        self._names.add(place)
        self._archive.writestr(zipfile.ZipInfo(place, _EPOCH), content)
        return place


def export_pictures(container: Container, view: DatasetView, source: str, place: Path) -> int:
    """Write the pictures of one source; return how many examples there are, no file for none.

    Args:
        container: reads the stack.
        view: the data set.
        source: `upload` or `feedback`; the file is called by it.
        place: folder to write to.

    Raises:
        StorageUnavailable: the storage did not answer.
    """
    dataset, names = view.dataset, {label.label_id: label.name for label in view.labels}
    path = place / f"{source}.zip"
    examples = container.stores.examples.read_all(dataset.dataset_id, source, dataset.counts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        archive = Archive(file)
        write = _write_boxes if dataset.type == DETECTION else _write_folders
        count = write(container, archive, dataset.dataset_id, _named(examples, names))
    if not count:
        path.unlink()
    return count


Named = tuple[Example, str]
"""An example and the name of its label."""


def _named(examples: Iterable[Example], names: dict[int, str]) -> Iterator[Named]:
    """Put the label's name beside each example."""
    return ((example, names[example.label_id]) for example in examples)


def _write_folders(
    container: Container, archive: Archive, dataset_id: int, examples: Iterable[Named]
) -> int:
    """Write each picture into the folder of its label; return how many."""
    count = 0
    for example, label in examples:
        archive.add(label, example.name, _picture(container, dataset_id, example))
        count += 1
    return count


def _write_boxes(
    container: Container, archive: Archive, dataset_id: int, examples: Iterable[Named]
) -> int:
    """Write each picture once, and the boxes of all of them; return how many boxes."""
    boxes: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], Example] = {}
    count = 0
    for example, label in examples:
        key = (example.picture, example.name)
        first.setdefault(key, example)
        boxes.setdefault(key, []).append(_cell(example, label))
        count += 1
    rows = []
    for key, example in first.items():
        place = archive.add("", example.name, _picture(container, dataset_id, example))
        rows.append([place, *boxes[key]])
    if rows:
        archive.add("", ANNOTATIONS, _annotations(rows))
    return count


def _annotations(rows: list[list[str]]) -> bytes:
    """Write the annotation file, its header as wide as the longest row."""
    width = max(map(len, rows)) - 1
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["image_file", *(f"box{number}" for number in range(width))])
    writer.writerows([*row, *[""] * (width + 1 - len(row))] for row in rows)
    return text.getvalue().encode()


def _cell(example: Example, label: str) -> str:
    """Write one box as its cell."""
    box = example.box
    if box is None:
        raise ValueError(f"example {example.example_id} of a detection has no box")
    sides = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    plain = {name: int(side) if side == int(side) else side for name, side in sides.items()}
    return json.dumps({"label": label, **plain}, ensure_ascii=False)


def _picture(container: Container, dataset_id: int, example: Example) -> bytes:
    """Read a picture file; one that was deleted meanwhile is empty."""
    return container.stores.pictures.get(dataset_id, example.picture) or b""
