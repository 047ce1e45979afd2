"""Writes archives of images that can be uploaded again: folders, annotations.csv, COCO, YOLO, VOC.

Images are added one after the other. Annotations are collected in a temporary file and written
last. So memory holds only one image, and the names of all images.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import BinaryIO, Self
from xml.sax.saxutils import escape

from chalicelib.domain.common.limits import MAX_DETECTION_IMAGE_BYTES
from chalicelib.domain.documents.picture import Box
from chalicelib.domain.jobs.export import COCO, VOC, YOLO, ZIP
from chalicelib.formats.exports.names import FreeNames, as_step, stem
from chalicelib.formats.pictures.reading import picture_facts

# A fixed time, so that equal data results in equal archives.
_EPOCH = (1980, 1, 1, 0, 0, 0)
# The boxes of most datasets need less memory, and then no file is created.
_SPOOL_BYTES = 1 << 20


@dataclass(frozen=True)
class ExportedBox:
    """A box of an image."""

    label: int
    """Index of the label in the list of the archive's labels."""
    box: Box
    """The box in pixels of the image as displayed."""


@dataclass(frozen=True)
class ExportedPicture:
    """An image with its boxes."""

    name: str
    """File name of the image in the dataset."""
    content: bytes
    """Bytes of the image file."""
    boxes: Sequence[ExportedBox]
    """Boxes of the image, in the order of the dataset."""


class _Spool:
    """A list of JSON values in memory. A long list is moved to a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115 - see close
        self.count = 0

    def add(self, value: object) -> None:
        self._file.write(json.dumps(value).encode() + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[list[str]]:
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line)

    def close(self) -> None:
        self._file.close()


class ExportArchive:
    """A zip archive of images, to be used in a `with` block. Only its text files are compressed."""

    def __init__(self, file: BinaryIO) -> None:
        """Start an archive; `file` stays open."""
        self._open = ExitStack()
        self._zip = self._open.enter_context(zipfile.ZipFile(file, "w", zipfile.ZIP_STORED))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._open.close()

    @property
    def entries(self) -> int:
        """Return the number of files in the archive."""
        return len(self._zip.filelist)

    def finish(self) -> None:
        """Write the files that follow the last image, such as annotations."""

    def _spool(self) -> _Spool:
        return self._open.enter_context(closing(_Spool()))

    def _add_picture(self, path: str, content: bytes) -> None:
        self._zip.writestr(zipfile.ZipInfo(path, _EPOCH), content)

    def _add_text(self, path: str, parts: Iterable[str]) -> None:
        entry = zipfile.ZipInfo(path, _EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for part in parts:
                file.write(part.encode())


class PictureFolders(ExportArchive):
    """An archive with a folder for each label."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._names: dict[str, FreeNames] = {}

    def add(self, label: str, name: str, content: bytes) -> None:
        """Add an image to the folder of its label."""
        folder = as_step(label)
        # Folders that differ in case only are the same on some file systems.
        names = self._names.setdefault(folder.casefold(), FreeNames())
        self._add_picture(f"{folder}/{names.take(as_step(name))}", content)


class BoxArchive(ExportArchive):
    """Base class of archives of images with boxes."""

    def __init__(self, file: BinaryIO, labels: Sequence[str]) -> None:
        """Start an archive.

        Args:
            file: Receives the archive; stays open.
            labels: Names of the labels; boxes refer to them by index.
        """
        super().__init__(file)
        self._labels = labels

    @abstractmethod
    def add(self, picture: ExportedPicture) -> None:
        """Add an image with its boxes."""


class AnnotatedPictures(BoxArchive):
    """An archive with images and one `annotations.csv` in the same folder."""

    def __init__(self, file: BinaryIO, labels: Sequence[str]) -> None:
        super().__init__(file, labels)
        self._names = FreeNames()
        self._names.take("annotations.csv")
        self._rows = self._spool()
        self._width = 0

    def add(self, picture: ExportedPicture) -> None:
        """Add an image with its boxes."""
        name = self._names.take(as_step(picture.name))
        self._add_picture(name, picture.content)
        cells = [self._cell(box) for box in picture.boxes]
        self._rows.add([name, *cells])
        self._width = max(self._width, len(cells))

    def finish(self) -> None:
        """Write annotations.csv. The longest row determines its number of columns."""
        text = io.StringIO()
        writer = csv.writer(text)

        def lines() -> Iterator[str]:
            writer.writerow(["image_file", *(f"box{number}" for number in range(self._width))])
            for row in self._rows:
                yield _taken(text)
                writer.writerow([*row, *[""] * (self._width + 1 - len(row))])
            yield _taken(text)

        self._add_text("annotations.csv", lines())

    def _cell(self, box: ExportedBox) -> str:
        cell = {"label": self._labels[box.label], **_sides(box.box)}
        return json.dumps(cell, ensure_ascii=False)


class CocoPictures(BoxArchive):
    """An archive with images in `images/`, and the COCO document `instances.json`."""

    def __init__(self, file: BinaryIO, labels: Sequence[str]) -> None:
        super().__init__(file, labels)
        self._names = FreeNames()
        self._images, self._annotations = self._spool(), self._spool()

    def add(self, picture: ExportedPicture) -> None:
        """Add an image with its boxes."""
        name = self._names.take(as_step(picture.name))
        self._add_picture(f"images/{name}", picture.content)
        width, height = _size(picture)
        number = self._images.count + 1
        self._images.add({"id": number, "file_name": name, "width": width, "height": height})
        for box in picture.boxes:
            x, y, wide, high = _sides(box.box).values()
            self._annotations.add(
                {
                    "id": self._annotations.count + 1,
                    "image_id": number,
                    "category_id": box.label + 1,
                    "bbox": [x, y, wide, high],
                    "area": wide * high,
                    "iscrowd": 0,
                }
            )

    def finish(self) -> None:
        """Write the COCO document."""
        categories = [{"id": at, "name": name} for at, name in enumerate(self._labels, 1)]

        def parts() -> Iterator[str]:
            for member, values in (("images", self._images), ("annotations", self._annotations)):
                yield f'{"," if member == "annotations" else "{"}"{member}":[\n'
                for place, value in enumerate(values):
                    yield ("," if place else "") + _json(value) + "\n"
                yield "]"
            yield f',"categories":{_json(categories)}}}\n'

        self._add_text("instances.json", parts())


class YoloPictures(BoxArchive):
    """An archive with images in `images/`, a text file per image in `labels/`, and `data.yaml`."""

    def __init__(self, file: BinaryIO, labels: Sequence[str]) -> None:
        super().__init__(file, labels)
        self._names = FreeNames(by_stem=True)

    def add(self, picture: ExportedPicture) -> None:
        """Add an image with its boxes. Boxes are written as fractions of width and height."""
        name = self._names.take(as_step(picture.name))
        self._add_picture(f"images/{name}", picture.content)
        width, height = _size(picture)
        lines = (
            f"{at.label} {(box.x + box.width / 2) / width!r} {(box.y + box.height / 2) / height!r} "
            f"{box.width / width!r} {box.height / height!r}\n"
            for at in picture.boxes
            for box in (at.box,)
        )
        self._add_text(f"labels/{stem(name)}.txt", lines)

    def finish(self) -> None:
        """Write the class names."""
        names = ", ".join(_yaml(label) for label in self._labels)
        text = f"path: .\ntrain: images\nval: images\nnc: {len(self._labels)}\nnames: [{names}]\n"
        self._add_text("data.yaml", [text])


class VocPictures(BoxArchive):
    """An archive with images in `JPEGImages/`, and a VOC document per image in `Annotations/`."""

    def __init__(self, file: BinaryIO, labels: Sequence[str]) -> None:
        super().__init__(file, labels)
        self._names = FreeNames(by_stem=True)

    def add(self, picture: ExportedPicture) -> None:
        """Add an image with its boxes. Pixels are counted from 0 at the top left corner."""
        name = self._names.take(as_step(picture.name))
        self._add_picture(f"JPEGImages/{name}", picture.content)
        width, height = _size(picture)
        head = (
            f"<annotation><folder>JPEGImages</folder><filename>{escape(name)}</filename>"
            f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>\n"
        )
        objects = (self._object(box) for box in picture.boxes)
        self._add_text(f"Annotations/{stem(name)}.xml", [head, *objects, "</annotation>\n"])

    def _object(self, at: ExportedBox) -> str:
        x, y, width, height = _sides(at.box).values()
        return (
            f"<object><name>{escape(self._labels[at.label])}</name><difficult>0</difficult>"
            f"<bndbox><xmin>{x}</xmin><ymin>{y}</ymin>"
            f"<xmax>{x + width}</xmax><ymax>{y + height}</ymax></bndbox></object>\n"
        )


# Archive classes by format.
BOX_ARCHIVES: Mapping[str, type[BoxArchive]] = {
    ZIP: AnnotatedPictures,
    COCO: CocoPictures,
    YOLO: YoloPictures,
    VOC: VocPictures,
}


def _sides(box: Box) -> dict[str, float]:
    # Whole numbers are written without a decimal point.
    sides = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    return {name: int(side) if side == int(side) else side for name, side in sides.items()}


def _size(picture: ExportedPicture) -> tuple[int, int]:
    facts = picture_facts(picture.content, MAX_DETECTION_IMAGE_BYTES)
    return facts.width, facts.height


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _yaml(text: str) -> str:
    # JSON's escapes for control characters are valid in YAML's double quotes.
    return "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}"
        for character in _json(text)
    )


def _taken(text: io.StringIO) -> str:
    found = text.getvalue()
    text.seek(0)
    text.truncate()
    return found
