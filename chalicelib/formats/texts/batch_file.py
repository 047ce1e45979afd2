"""Reads the lines of a batch from CSV, TSV, Excel or JSON lines. Memory is limited."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO, TextIO

from chalicelib.domain.common.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.datasets.fields import SURROGATE, checked_text
from chalicelib.domain.datasets.upload_format import (
    CSV,
    RECOGNISED,
    SHEET_GUESSED,
    XLSX,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.domain.jobs.batch import (
    MAX_BATCH_BYTES,
    MAX_BATCH_LINES,
    MAX_ID_CHARACTERS,
    BatchLine,
    LineError,
)
from chalicelib.domain.jobs.batch_table import Cell, InputTable
from chalicelib.errors import InvalidUpload, ServiceError, TooLarge, UnsupportedType
from chalicelib.formats.texts.batch_columns import (
    ID,
    TEXT,
    BatchColumns,
    find_batch_columns,
    show_names,
    warn_of_member,
)
from chalicelib.formats.texts.columns.names import find_named_columns, split_columns
from chalicelib.formats.texts.delimited import drop_empty_end, read_records
from chalicelib.formats.texts.encoding import (
    HEAD_BYTES,
    check_encoding,
    explain_foreign_type,
    find_encoding,
    open_text,
)
from chalicelib.formats.texts.json_records import looks_like_json, read_values
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.workbook import (
    NUMBER_KIND,
    TRUTH_KIND,
    ReadSheet,
    convert_sheet,
    is_workbook,
)

_CHECK_LINES = 1_000
_EMPTY = "The file is empty (0 bytes). Send a file with one text a row."


def read_lines(
    file: BinaryIO,
    options: ReadingOptions = RECOGNISED,
    check: Callable[[], None] = lambda: None,
    table: InputTable | None = None,
    *,
    keeps_cells: bool = False,
) -> Iterator[BatchLine]:
    """Yield the lines of a file. If a row cannot be used, its line contains the error.

    Args:
        file: the batch, seekable; it is read from its start.
        options: Columns of the texts (`text` by default), header, delimiter, sheet and encoding.
        check: Called often; may raise an error to stop.
        table: receives the columns and the warnings.
        keeps_cells: Whether to store all cells of the row in each line.

    Raises:
        InvalidUpload: the file cannot be read, has no line or too many lines, or lacks a requested
            column.
    """
    file.seek(0)
    if not file.read(1):
        raise InvalidUpload(_EMPTY)
    table = table or InputTable()
    sheet = _read_sheet(file, options, check, table, keeps_kinds=keeps_cells)
    rows_file = sheet.rows if sheet else file
    is_asked = bool(options.encoding) and sheet is None
    encoding = check_encoding(file, options.encoding) if is_asked else find_encoding(rows_file)
    layout = TextLayout(kind=XLSX if sheet else CSV, encoding=encoding)
    kept = _KeptCells(table, sheet.kinds if sheet else None) if keeps_cells else None
    lines = _lines(rows_file, layout, options, table, kept)
    count = 0
    for count, line in enumerate(lines, 1):
        if count % _CHECK_LINES == 1:
            check()
        if count > MAX_BATCH_LINES:
            raise InvalidUpload(
                f"The file has more than {MAX_BATCH_LINES:,} lines, the most of a batch. "
                "Split it, and send each part as a separate batch."
            )
        yield line
    if not count:
        raise InvalidUpload("The file holds no line to answer. Send a file with one text a row.")


def _read_sheet(
    file: BinaryIO,
    options: ReadingOptions,
    check: Callable[[], None],
    table: InputTable,
    *,
    keeps_kinds: bool,
) -> ReadSheet | None:
    """Return the requested sheet of a workbook; None if the file is not a workbook."""
    if not is_workbook(file):
        if options.sheet:
            raise InvalidUpload(
                "'sheet' names a sheet, and the file is not a workbook. Leave it out."
            )
        return None
    sheet = convert_sheet(file, options.sheet, check, keeps_kinds=keeps_kinds)
    table.sheet = sheet.name
    if sheet.other_sheets:
        table.warnings.append(UploadWarning(SHEET_GUESSED, sheet.other_sheets))
    return sheet


class _KeptCells:
    """Adds rows to an `InputTable`; converts cells of workbooks to numbers and truth values."""

    def __init__(self, table: InputTable, kinds: BinaryIO | None) -> None:
        self.table = table
        self._kinds = kinds

    def next_kinds(self) -> bytes:
        """Return the kinds of the cells in the next row. Call this once per row, in order."""
        return self._kinds.readline() if self._kinds else b""

    def add(self, row: int, cells: list[str], kinds: bytes) -> list[Cell]:
        """Add a row to the table; return its cells as texts, numbers and truth values."""
        found: list[Cell] = [*drop_empty_end(cells)]
        for at, cell in enumerate(cells):
            kind = kinds[at : at + 1]
            if kind == NUMBER_KIND:
                # If a row was too long to be read, the kinds may belong to another row.
                with suppress(ValueError):
                    found[at] = float(cell)
            elif kind == TRUTH_KIND:
                found[at] = cell == "TRUE"
        self.table.add(row, found)
        return found


def _lines(
    file: BinaryIO,
    layout: TextLayout,
    options: ReadingOptions,
    table: InputTable,
    inputs: _KeptCells | None,
) -> Iterator[BatchLine]:
    with open_text(file, layout.encoding) as stream:
        is_json = layout.kind != XLSX and looks_like_json(stream.read(HEAD_BYTES))
        if is_json:
            stream.seek(0)
            yield from _json_lines(stream, options, inputs.table if inputs else None)
            return
    columns = find_batch_columns(file, layout, options, guesses_header=inputs is not None)
    table.warnings += columns.warnings
    with open_text(file, layout.encoding) as stream:
        yield from _delimited_lines(stream, columns, inputs)


def check_sent(content: bytes, encoding: str) -> None:
    """Raise an error if a file in a request is empty, too large, or certainly not a text file.

    Args:
        content: content of the file.
        encoding: encoding that the request names; empty to detect it.

    Raises:
        InvalidUpload: the file is empty.
        TooLarge: the file exceeds the size limit of a request.
        UnsupportedType: the file is not a text file.
    """
    if not content:
        raise InvalidUpload(_EMPTY)
    if len(content) > MAX_TEXT_FILE_BYTES:
        raise TooLarge(
            f"The file has {len(content)} bytes; at most {MAX_TEXT_FILE_BYTES} (25 MB) are allowed "
            "in a call. Send it with POST /v2/uploads, or host it at a URL, and send that as "
            f"'path', which may have {MAX_BATCH_BYTES} bytes (200 MB)."
        )
    if not is_workbook(io.BytesIO(content)):
        explanation = explain_foreign_type(content[:HEAD_BYTES], encoding)
        if explanation:
            raise UnsupportedType(explanation)


def asked_line(row: int, line_id: object, text: object) -> BatchLine:
    """Return the batch line for a text in a request. If the text is invalid, the line has an error.

    The error is the one that a prediction call would raise for the text.
    """
    known = shown_id(line_id)
    if not isinstance(text, str):
        return BatchLine(row, known, "", LineError("invalid_row", "The row holds no text."))
    try:
        return BatchLine(row, known, checked_text(text))
    except ServiceError as refusal:
        return BatchLine(row, known, "", LineError(refusal.code, refusal.message))


def shown_id(line_id: object) -> str | None:
    """Return a line's `id`; None if it is not a text, or is empty or too long."""
    if not isinstance(line_id, str) or not 0 < len(line_id) <= MAX_ID_CHARACTERS:
        return None
    return None if SURROGATE.search(line_id) else line_id


def _json_lines(
    stream: TextIO, options: ReadingOptions, table: InputTable | None
) -> Iterator[BatchLine]:
    members: list[str] = []
    positions: dict[str, int] = {}
    for number, value in enumerate(read_values(stream), 1):
        cells = None if table is None else _member_cells(table, positions, value, number)
        if table is not None and cells is not None:
            table.add(number, cells)
        if not isinstance(value, dict):
            line = asked_line(number, None, value)
        else:
            members = members or _find_members(value, options, table)
            line = asked_line(number, value.get(ID), _member_text(value, members))
        yield replace(line, cells=cells)


def _find_members(
    first: dict[str, object], options: ReadingOptions, table: InputTable | None
) -> list[str]:
    """Return the names of the members that contain the text, judged by the first JSON object."""
    names = [*first]
    wanted = options.text_column or TEXT
    members = [one for one in split_columns(names, wanted) if one in first]
    guessed = [] if options.text_column else find_named_columns(names).texts
    if not members and len(guessed) == 1 and table is not None:
        members = [names[guessed[0]]]
        table.warnings.append(warn_of_member(members[0]))
    if not members:
        raise InvalidUpload(
            f"The first object has no member '{wanted[:40]}', but {show_names(names)}. "
            "Name the member of the texts by 'textColumn'."
        )
    return members


def _member_text(value: dict[str, object], members: list[str]) -> object:
    if len(members) == 1:
        return value.get(members[0])
    found = [value.get(member) for member in members]
    return "\n\n".join(text for text in found if isinstance(text, str) and text.strip())


def _member_cells(
    table: InputTable, positions: dict[str, int], value: object, number: int
) -> list[Cell]:
    """Return the members of a JSON object as cells of a row.

    A member that no earlier object has becomes a new column of the table.
    """
    members = value if isinstance(value, dict) else {TEXT: value}
    for name in members:
        if name not in positions:
            positions[name] = len(positions)
            table.name_columns(number, [name])
    cells: list[Cell] = [""] * (1 + max((positions[name] for name in members), default=-1))
    for name, member in members.items():
        if isinstance(member, str | bool | int | float):
            cells[positions[name]] = member
        elif member is not None:
            cells[positions[name]] = json.dumps(member, ensure_ascii=False)
    return cells


def _delimited_lines(
    stream: TextIO, columns: BatchColumns, inputs: _KeptCells | None
) -> Iterator[BatchLine]:
    if inputs is not None:
        inputs.table.name_columns(columns.first_row - 1, columns.header)
    for number, cells, fault in read_records(stream, columns.delimiter):
        kinds = inputs.next_kinds() if inputs else b""
        if number < columns.first_row or not (fault or any(cell.strip() for cell in cells)):
            continue
        shown = inputs.add(number, cells, kinds) if inputs else None
        if fault:
            reason = f"{fault[0].upper()}{fault[1:]}"
            line = BatchLine(number, None, "", LineError("invalid_row", reason))
        else:
            line = asked_line(number, _cell(cells, columns.id_at), columns.text(cells))
        yield line if shown is None else replace(line, cells=shown)


def _cell(cells: list[str], at: int | None) -> str | None:
    return cells[at] if at is not None and at < len(cells) else None
