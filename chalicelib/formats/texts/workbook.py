"""Converts a sheet of an .xlsx workbook to CSV, row by row.

A workbook is a zip archive. A small archive can unpack to gigabytes, or have a cell in the far
corner of the sheet. So the parts of a workbook are first unpacked within limits and checked. Then
the library (calamine) reads a new archive of only these parts.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from chalicelib.domain.datasets.preview import Preview, SheetSummary
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.zip_archive import (
    MemberProblem,
    ZipArchive,
    looks_like_zip,
    open_archive,
)
from chalicelib.formats.archives.zip_directory import InvalidZip

# Limit of the unpacked bytes of all parts that are read.
MAX_UNPACKED_BYTES = 100 * 1024 * 1024
# Limit of a sheet's cells: rows times columns, up to the last that is not empty.
MAX_CELLS = 5_000_000
# Limit of a sheet's text bytes; each text counts as often as a cell refers to it.
MAX_STRING_BYTES = 50 * 1024 * 1024
_PARTS = re.compile(r"\[Content_Types\]\.xml|xl/(?:_rels/)?[^/]+\.(?:xml|rels)|xl/worksheets/.+")
_STRINGS = "xl/sharedStrings.xml"
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# A cell with content; an empty, only formatted one is a self-closing tag.
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*[^>/])?>")
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_SHARED_CELL = re.compile(rb"""\bt\s*=\s*["']s["']""")
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>\s*([0-9]{1,9})\s*<")
_ITEM = re.compile(rb"<(?:\w+:)?si\b")
_FIRST_ENTRIES = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"customXml/")
_ROOT = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="xl/workbook.xml" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
TEXT_KIND, NUMBER_KIND, TRUTH_KIND = b"t", b"n", b"b"
_CHECK_ROWS = 1_000
# Sheets that are listed; each one is read.
_MOST_SHEETS = 100
_REMEDY = "Save the sheet as csv in UTF-8, and send that."


def may_be_workbook(head: bytes) -> bool:
    """Return whether a file may be a workbook, judged by its first bytes."""
    return looks_like_zip(head) and head[30:].startswith(_FIRST_ENTRIES)


def is_workbook(file: BinaryIO) -> bool:
    """Return whether a file is a zip archive that contains the parts of a workbook."""
    file.seek(0)
    if not looks_like_zip(file.read(4)):
        return False
    try:
        return any(member.path == "xl/workbook.xml" for member in open_archive(file).members())
    except (InvalidZip, InvalidUpload):
        return False


class ReadSheet(NamedTuple):
    """A sheet of a workbook, converted to CSV."""

    rows: BinaryIO
    """CSV in UTF-8. The row numbers are those of the sheet."""
    other_names: tuple[str, ...] = ()
    """Names of the other visible sheets, if no sheet was requested and several have cells."""
    sheets: tuple[SheetSummary, ...] = ()
    """All visible sheets, if they were requested."""
    name: str = ""
    """Name of the sheet."""
    kinds: BinaryIO | None = None
    """If requested: one line per row, with one character for the type of each cell."""

    @property
    def other_sheets(self) -> str:
        """Return a message about the other sheets of the workbook; "" if it has only one."""
        return _note_others(self.name, self.other_names) if self.other_names else ""


def convert_sheet(
    file: BinaryIO,
    sheet_name: str,
    check: Callable[[], None],
    *,
    lists_all: bool = False,
    keeps_kinds: bool = False,
) -> ReadSheet:
    """Convert a sheet of a workbook to CSV.

    Args:
        file: the workbook, seekable.
        sheet_name: name or position (from 1) of the sheet; empty for the first visible sheet
            with cells.
        check: Called often; may raise an error to stop.
        lists_all: Whether to return a list of all visible sheets.
        keeps_kinds: Whether to return which cells are numbers or truth values.

    Raises:
        InvalidUpload: the workbook is damaged, too large or encrypted, or the sheet is missing or
            empty.
    """
    import python_calamine

    with tempfile.TemporaryFile() as parts:
        filled = _unpack(file, parts, check)
        parts.seek(0)
        try:
            workbook = python_calamine.CalamineWorkbook.from_filelike(parts)
            sheets = _list_sheets(workbook, check) if lists_all else ()
            try:
                sheet, others = _open_sheet(workbook, sheet_name)
            except InvalidUpload as refusal:
                refusal.preview = Preview(sheets=sheets) if sheets else None
                raise
            kinds = io.BytesIO() if keeps_kinds else None
            rows = _write(sheet, check, kinds)
            return ReadSheet(rows, others if filled > 1 else (), sheets, sheet.name, kinds)
        except (python_calamine.CalamineError, ValueError, OSError) as problem:
            raise InvalidUpload(f"The workbook cannot be read: {problem}. {_REMEDY}") from None


def _open_sheet(workbook: Any, sheet_name: str) -> tuple[Any, tuple[str, ...]]:
    """Return the requested sheet, or else the first with cells; and the names of other sheets."""
    names = [_sheet_name(workbook, sheet_name)]
    if not sheet_name:
        names += [name for name in _shown_sheets(workbook) if name not in names]
    opened = map(workbook.get_sheet_by_name, names)
    sheet = next((sheet for sheet in opened if sheet.end is not None), None)
    if sheet is None:
        raise InvalidUpload(f"The sheet '{names[0]}' is empty. Fill it, or send another file.")
    return sheet, tuple(name for name in names if name != sheet.name)


def _sheet_name(workbook: Any, name: str) -> str:
    names: list[str] = workbook.sheet_names
    if not names:
        raise InvalidUpload(f"The workbook has no sheet. {_REMEDY}")
    if not name:
        return next(iter(_shown_sheets(workbook)), names[0])
    if name in names:
        return name
    if name.isdecimal() and 0 < int(name) <= len(names):
        return names[int(name) - 1]
    raise InvalidUpload(
        f"'sheet' is {name[:40]!r}, and the workbook has the sheets {_listed(names)}."
    )


def _shown_sheets(workbook: Any) -> list[str]:
    import python_calamine

    return [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.visible == python_calamine.SheetVisibleEnum.Visible
        and sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
    ]


def _list_sheets(workbook: Any, check: Callable[[], None]) -> tuple[SheetSummary, ...]:
    """Return the visible sheets, each with the number of its last row that has cells."""
    found = []
    for name in _shown_sheets(workbook)[:_MOST_SHEETS]:
        check()
        end = workbook.get_sheet_by_name(name).end
        found.append(SheetSummary(name, end[0] + 1 if end else 0))
    return tuple(found)


def _note_others(name: str, others: Sequence[str]) -> str:
    return (
        f"Only the sheet '{name[:40]}' was read. Choose another one with 'sheet'; there is "
        f"also {_listed(others)}."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name[:40]}'" for name in names[:10])


def _unpack(file: BinaryIO, target: BinaryIO, check: Callable[[], None]) -> int:
    """Copy the needed parts of a workbook, and check sheets; return how many sheets have cells."""
    left = MAX_UNPACKED_BYTES
    sizes: list[int] = []
    filled = 0
    try:
        archive = open_archive(file)
        members = [found for found in archive.members() if _PARTS.fullmatch(found.path)]
        # The table of texts must be read before the cells that refer to it.
        members.sort(key=lambda member: member.path != _STRINGS)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as copy:
            for member in members:
                check()
                content = _read_part(archive, member, left)
                left -= len(content)
                if member.path == _STRINGS:
                    sizes = _string_sizes(content)
                if _SHEET.fullmatch(member.path):
                    filled += _check_cells(content)
                    _check_strings(content, sizes)
                copy.writestr(member.path, content)
            copy.writestr("_rels/.rels", _ROOT)
    except InvalidZip as problem:
        raise InvalidUpload(f"The workbook is damaged: {problem.cause}") from None
    return filled


def _read_part(archive: ZipArchive, member: Any, free_bytes: int) -> bytes:
    if member.size > free_bytes:
        raise InvalidUpload(
            f"The workbook unpacks to more than {MAX_UNPACKED_BYTES:,} bytes. {_REMEDY}"
        )
    try:
        content = archive.read(member, free_bytes)
    except MemberProblem as problem:
        raise InvalidUpload(f"The workbook is damaged: {problem}") from None
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"<!DOCTYPE" in content[:4096]:
        raise InvalidUpload(f"The workbook holds XML that no spreadsheet writes. {_REMEDY}")
    return content


def _check_cells(sheet: bytes) -> bool:
    """Return whether a sheet has cells; refuse a sheet with too many cells (rows times columns)."""
    rows = columns = unplaced = 0
    for found in _CELL.finditer(sheet):
        place = _PLACE.search(found[1] or b"")
        if place is None:
            unplaced += 1
            continue
        columns = max(columns, _column_number(place[1]))
        rows = max(rows, int(place[2]))
    if unplaced:
        # Cells without a position follow each other, and a row has at most this many.
        rows = max(rows, sheet.count(b"<row"), sheet.count(b":row"))
        columns = max(columns, min(unplaced, 16_384))
    if rows * columns > MAX_CELLS:
        raise InvalidUpload(
            f"The sheet has {rows:,} rows and {columns:,} columns up to its last cell that is not "
            f"empty; at most {MAX_CELLS:,} cells are read. Delete cells that are far away. "
            f"{_REMEDY}"
        )
    return rows > 0


def _string_sizes(strings: bytes) -> list[int]:
    """Return the size of each entry of the shared strings table in bytes, including markup."""
    starts = [found.start() for found in _ITEM.finditer(strings)]
    return [end - start for start, end in zip(starts, [*starts[1:], len(strings)], strict=True)]


def _check_strings(sheet: bytes, sizes: list[int]) -> None:
    """Raise an error if the shared strings in the cells of a sheet have too many bytes in total."""
    numbers = Counter(int(found[1]) for found in _VALUE.finditer(sheet))
    total = sum(sizes[number] * count for number, count in numbers.items() if number < len(sizes))
    if len(_SHARED_CELL.findall(sheet)) > numbers.total():
        raise InvalidUpload(f"The workbook holds XML that no spreadsheet writes. {_REMEDY}")
    if total > MAX_STRING_BYTES:
        raise InvalidUpload(
            f"The texts of the sheet have {total:,} bytes; at most {MAX_STRING_BYTES:,} are read. "
            "Split it, and add the other parts with PUT."
        )


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _write(sheet: Any, check: Callable[[], None], kinds: BinaryIO | None) -> BinaryIO:
    raw = io.BytesIO()
    text = io.TextIOWrapper(raw, encoding="utf-8", errors="surrogatepass", newline="")
    writer = csv.writer(text, lineterminator="\n")
    for number, cells in enumerate(_rows(sheet, kinds)):
        if number % _CHECK_ROWS == 0:
            check()
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            writer.writerow(cells)
        else:
            text.write("\n")
    text.flush()
    text.detach()
    raw.seek(0)
    if kinds is not None:
        kinds.seek(0)
    return raw


def _rows(sheet: Any, kinds: BinaryIO | None) -> Iterator[list[str]]:
    # A vertically merged cell counts for each of its rows.
    merged = _Merged(sheet)
    for number, row in enumerate(sheet.iter_rows()):
        cells = [_text(cell) for cell in row]
        if kinds is not None:
            kinds.write(b"".join(map(_kind, row)) + b"\n")
        merged.fill(number, cells)
        yield cells


class _Merged:
    """Copies the value of a merged cell into all rows that the merged cell spans."""

    def __init__(self, sheet: Any) -> None:
        first_column = sheet.start[1] if sheet.start else 0
        self._begins: dict[int, list[tuple[int, int]]] = {}
        for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
            if bottom > top and left >= first_column:
                self._begins.setdefault(top, []).append((left - first_column, bottom))
        self._going_on: dict[int, tuple[int, str]] = {}

    def fill(self, number: int, cells: list[str]) -> None:
        """Fill a row's empty cells that belong to a merged cell above. Call this for each row."""
        for column, (bottom, value) in list(self._going_on.items()):
            if number > bottom:
                del self._going_on[column]
            elif column < len(cells):
                cells[column] = cells[column] or value
        for column, bottom in self._begins.get(number, ()):
            if column < len(cells):
                self._going_on[column] = bottom, cells[column]


def _kind(cell: object) -> bytes:
    if isinstance(cell, bool):
        return TRUTH_KIND
    return NUMBER_KIND if isinstance(cell, int | float) else TEXT_KIND


def _text(cell: object) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    return str(cell)
