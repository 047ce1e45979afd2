"""Writes tables of any length as CSV or workbook. Only a few rows are in memory at a time."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

# A cell: text, a number or a truth value; an empty text is an empty cell.
Cell = str | float | bool

_CHUNK_BYTES = 1 << 20
# The first characters of a cell that spreadsheets take for a formula.
_FORMULA = ("=", "+", "-", "@")
_LONGEST_SHEET_NAME = 31
_BAD_IN_NAME = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
# Characters that XML cannot hold, and texts that look like their escapes. ECMA-376, 22.9.2.19.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")
_NEVER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# A size of 4 GB needs the long form of a zip, which some spreadsheets refuse if it is not needed.
_LONG_ZIP_BYTES = 4_000_000_000
_CELL_BYTES = 90
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>'
    "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    "</Relationships>",
}


def hide_formula(text: str) -> str:
    """Put an apostrophe before a CSV text that a spreadsheet would read as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def stream_csv(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield a table as CSV in UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(head)
    for row in rows:
        writer.writerow([cell if isinstance(cell, str) else cell_text(cell) for cell in row])
        if text.tell() >= _CHUNK_BYTES:
            yield _taken(text)
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    # Half of a surrogate pair has no bytes in UTF-8.
    content = text.getvalue().encode("utf-8", "replace")
    text.seek(0)
    text.truncate()
    return content


def cell_text(cell: Cell) -> str:
    """Return the text of a cell. Numbers and truth values are written as spreadsheets do."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell)


def stream_workbook(
    name: str, head: Sequence[str], rows: Iterable[Sequence[Cell]], estimated_bytes: int = 0
) -> Iterator[bytes]:
    """Yield a workbook with one sheet, in chunks of bytes. Equal arguments give equal bytes.

    Args:
        name: name of the sheet. It is shortened, and invalid characters are removed.
        head: the first row.
        rows: the rows after the first row. Texts stay texts, even if they look like formulas.
        estimated_bytes: upper bound of the uncompressed size of the sheet, returned by `estimate`.
    """
    sink = _Sink()
    # The sink cannot seek. So sizes follow each member, and no output has to stay in memory.
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path, content in {**_PARTS, "xl/workbook.xml": _workbook(name)}.items():
            archive.writestr(_member(path), _HEAD + content)
        is_long = estimated_bytes >= _LONG_ZIP_BYTES
        with archive.open(_member("xl/worksheets/sheet1.xml"), "w", force_zip64=is_long) as sheet:
            sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            for chunk in _sheet_chunks(head, rows):
                sheet.write(chunk)
                yield sink.take()
            sheet.write(b"</sheetData></worksheet>")
    yield sink.take()


def estimate(cells: int, text_bytes: int) -> int:
    """Return an upper bound of the uncompressed size of a sheet in bytes.

    Args:
        cells: number of cells.
        text_bytes: size of all texts in UTF-8.
    """
    # One byte becomes at most seven, as in "_x0008_".
    return cells * _CELL_BYTES + 7 * text_bytes


def _workbook(name: str) -> str:
    clean = _BAD_IN_NAME.sub(" ", name).strip("' ")[:_LONGEST_SHEET_NAME] or "Sheet1"
    return (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f'<sheet name="{_escape(clean).replace(chr(34), "&quot;")}" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>"
    )


def _member(path: str) -> zipfile.ZipInfo:
    # Without the time of day, so that a repeated step writes the same bytes.
    member = zipfile.ZipInfo(path)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _sheet_chunks(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield the XML of a sheet in chunks of several rows."""
    letters: list[str] = []
    parts: list[str] = []
    length = 0
    for number, row in enumerate(chain([head], rows), 1):
        while len(letters) < len(row):
            letters.append(_letters(len(letters)))
        text = _row_xml(number, row, letters)
        parts.append(text)
        length += len(text)
        if length >= _CHUNK_BYTES:
            yield "".join(parts).encode()
            parts, length = [], 0
    yield "".join(parts).encode()


def _row_xml(number: int, row: Sequence[Cell], letters: Sequence[str]) -> str:
    cells = [_cell_xml(f"{letters[at]}{number}", cell) for at, cell in enumerate(row) if cell != ""]
    return f'<row r="{number}">{"".join(cells)}</row>'


def _cell_xml(place: str, cell: Cell) -> str:
    if isinstance(cell, str):
        text = _escape(cell)
        # Only an inline string is never read as a number, a date or a formula.
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{cell:d}</v></c>'
    if not math.isfinite(cell):
        return _cell_xml(place, str(cell))
    return f'<c r="{place}"><v>{cell_text(cell)}</v></c>'


def _escape(text: str) -> str:
    """Return a text escaped for XML. Characters that XML does not allow become `_xHHHH_`."""
    if not text.isascii():
        text = _NEVER.sub("\ufffd", text)
    return _CONTROL.sub(lambda found: f"_x{ord(found[0]):04X}_", text).translate(_XML)


def _letters(column: int) -> str:
    name, rest = "", column + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        name = chr(65 + digit) + name
    return name


class _Sink:
    """A write-only file in memory that cannot seek. `take` returns the written bytes."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, content: bytes) -> int:
        """Append bytes, and return their number."""
        self._written += content
        return len(content)

    def flush(self) -> None:
        """Do nothing, because all written bytes are already available."""

    def close(self) -> None:
        """Do nothing, because the written bytes can still be read."""

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        content = bytes(self._written)
        self._written.clear()
        return content
