"""Reads annotations.csv of a detection archive: which picture has which boxes.

The file may lie behind the pictures, so it is read first and kept in 60 bytes a box. Contract
section 5, Upload formats.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES, MAX_LABELS
from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.documents.box import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.picture_index import PictureIndex
from chalicelib.formats.archives.picture_labels import LabelBook, cut_label, find_label_fault
from chalicelib.formats.archives.zip_names import show_path
from chalicelib.formats.json_depth import is_too_deep
from chalicelib.formats.texts.delimited import Record, read_records
from chalicelib.formats.texts.encoding import (
    HEAD_BYTES,
    find_encoding,
    name_foreign_type,
    open_text,
)

ANNOTATIONS_NAME = "annotations.csv"


"""Name of the file that holds the boxes."""


MAX_ANNOTATIONS_BYTES = 256 * 1024 * 1024


"""Largest annotations.csv: 256 bytes for each of 1,000,000 boxes."""


MAX_ROW_CHARACTERS = 2_000_000


"""Longest row: 2,000 characters for each of 1,000 boxes."""


_CHECK_ROWS = 1_000


_NOTHING = -1


@dataclass(frozen=True, slots=True)
class BoxRow:
    """A box of one picture."""

    row: int
    """Row of annotations.csv, from 1, the header counted."""
    column: str
    """Name of the column for messages."""
    label: str
    """Label name, cut to 180 characters."""
    label_fault: str
    """Why the label cannot be used; empty when it can."""
    box: Box
    """As it is written, in pixels; may reach out of the picture."""

    def reject(self, picture: str, reason: str) -> RejectedItem:
        """Make the rejection of this box.

        Args:
            picture: path of the picture in the archive.
            reason: what is wrong and what to do.
        """
        return _rejected(self.row, self.column, picture, reason)


class Annotations:
    """The boxes of all pictures, as `read_annotations` collected them."""

    def __init__(self) -> None:
        self.book = LabelBook()
        self._labels: list[str] = []
        self._label_indexes: dict[str, int] = {}
        self._columns: list[str] = []
        self._rows, self._column_of, self._label_of = array("I"), array("I"), array("I")
        self._sides = array("d")
        self._next = array("i")
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._spoilt: set[int] = set()

    def __len__(self) -> int:
        return len(self._rows)

    def boxes_of(self, picture: int) -> Iterator[BoxRow]:
        """List the boxes of a picture in the order of the file.

        Args:
            picture: index of the picture in the archive.
        """
        at = self._first.get(picture, _NOTHING)
        while at != _NOTHING:
            label = self._labels[self._label_of[at]]
            yield BoxRow(
                self._rows[at],
                self.column_name(self._column_of[at]),
                label,
                self.book.find_fault(label),
                Box(*self._sides[4 * at : 4 * at + 4]),
            )
            at = self._next[at]

    def is_spoilt(self, picture: int) -> bool:
        """Tell whether a picture has boxes that were rejected while the file was read."""
        return picture in self._spoilt

    def column_name(self, column: int) -> str:
        """Name a box column: as the header does, else by its place.

        Args:
            column: from 0, the picture's column not counted.
        """
        name = self._columns[column] if column < len(self._columns) else ""
        return name or f"box{column}"

    def name_columns(self, cells: list[str]) -> None:
        """Take over the names of a header row."""
        self._columns = [show_path(cell.strip())[:20] for cell in cells[1:]]

    def add(self, picture: int, place: tuple[int, int], label: str, box: Box) -> None:
        """Add a box.

        Args:
            picture: index of the picture in the archive.
            place: row and column.
            label: trimmed, not cut.
            box: as it is written.
        """
        self.book.add(label)
        name = cut_label(label)
        index = self._label_indexes.setdefault(name, len(self._labels))
        if index == len(self._labels):
            self._labels.append(name)
        at = len(self._rows)
        self._rows.append(place[0])
        self._column_of.append(place[1])
        self._label_of.append(index)
        self._sides.extend((box.x, box.y, box.width, box.height))
        self._next.append(_NOTHING)
        if picture in self._last:
            self._next[self._last[picture]] = at
        else:
            self._first[picture] = at
        self._last[picture] = at

    def spoil(self, picture: int) -> None:
        """Note that a box of a picture was rejected."""
        self._spoilt.add(picture)


@dataclass(frozen=True)
class AnnotationsSource:
    """What the file is read against."""

    index: PictureIndex
    """Files of the archive."""
    folder: str
    """Folder of annotations.csv with a "/" at its end, or empty."""
    reject: Callable[[RejectedItem], None]
    """Takes each box that cannot be used."""
    check: Callable[[], None]
    """Called now and then; raises to stop the reading."""


def read_annotations(file: BinaryIO, source: AnnotationsSource) -> Annotations:
    """Read annotations.csv.

    Args:
        file: the csv; seekable, read from its start.
        source: the archive that it belongs to.

    Returns:
        The boxes; those that cannot be used went to `source.reject`.

    Raises:
        InvalidUpload: the file as a whole cannot be read, or has too many boxes or labels.
    """
    result = Annotations()
    is_first = True
    box_count = 0
    encoding = _find_encoding(file)
    with open_text(file, encoding) as stream:
        for record in read_records(stream, ",", MAX_ROW_CHARACTERS):
            if record.number % _CHECK_ROWS == 0:
                source.check()
            if not record.fault and not any(map(str.strip, record.cells)):
                continue
            if is_first and _is_header(record, source):
                result.name_columns(record.cells)
            else:
                box_count += _read_row(record, source, result)
            is_first = False
            _check_limits(box_count, len(result.book))
    return result


def _find_encoding(file: BinaryIO) -> str:
    """Decide the encoding, with messages that name the file."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    what = name_foreign_type(head) if head else "an empty file"
    if what:
        raise InvalidUpload(
            f"{ANNOTATIONS_NAME} cannot be read: it looks like {what}. Save it as csv in UTF-8."
        )
    try:
        return find_encoding(file)
    except InvalidUpload:
        raise InvalidUpload(
            f"{ANNOTATIONS_NAME} cannot be read: it is broken UTF-16. Save it as csv in UTF-8."
        ) from None


def _is_header(record: Record, source: AnnotationsSource) -> bool:
    """Tell a row of column names: it holds no JSON, and no picture has its first cell's name."""
    if record.fault or any(cell.lstrip().startswith("{") for cell in record.cells[1:]):
        return False
    return isinstance(source.index.find(record.cells[0], source.folder), str)


def _read_row(record: Record, source: AnnotationsSource, result: Annotations) -> int:
    """Read the boxes of one row; return how many there are, good and bad."""
    if record.fault:
        source.reject(RejectedItem(f"Row {record.number}: {record.fault}", record.number))
        return 1
    name = record.cells[0].strip()
    cells = [(at, cell) for at, cell in enumerate(record.cells[1:]) if cell.strip()]
    picture = (
        source.index.find(name, source.folder)
        if name
        else "the row names no picture; write its file name into the first cell."
    )
    if isinstance(picture, str):
        for at, _ in cells or [(0, "")]:
            source.reject(_rejected(record.number, result.column_name(at), name, picture))
        return len(cells)
    for at, cell in cells:
        try:
            label, box = parse_cell(cell)
        except CellFault as fault:
            result.spoil(picture)
            source.reject(_rejected(record.number, result.column_name(at), name, str(fault)))
        else:
            result.add(picture, (record.number, at), label, box)
    return len(cells)


def _rejected(row: int, column: str, picture: str, reason: str) -> RejectedItem:
    """Make a rejection that names row, box and file."""
    shown = show_path(picture) or "no picture"
    return RejectedItem(f"Row {row}, {column} of {shown}: {reason}", row, shown)


def _check_limits(boxes: int, labels: int) -> None:
    """Refuse a file that no dataset can take.

    Raises:
        InvalidUpload: it has too many boxes or labels.
    """
    if boxes > MAX_DATASET_EXAMPLES:
        raise InvalidUpload(
            f"{ANNOTATIONS_NAME} has more than {MAX_DATASET_EXAMPLES:,} boxes, the limit of a "
            "dataset; split it into several datasets."
        )
    if labels > 10 * MAX_LABELS:
        raise InvalidUpload(
            f"{ANNOTATIONS_NAME} has more than {10 * MAX_LABELS:,} labels; at most {MAX_LABELS:,} "
            "are allowed. Give objects of one kind the same label."
        )


MAX_CELL_CHARACTERS = 5_000


"""Longest cell; a label of 180 characters written as \\u escapes takes 2,160."""


MAX_SIDE = 1_000_000.0


"""Largest number of a box; no picture that is accepted has a side of 100,000 pixels."""


_SIDES = ("x", "y", "width", "height")


_REMEDY = 'Write {"label": "…", "x": 0, "y": 0, "width": 1, "height": 1}.'


class CellFault(ValueError):
    """The cell is no box; the text says why and what to do."""


class RawBox(NamedTuple):
    """A box as it is written, before the picture is known."""

    label: str
    """Trimmed, not cut."""
    box: Box
    """In pixels, origin at the top left; finite, with a size above 0."""


def parse_cell(cell: str) -> RawBox:
    """Read a box.

    Args:
        cell: the text of the cell.

    Returns:
        Label and box.

    Raises:
        CellFault: it is no box.
    """
    if len(cell) > MAX_CELL_CHARACTERS:
        raise CellFault(
            f"the cell has {len(cell):,} characters, the limit is {MAX_CELL_CHARACTERS:,}."
        )
    value = _read_object(cell)
    label = value.get("label")
    if not isinstance(label, str):
        raise CellFault(f'"label" is missing or no text. {_REMEDY}')
    label = label.strip()
    fault = find_label_fault(label)
    if fault:
        raise CellFault(fault)
    box = Box(*(_read_number(value, side) for side in _SIDES))
    if box.width <= 0 or box.height <= 0:
        raise CellFault(
            f"the box is {box.width:g} × {box.height:g} pixels; width and height must be above 0."
        )
    return RawBox(label, box)


def _read_object(cell: str) -> dict[str, object]:
    """Read the object that a cell is."""
    if is_too_deep(cell):
        raise CellFault(f"the cell is nested too deeply. {_REMEDY}")
    try:
        value = json.loads(cell)
    except ValueError:
        raise CellFault(f"the cell is no JSON. {_REMEDY}") from None
    if not isinstance(value, dict):
        raise CellFault(f"the cell is JSON, but no object. {_REMEDY}")
    return value


def _read_number(value: dict[str, object], side: str) -> float:
    """Read one number of a box, also one in quotes."""
    written = value.get(side)
    if written is None:
        raise CellFault(f'"{side}" is missing. {_REMEDY}')
    try:
        if isinstance(written, bool) or not isinstance(written, int | float | str):
            raise CellFault(f'"{side}" is no number. {_REMEDY}')
        number = float(written)
    except OverflowError:
        number = math.inf
    except ValueError as fault:
        if isinstance(fault, CellFault):
            raise
        raise CellFault(f'"{side}" is no number. {_REMEDY}') from None
    if not math.isfinite(number):
        raise CellFault(f'"{side}" is no finite number; write a distance in pixels.')
    if abs(number) > MAX_SIDE:
        raise CellFault(
            f'"{side}" is {number:g}; at most {MAX_SIDE:,.0f} is allowed. Write it in pixels.'
        )
    return number


def clip_box(box: Box, width: int, height: int) -> Box:
    """Cut off what lies outside of the picture.

    Args:
        box: in pixels of the displayed picture, origin at the top left.
        width: of the displayed picture, in pixels.
        height: of the displayed picture, in pixels.

    Returns:
        The same box when it lies inside, else the part of it that does.

    Raises:
        CellFault: its centre lies outside.
    """
    left, top, right, bottom = box.corners
    if left >= 0 and top >= 0 and right <= width and bottom <= height:
        if right > left and bottom > top:
            return box
    elif 0 <= (left + right) / 2 < width and 0 <= (top + bottom) / 2 < height:
        left, top = max(0.0, left), max(0.0, top)
        right, bottom = min(float(width), right), min(float(height), bottom)
        if right > left and bottom > top:
            return Box(left, top, right - left, bottom - top)
    raise CellFault(
        f"the box x {box.x:g}, y {box.y:g}, width {box.width:g}, height {box.height:g} has its "
        f"centre outside of the picture of {width:,} × {height:,} pixels; correct the numbers, "
        "which are pixels from the top left corner of the picture as displayed."
    )
