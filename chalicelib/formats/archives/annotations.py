"""Collects the boxes of all images in an archive. Each box takes 60 bytes of memory.

Annotation files are read before the images, even if they come after the images in the archive.
See contract section 5, Upload formats, and beyond.md, section 1.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES, MAX_LABELS
from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.datasets.upload_warnings import OddBoxes
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.box_cells import CellFault
from chalicelib.formats.archives.picture_examples import LabelBook, cut_label
from chalicelib.formats.archives.picture_index import ImageIndex
from chalicelib.formats.archives.zip_directory import show_path

_NOTHING = -1
# Fractions are converted to pixels with this number of decimals; further digits are noise.
_DIGITS = 6
# How receipts describe the place of a box of annotations.csv.
ROW = "Row {number}, {part} of {picture}"


@dataclass(frozen=True, slots=True)
class BoxRow:
    """A box of one image, as read from an annotation file."""

    row: int
    """Number of the row, line, annotation or object in its file, from 1."""
    column: str
    """Name for messages: of the column in annotations.csv, or of the file in other formats."""
    label: str
    """Name of the label, cut to 180 characters."""
    label_fault: str
    """Why the label cannot be used; empty if it can be used."""
    box: Box
    """The box as written in the file, in pixels. It may reach outside the image."""
    place: str = ROW
    """Format string, such as `ROW`, for messages that say where in its file the box is."""

    def reject(self, picture: str, reason: str) -> RejectedItem:
        """Return the rejection of this box, for the receipt of the upload."""
        return rejected(self.place, (self.row, self.column), picture, reason)


def rejected(place: str, at: tuple[int, str], picture: str, reason: str) -> RejectedItem:
    """Return the rejection of a box, for the receipt of the upload.

    Args:
        place: Format string, such as `ROW`, that says where in its file the box is. Its fields are
            `number`, `part` and `picture`.
        at: Row number of the box, and name of the column or file that contains the box.
        picture: Path of the image in the archive; empty if the annotation names no image.
        reason: What is wrong and what to do.
    """
    shown = show_path(picture) or "no image"
    where = place.format(number=at[0], part=at[1], picture=shown)
    return RejectedItem(f"{where}: {reason}", at[0], shown)


@dataclass(frozen=True)
class BoxSource:
    """The file index, folder and callbacks that the reader of an annotation file needs."""

    index: ImageIndex
    """Files of the archive."""
    folder: str
    """Folder of the annotation file with a "/" at its end, or empty."""
    reject: Callable[[RejectedItem], None]
    """Called with each rejected box."""
    check: Callable[[], None]
    """Called often; may raise an error to stop reading."""


class Annotations:
    """The boxes of all images in an archive. A reader adds the boxes one by one."""

    def __init__(self, place: str = ROW, *, in_fractions: bool = False) -> None:
        """Create an empty collection.

        Args:
            place: Format string for messages, such as `ROW`. It says where in its file a box is.
            in_fractions: Whether boxes are in fractions of the image size, and not in pixels.
        """
        self.book = LabelBook()
        self.place = place
        self._in_fractions = in_fractions
        self._sizes: dict[int, tuple[int, int]] = {}
        self._labels: list[str] = []
        self._label_indexes: dict[str, int] = {}
        self._parts: list[str] = []
        self._rows, self._part_of, self._label_of = array("I"), array("I"), array("I")
        self._sides = array("d")
        self._next = array("i")
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._spoilt: set[int] = set()
        self.has_guessed_corners = False
        """Whether width and height of boxes could be their right and bottom edges instead."""
        self.cut_lines = OddBoxes()
        """Lines with more numbers than a box needs. The additional numbers were ignored."""

    def __len__(self) -> int:
        return len(self._rows)

    def boxes_of(self, picture: int) -> Iterator[BoxRow]:
        """Yield the boxes of an image in the order of the file."""
        at = self._first.get(picture, _NOTHING)
        while at != _NOTHING:
            label = self._labels[self._label_of[at]]
            yield BoxRow(
                self._rows[at],
                self.part_name(self._part_of[at]),
                label,
                self.book.find_fault(label),
                Box(*self._sides[4 * at : 4 * at + 4]),
                self.place,
            )
            at = self._next[at]

    def has_rejected_box(self, picture: int) -> bool:
        """Return whether a box of the image was rejected."""
        return picture in self._spoilt

    @property
    def parts(self) -> int:
        """Return the number of names that `name_parts` has added."""
        return len(self._parts)

    def part_name(self, part: int) -> str:
        """Return the name that `name_parts` added at the index `part`; `box0` if name 0 is missing.

        Args:
            part: Index of an annotation file, from 0. For annotations.csv, index of a column. The
                first column, which contains image names, is not counted.
        """
        name = self._parts[part] if part < len(self._parts) else ""
        return name or f"box{part}"

    def name_parts(self, names: list[str]) -> None:
        """Append the names of columns or annotation files that `part_name` returns."""
        self._parts += names

    def add(self, picture: int, place: tuple[int, int], label: str, box: Box) -> None:
        """Add a box of an image.

        Args:
            picture: Index of the image in the archive.
            place: Row number of the box, from 1, and the index that `part_name` accepts.
            label: Trimmed label in full length.
            box: Box with the numbers that are written in the file.
        """
        self.book.add(label)
        name = cut_label(label)
        index = self._label_indexes.setdefault(name, len(self._labels))
        if index == len(self._labels):
            self._labels.append(name)
        at = len(self._rows)
        self._rows.append(place[0])
        self._part_of.append(place[1])
        self._label_of.append(index)
        self._sides.extend((box.x, box.y, box.width, box.height))
        self._next.append(_NOTHING)
        if picture in self._last:
            self._next[self._last[picture]] = at
        else:
            self._first[picture] = at
        self._last[picture] = at

    def note_rejected_box(self, picture: int) -> None:
        """Record that a box of the image was rejected."""
        self._spoilt.add(picture)

    def note_size(self, picture: int, width: int, height: int) -> None:
        """Record the size in pixels of the image on which boxes were drawn. Ignore a size of 0."""
        if width > 0 and height > 0:
            self._sizes[picture] = (width, height)

    def in_pixels(self, row: BoxRow, picture: int, size: tuple[int, int]) -> Box:
        """Convert a box to pixels of its image. The result may reach outside the image.

        Args:
            row: The box, as read from the annotation file.
            picture: Index of the image in the archive.
            size: Width and height of the image as displayed, in pixels.

        Raises:
            CellFault: the boxes were drawn on an image of another size.
        """
        drawn, (width, height) = self._sizes.get(picture, size), size
        if drawn != size:
            raise CellFault(
                f"the box was drawn for an image of {drawn[0]:,} × {drawn[1]:,} pixels, and this "
                f"one has {width:,} × {height:,} as displayed; export the boxes again for it."
            )
        if not self._in_fractions:
            return row.box
        box = row.box
        sides = box.x * width, box.y * height, box.width * width, box.height * height
        return Box(*(round(side, _DIGITS) for side in sides))

    def are_fractions(self) -> bool:
        """Return whether all numbers of all boxes are from 0 to 1, and some are not integers."""
        sides = self._sides
        if not sides or min(sides) < 0 or max(sides) > 1:
            return False
        return any(side != int(side) for side in sides)


def check_limits(name: str, boxes: int, labels: int) -> None:
    """Raise InvalidUpload if the annotation file `name` has too many boxes or labels.

    The limit of boxes is the maximum number of examples of a dataset. The limit of labels is ten
    times the maximum number of labels of a dataset.
    """
    if boxes > MAX_DATASET_EXAMPLES:
        raise InvalidUpload(
            f"{name} has more than {MAX_DATASET_EXAMPLES:,} boxes, the limit of a "
            "dataset; split it into several datasets."
        )
    if labels > 10 * MAX_LABELS:
        raise InvalidUpload(
            f"{name} has more than {10 * MAX_LABELS:,} labels; at most {MAX_LABELS:,} "
            "are allowed. Give objects of one kind the same label."
        )
