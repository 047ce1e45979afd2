"""Writes the images of a dataset as a zip archive that can be uploaded."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import DETECTION, DatasetView
from chalicelib.domain.datasets.example import Example
from chalicelib.formats.exports.names import as_step
from infra.exports.examples import Labelled, Notes, labelled

ANNOTATIONS = "annotations.csv"
# Equal data gives equal archives.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class PictureArchive:
    """A zip archive of a dataset's images, with unique file names.

    Args:
        archive: archive to write to.
        container: services and stores of the stack.
        dataset_id: dataset of the images.
        notes: receives missing images and changed names.
    """

    def __init__(
        self, archive: zipfile.ZipFile, container: Container, dataset_id: int, notes: Notes
    ) -> None:
        self._archive = archive
        self._pictures = container.stores.pictures
        self._dataset_id = dataset_id
        self._notes = notes
        self._names: set[str] = {ANNOTATIONS}

    def add_picture(self, label: str, example: Example) -> str | None:
        """Add the image of an example; return its path, or None if the image is missing.

        Args:
            label: name of the folder; empty for none.
            example: example of the image.
        """
        content = self._pictures.get(self._dataset_id, example.picture)
        if content is None:
            gap = {"id": example.example_id, "name": example.name, "picture": example.picture}
            self._notes.missing.append(gap)
            return None
        steps = [self._notes.name(step, as_step(step)) for step in (label, example.name) if step]
        return self.add(PurePosixPath(*steps), content)

    def add(self, path: PurePosixPath, content: bytes) -> str:
        """Add a file under an unused name, and return the name.

        A name that is in use gets an additional folder above, because the innermost folder is the
        label.
        """
        place, number = str(path), 2
        while place in self._names:
            place = str(PurePosixPath(str(number), path))
            number += 1
        self._names.add(place)
        self._archive.writestr(zipfile.ZipInfo(place, _EPOCH), content)
        return place

    def annotate(self, content: bytes) -> None:
        """Add the annotation file with the boxes."""
        self._archive.writestr(zipfile.ZipInfo(ANNOTATIONS, _EPOCH), content)


def export_pictures(
    container: Container, view: DatasetView, source: str, place: Path, notes: Notes
) -> int:
    """Write the images of one source, if any, to an archive; return the number of examples.

    Args:
        container: services and stores of the stack.
        view: the dataset.
        source: `upload` or `feedback`, also the name of the file.
        place: folder to write to.
        notes: receives missing images and changed names.
    """
    path = place / f"{source}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        archive = PictureArchive(file, container, view.dataset.dataset_id, notes)
        write = _write_boxes if view.dataset.type == DETECTION else _write_folders
        count = write(archive, labelled(container, view, source))
    if not count:
        path.unlink()
    return count


def _write_folders(archive: PictureArchive, examples: Iterable[Labelled]) -> int:
    return sum(archive.add_picture(label, example) is not None for example, label in examples)


def _write_boxes(archive: PictureArchive, examples: Iterable[Labelled]) -> int:
    """Write each image once, and the boxes as annotation file; return the number of boxes."""
    boxes: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], Example] = {}
    for example, label in examples:
        key = (example.picture, example.name)
        first.setdefault(key, example)
        boxes.setdefault(key, []).append(_cell(example, label))
    places = {key: archive.add_picture("", example) for key, example in first.items()}
    rows = [[place, *boxes[key]] for key, place in places.items() if place is not None]
    if rows:
        archive.annotate(_annotations(rows))
    return sum(len(row) - 1 for row in rows)


def _annotations(rows: list[list[str]]) -> bytes:
    """Return the annotation file as CSV; every row has as many cells as the longest one."""
    width = max(map(len, rows)) - 1
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["image_file", *(f"box{number}" for number in range(width))])
    writer.writerows([*row, *[""] * (width + 1 - len(row))] for row in rows)
    return text.getvalue().encode()


def _cell(example: Example, label: str) -> str:
    box = example.box
    if box is None:
        raise ValueError(f"example {example.example_id} of a detection has no box")
    sides = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    plain = {name: int(side) if side == int(side) else side for name, side in sides.items()}
    return json.dumps({"label": label, **plain}, ensure_ascii=False)
