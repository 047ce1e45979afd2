"""Reads label tables. A label table is a file in the archive that gives images their labels.

The table `_classes.csv` is one-hot, with a column for each label. Other tables, like `train.csv`,
have a column for the image file and a column for the label.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, TextIO, cast

from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.box_files import BoxFiles
from chalicelib.formats.archives.folders.splits import split_of
from chalicelib.formats.archives.picture_index import SPLITS, ImageIndex, as_path, split_words
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipMember
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.texts.columns.names import find_named_columns
from chalicelib.formats.texts.delimited import Record, read_records
from chalicelib.formats.texts.encoding import find_encoding, open_text
from chalicelib.formats.texts.json_records import read_values

_CLASSES = "_classes.csv"
_MAX_BYTES = 256 * 1024 * 1024
_SMALL_BYTES = 1 << 20
_CHECK_ROWS = 1_000
_SAMPLE_ROWS = 100
_FILE_NAMES = frozenset(
    (
        *("filename", "file", "filepath", "path", "name", "id", "picture"),
        *("image", "img", "imagename", "imageid", "imagepath", "imagefile"),
    )
)
_BETWEEN = re.compile(r"[\W_]+")
# Joins the items of a list in JSON; no text has this character.
_ITEMS = "\ufdd0"
_MARKS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
_REMEDY = (
    "It needs a header and the file name in its first column, then a column named label, or a "
    "column of 0 and 1 for each label."
)


def is_label_table(member: ZipMember) -> bool:
    """Return whether a file has the name of a label table, such as `train.csv`."""
    name = member.name.casefold()
    return name == _CLASSES or (name.endswith(".csv") and name[:-4].strip() in SPLITS)


class _RowFault(ValueError):
    """A row of a label table cannot be used. The message says why and what to do."""


@dataclass(frozen=True)
class LabelTables:
    """The labels that the label tables of an archive give to its images."""

    names: list[str] = field(default_factory=list)
    """Names of labels in order of first appearance."""
    labels: dict[int, list[int]] = field(default_factory=dict)
    """Positions in `names` of the labels of each image, by the image's index in the archive."""

    def add(self, picture: int, labels: list[str], indexes: dict[str, int]) -> None:
        """Add the labels of a row to an image.

        Args:
            picture: Index of the image in the archive.
            labels: Labels of the row.
            indexes: Each known label with its index in `names`. New labels are added to both.
        """
        held = self.labels.setdefault(picture, [])
        for label in labels:
            at = indexes.setdefault(label, len(self.names))
            if at == len(self.names):
                self.names.append(label)
            if at not in held:
                held.append(at)


def read_label_tables(
    files: BoxFiles,
    tables: list[ZipMember],
    separator: str,
    can_label: Callable[[ZipMember], bool],
) -> LabelTables:
    """Read the label tables of an archive.

    Args:
        files: The files of the archive.
        tables: The label tables of the archive.
        separator: Text between the labels in a cell; empty if a cell contains only one label.
        can_label: Returns whether the label of an image may come from a table.

    Raises:
        InvalidUpload: a table cannot be read.
    """
    result, known = LabelTables(), dict[str, int]()
    members = {m.index: m for m in files.archive.members() if can_label(m)}
    if not members:
        return result
    for member in tables:
        table = _Table(files, member, members)
        for number, picture, labels in table.read(separator):
            if number % _CHECK_ROWS == 0:
                files.check()
            result.add(picture, labels, known)
    return result


class _Table:
    """A label table, and the images whose labels may come from it."""

    def __init__(self, files: BoxFiles, member: ZipMember, members: dict[int, ZipMember]) -> None:
        self._files, self._member, self._members = files, member, members
        self._folder = member.path.removesuffix(member.name)
        # The table train_labels.csv is about the folder train.
        stem = member.name.rpartition(".")[0]
        self._about = next(filter(split_of, _BETWEEN.split(stem)), stem)
        self._split = split_of(self._about) or split_of(self._folder.rstrip("/"))
        self._words = split_words(self._about)
        self._shown = show_path(member.path)
        self._is_wide = member.name.casefold() == _CLASSES
        # The name of a file such as labels.csv shows that it has labels, so it needs no header.
        is_label = bool(find_named_columns([stem]).labels)
        self._needs_header = not is_label_table(member) and not is_label
        self._header: list[str] = []
        self._file_at, self._label_at = 0, 1

    def read(self, separator: str) -> Iterator[tuple[int, int, list[str]]]:
        """Yield row number, image index and labels of each valid row; reject the other rows."""
        with tempfile.SpooledTemporaryFile(max_size=_SMALL_BYTES) as spooled:
            file = cast("BinaryIO", spooled)
            try:
                for chunk in self._files.archive.chunks(self._member, _MAX_BYTES):
                    self._files.check()
                    file.write(chunk)
                encoding = find_encoding(file)
            except (MemberProblem, InvalidUpload) as problem:
                raise InvalidUpload(f"{self._shown} cannot be read: {problem}") from None
            with open_text(file, encoding) as stream:
                delimiter = _find_delimiter(stream.readline())
            with open_text(file, encoding) as stream:
                self._decide(list(islice(self._records(stream, delimiter), _SAMPLE_ROWS)))
            with open_text(file, encoding) as stream:
                yield from self._read_rows(self._records(stream, delimiter), separator)

    def _records(self, stream: TextIO, delimiter: str) -> Iterator[Record]:
        """Yield the rows of the table; for JSON lines, yield the names of the members first."""
        if not self._member.name.casefold().endswith(".jsonl"):
            yield from read_records(stream, delimiter)
            return
        names: list[str] = []
        for number, value in enumerate(read_values(stream), start=1):
            if not isinstance(value, dict):
                yield Record(number, [], "the line is not an object.")
                continue
            if not names:
                names = list(value)
                yield Record(number, names, "")
            yield Record(number, [_cell_of(value.get(name)) for name in names], "")

    def _decide(self, records: list[Record]) -> None:
        """Find the columns with file name and labels, from the header and the first rows."""
        rows = [list(map(str.strip, record.cells)) for record in records if any(record.cells)]
        if len(rows) < 2 or len(rows[0]) < 2:
            raise InvalidUpload(f"The label table {self._shown} has no rows. {_REMEDY}")
        self._header = header = rows[0]
        plain = ["".join(filter(str.isalnum, name.casefold())) for name in header]
        self._file_at = next((at for at, name in enumerate(plain) if name in _FILE_NAMES), 0)
        named = [at for at in find_named_columns(header).labels if at != self._file_at]
        others = [at for at in range(len(header)) if at != self._file_at]
        marks = (row[at].casefold() for row in rows[1:] for at in others if at < len(row))
        if self._is_wide or (len(others) > 1 and not named and all(m in _MARKS for m in marks)):
            self._is_wide = True
            return
        chosen = named if len(others) > 1 or self._needs_header else others
        if len(chosen) != 1:
            raise InvalidUpload(
                f"The label table {self._shown} has the columns {', '.join(header)[:200]}, and "
                f"{'several' if chosen else 'none'} of them may hold the label. {_REMEDY}"
            )
        self._label_at = chosen[0]

    def _read_rows(
        self, records: Iterator[Record], separator: str
    ) -> Iterator[tuple[int, int, list[str]]]:
        is_first = True
        for record in records:
            cells = list(map(str.strip, record.cells))
            if not record.fault and not any(cells):
                continue
            try:
                if is_first and isinstance(self._find(cells[self._file_at]), str):
                    continue
                yield record.number, *self._read_row(record, cells, separator)
            except _RowFault as fault:
                shown = f"Row {record.number} of {self._shown}: {fault}"
                self._files.reject(RejectedItem(shown, record.number, self._shown))
            finally:
                is_first = False

    def _read_row(self, record: Record, cells: list[str], separator: str) -> tuple[int, list[str]]:
        if record.fault:
            raise _RowFault(record.fault)
        if len(cells) < len(self._header):
            cells += [""] * (len(self._header) - len(cells))
        picture = self._find(cells[self._file_at])
        if isinstance(picture, str):
            raise _RowFault(f"{cells[self._file_at][:100]}: {picture}")
        labels = self._marked(cells) if self._is_wide else cells[self._label_at].split(_ITEMS)
        if separator and not self._is_wide:
            labels = [part for label in labels for part in label.split(separator)]
        found = [label for label in map(normal_form, labels) if label]
        if not found:
            raise _RowFault("the row gives no label; mark one with 1, or write one.")
        return picture, found

    def _marked(self, cells: list[str]) -> list[str]:
        """Return the labels of a one-hot row: the names of the columns whose cell is 1."""
        found = []
        for at, name in enumerate(self._header):
            if at == self._file_at:
                continue
            mark = _MARKS.get(cells[at].casefold())
            if mark is None:
                raise _RowFault(f"the cell of {name[:40]} is '{cells[at][:20]}'; write 0 or 1.")
            if mark:
                found.append(name)
        return found

    def _find(self, cell: str) -> int | str:
        """Return the index of the image that a cell names, or the reason why it was not found."""
        if not cell:
            return "the row names no image; write its file name."
        path, folder = as_path(cell), self._folder
        # The table is in the split's folder, or above the folder that its name is about.
        own = folder + self._about + "/"
        places = [at + path for at in (folder, own, f"{folder}images/", f"{own}images/", "")]
        found = self._find_in(self._files.pictures, places)
        if isinstance(found, str):
            stem = self._find_in(self._files.stems, places)
            found = stem if isinstance(stem, int) else found
        if isinstance(found, int) and not self._fits(found):
            return "the archive has no image of this name in the table's folder; correct the name."
        return found

    def _find_in(self, index: ImageIndex, places: list[str]) -> int | str:
        """Find an image by the possible paths `places`; return its index, or an error text.

        If several images have the file name, the image in the split of the table is chosen.
        """
        found, path = index.find_first(places), places[-1]
        if isinstance(found, int) or "/" in path:
            return found
        return index.find(path, "", self._words)

    def _fits(self, picture: int) -> bool:
        # A name found elsewhere can be another image: splits often number their files alike.
        member = self._members.get(picture)
        if member is None:
            return False
        splits = {split_of(part) for part in member.path.split("/")[:-1]} - {""}
        return not splits or not self._split or self._split in splits


def _cell_of(value: object) -> str:
    """Return a JSON value as the text of one cell. The elements of a list are joined.

    The result is empty for `null`, for an object, and for a list that contains one of these.
    """
    items = value if isinstance(value, list) else [value]
    if any(item is None or isinstance(item, dict | list) for item in items):
        return ""
    return _ITEMS.join(map(str, items))


def _find_delimiter(line: str) -> str:
    return max((",", ";", "\t", "|"), key=line.count)
