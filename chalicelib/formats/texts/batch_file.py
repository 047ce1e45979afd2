"""Reads the lines of a batch from CSV, TSV, Excel or JSON lines, with limited memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, TextIO

from chalicelib.domain.common.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.datasets.texts import SURROGATE, checked_text
from chalicelib.domain.jobs.batch import (
    MAX_BATCH_BYTES,
    MAX_BATCH_LINES,
    MAX_ID_CHARACTERS,
    BatchLine,
    LineError,
)
from chalicelib.errors import InvalidUpload, ServiceError, TooLarge, UnsupportedType
from chalicelib.formats.texts.delimited import named_delimiter, read_records
from chalicelib.formats.texts.encoding import (
    HEAD_BYTES,
    explain_foreign_type,
    find_encoding,
    open_text,
)
from chalicelib.formats.texts.json_records import looks_like_json, read_values
from chalicelib.formats.texts.workbook import convert_sheet, is_workbook

_TEXT, _ID = "text", "id"
_DELIMITERS = (",", ";", "\t", "|")
_CHECK_LINES = 1_000
_SHOWN = 20
_EMPTY = "The file is empty (0 bytes). Send a file with one text a row."


def read_lines(
    file: BinaryIO, text_column: str, check: Callable[[], None] = lambda: None
) -> Iterator[BatchLine]:
    """Yield the lines of a file; a line that cannot be used contains its error.

    Args:
        file: seekable, read from its start.
        text_column: name of the column or member with the texts, or the column's position from 1 in
            a file without header; empty for `text`.
        check: Called regularly; raises to stop.

    Raises:
        InvalidUpload: the file cannot be read, has no such column, no line, or too many.
    """
    file.seek(0)
    if not file.read(1):
        raise InvalidUpload(_EMPTY)
    rows_file = convert_sheet(file, "", check).rows if is_workbook(file) else file
    count = 0
    with open_text(rows_file, find_encoding(rows_file)) as stream:
        for line in _lines(stream, text_column):
            if count % _CHECK_LINES == 0:
                check()
            count += 1
            if count > MAX_BATCH_LINES:
                raise InvalidUpload(
                    f"The file has more than {MAX_BATCH_LINES:,} lines, the most of a batch. "
                    "Split it, and send each part as a separate batch."
                )
            yield line
    if not count:
        raise InvalidUpload("The file holds no line to answer. Send a file with one text a row.")


def check_sent(content: bytes) -> None:
    """Raise an error if a file sent in a call is empty, too large, or certainly not text.

    Raises:
        InvalidUpload: the file is empty.
        TooLarge: the file is over the limit of a call.
        UnsupportedType: the file is not text.
    """
    if not content:
        raise InvalidUpload(_EMPTY)
    if len(content) > MAX_TEXT_FILE_BYTES:
        raise TooLarge(
            f"The file has {len(content)} bytes; at most {MAX_TEXT_FILE_BYTES} (25 MB) are allowed "
            "in a call. Send it by POST /v2/uploads, or offer it at an address, and send that as "
            f"'path', which may have {MAX_BATCH_BYTES} bytes (200 MB)."
        )
    if not is_workbook(io.BytesIO(content)):
        explanation = explain_foreign_type(content[:HEAD_BYTES])
        if explanation:
            raise UnsupportedType(explanation)


def asked_line(row: int, line_id: object, text: object) -> BatchLine:
    """Return the line for a text, with the error that a single call would return for the text."""
    known = shown_id(line_id)
    if not isinstance(text, str):
        return BatchLine(row, known, "", LineError("invalid_row", "The row holds no text."))
    try:
        return BatchLine(row, known, checked_text(text))
    except ServiceError as refusal:
        return BatchLine(row, known, "", LineError(refusal.code, refusal.message))


def shown_id(line_id: object) -> str | None:
    """Return an id if a result can contain it, otherwise None."""
    if not isinstance(line_id, str) or not 0 < len(line_id) <= MAX_ID_CHARACTERS:
        return None
    return None if SURROGATE.search(line_id) else line_id


def _lines(stream: TextIO, text_column: str) -> Iterator[BatchLine]:
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    if looks_like_json(head):
        return _json_lines(stream, text_column or _TEXT)
    return _delimited_lines(stream, text_column)


def _json_lines(stream: TextIO, member: str) -> Iterator[BatchLine]:
    for number, value in enumerate(read_values(stream), 1):
        if not isinstance(value, dict):
            yield asked_line(number, None, value)
            continue
        if number == 1 and member not in value:
            shown = ", ".join(f"'{name[:40]}'" for name in islice(value, _SHOWN))
            raise InvalidUpload(
                f"The first object has no member '{member[:40]}', but {shown or 'none'}. "
                "Name the member of the texts by 'textColumn'."
            )
        yield asked_line(number, value.get(_ID), value.get(member))


@dataclass(frozen=True)
class _Columns:
    """Positions of the columns in a row."""

    delimiter: str
    text_at: int
    id_at: int | None
    first_row: int
    """Number of the first record that is a line."""


def _delimited_lines(stream: TextIO, text_column: str) -> Iterator[BatchLine]:
    columns = _find_columns(stream, text_column)
    stream.seek(0)
    for number, cells, fault in read_records(stream, columns.delimiter):
        if number < columns.first_row or not (fault or any(cell.strip() for cell in cells)):
            continue
        if fault:
            reason = f"{fault[0].upper()}{fault[1:]}"
            yield BatchLine(number, None, "", LineError("invalid_row", reason))
            continue
        yield asked_line(number, _cell(cells, columns.id_at), _cell(cells, columns.text_at) or "")


def _cell(cells: list[str], at: int | None) -> str | None:
    return cells[at] if at is not None and at < len(cells) else None


def _find_columns(stream: TextIO, text_column: str) -> _Columns:
    named = named_delimiter(stream)
    header_row = 2 if named else 1
    headers: dict[str, list[str]] = {}
    for delimiter in [named] if named else _DELIMITERS:
        stream.seek(0)
        records = islice(read_records(stream, delimiter), header_row - 1, header_row)
        headers[delimiter] = [cell.strip() for _, cells, _ in records for cell in cells]
    if text_column.isdecimal():
        widest = max(headers, key=lambda delimiter: len(headers[delimiter]))
        return _Columns(widest, int(text_column) - 1, None, header_row)
    wanted = (text_column or _TEXT).casefold()
    for delimiter, cells in headers.items():
        names = [cell.casefold() for cell in cells]
        if wanted in names:
            id_at = names.index(_ID) if _ID in names and wanted != _ID else None
            return _Columns(delimiter, names.index(wanted), id_at, header_row + 1)
    found = max(headers.values(), key=len)
    shown = ", ".join(f"'{name[:40]}'" for name in found[:_SHOWN])
    raise InvalidUpload(
        f"The first row names no column '{(text_column or _TEXT)[:40]}', but {shown or 'none'}. "
        "Name the column of the texts by 'textColumn', or by its position from 1 where no row "
        "names the columns."
    )
