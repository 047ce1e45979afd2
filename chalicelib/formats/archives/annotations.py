"""Reads annotations.csv of a detection archive: which picture has which boxes.

The file may lie behind the pictures, so it is read first and kept in 60 bytes a box. Contract
section 5, Upload formats.
"""

from __future__ import annotations

import tempfile
import unicodedata
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES, MAX_LABELS
from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.box_cells import CellFault, parse_cell
from chalicelib.formats.archives.picture_examples import LabelBook, cut_label
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipArchive, ZipMember
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.texts.delimited import Record, read_records
from chalicelib.formats.texts.encoding import (
    HEAD_BYTES,
    find_encoding,
    name_foreign_type,
    open_text,
)

_SEVERAL = -1


class PictureIndex:
    """Files of an archive by path and by name; about 60 MB for 100,000 files."""

    def __init__(self) -> None:
        self._paths: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._folded: tuple[dict[str, int], dict[str, int]] | None = None

    def add(self, index: int, path: str) -> None:
        """Note a file.

        Args:
            index: place in the archive's directory.
            path: clean path in the archive.
        """
        _note(self._paths, path, index)
        _note(self._names, path.rpartition("/")[2], index)

    def find(self, cell: str, folder: str) -> int | str:
        """Find a picture: by path, by path beside annotations.csv, by name; then in any case.

        Args:
            cell: what the row says; other tools' paths and backslashes too.
            folder: folder of annotations.csv with a "/" at its end, or empty.

        Returns:
            Index of the file, or why there is none.
        """
        path = cell.strip().replace("\\", "/").removeprefix("./")
        name = path.rpartition("/")[2]
        found = _first(self._paths, self._names, (path, folder + path), name)
        if found is None:
            if self._folded is None:
                self._folded = _fold_all(self._paths), _fold_all(self._names)
            paths, names = self._folded
            found = _first(paths, names, (_fold(path), _fold(folder + path)), _fold(name))
        if found is None:
            return "the archive has no picture of this name; add it, or correct the name."
        if found == _SEVERAL:
            return "the archive has several pictures of this name; write the path in the archive."
        return found


def _first(
    paths: dict[str, int], names: dict[str, int], wanted: tuple[str, ...], name: str
) -> int | None:
    for path in wanted:
        if path in paths:
            return paths[path]
    return names.get(name)


def _note(places: dict[str, int], key: str, index: int) -> None:
    if places.setdefault(key, index) != index:
        places[key] = _SEVERAL


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _fold_all(places: dict[str, int]) -> dict[str, int]:
    folded: dict[str, int] = {}
    for key, index in places.items():
        _note(folded, _fold(key), index)
    return folded


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
    shown = show_path(picture) or "no picture"
    return RejectedItem(f"Row {row}, {column} of {shown}: {reason}", row, shown)


def _check_limits(boxes: int, labels: int) -> None:
    """Refuse a file that no dataset can take."""
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


_SMALL_BYTES = 1 << 20


def is_annotations(member: ZipMember) -> bool:
    """Tell whether a file is the one that holds the boxes."""
    return member.name == ANNOTATIONS_NAME


def open_annotations(
    archive: ZipArchive, reject: Callable[[RejectedItem], None], check: Callable[[], None]
) -> Annotations:
    """Read all boxes of an archive.

    Args:
        archive: a detection archive.
        reject: takes each box that cannot be used.
        check: called now and then; raises to stop.

    Returns:
        The boxes by picture.

    Raises:
        InvalidUpload: there is no annotations.csv, or several, or it cannot be read.
    """
    index = PictureIndex()
    member = _find_member(archive, index)
    folder = member.path.removesuffix(ANNOTATIONS_NAME)
    source = AnnotationsSource(index, folder, reject, check)
    with tempfile.SpooledTemporaryFile(max_size=_SMALL_BYTES) as file:
        try:
            for chunk in archive.chunks(member, MAX_ANNOTATIONS_BYTES):
                check()
                file.write(chunk)
        except MemberProblem as problem:
            raise InvalidUpload(f"{ANNOTATIONS_NAME} cannot be read: {problem}") from None
        return read_annotations(cast("BinaryIO", file), source)


def _find_member(archive: ZipArchive, index: PictureIndex) -> ZipMember:
    """Return annotations.csv, and note all other files."""
    found: list[ZipMember] = []
    similar = ""
    for member in archive.members():
        if is_annotations(member):
            found.append(member)
        elif not member.entry.path_problem:
            index.add(member.index, member.path)
        if len(found) > 1:
            raise _several(found)
        if member.name.lower() == ANNOTATIONS_NAME:
            similar = member.path
    if not found:
        raise _missing(similar)
    return found[0]


def _several(found: list[ZipMember]) -> InvalidUpload:
    """Make the refusal of an archive with two files of boxes."""
    first, second = (show_path(member.path) for member in found)
    return InvalidUpload(
        f"The archive has two files named {ANNOTATIONS_NAME}: {first} and {second}. "
        "Put all rows into one."
    )


def _missing(similar: str) -> InvalidUpload:
    """Make the refusal of an archive without boxes."""
    hint = f" Rename {show_path(similar)}: small letters only." if similar else ""
    return InvalidUpload(
        f"The archive has no {ANNOTATIONS_NAME}. Add one with a row for each picture: its file "
        "name, then a cell for each box, a JSON object of label, x, y, width and height."
        f"{hint} For pictures in folders named by their label use the type image."
    )
