"""Reads annotations.csv of a detection archive: the boxes of each image.

See contract section 5, Upload formats.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import BinaryIO

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.annotations import (
    ROW,
    Annotations,
    BoxSource,
    check_limits,
    rejected,
)
from chalicelib.formats.archives.box_cells import CellFault, parse_cell
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.texts.delimited import Record, read_records
from chalicelib.formats.texts.encoding import (
    HEAD_BYTES,
    find_encoding,
    name_foreign_type,
    open_text,
)

# Name, as in the contract, of the file that contains the boxes.
ANNOTATIONS_NAME = "annotations.csv"
# Size limit of annotations.csv: 256 bytes for each of 1,000,000 boxes.
MAX_ANNOTATIONS_BYTES = 256 * 1024 * 1024
# Length limit of a row: 2,000 characters for each of 1,000 boxes.
MAX_ROW_CHARACTERS = 2_000_000
_CHECK_ROWS = 1_000
# Matches the delimiter between the image's name and the first box of a line.
_FIRST_BOX = re.compile(r"""^[^,;\t\r\n]+([,;\t])"?\{""", re.MULTILINE)


def read_annotations(file: BinaryIO, source: BoxSource) -> Annotations:
    """Read annotations.csv from its start.

    Returns:
        The valid boxes. Invalid boxes are passed to `source.reject`.

    Raises:
        InvalidUpload: the file as a whole cannot be read, or has too many boxes or labels.
    """
    result = Annotations()
    is_first = True
    box_count = 0
    encoding = _find_encoding(file)
    delimiter = _find_delimiter(file, encoding)
    with open_text(file, encoding) as stream:
        for record in read_records(stream, delimiter, MAX_ROW_CHARACTERS):
            if record.number % _CHECK_ROWS == 0:
                source.check()
            if not record.fault and not any(map(str.strip, record.cells)):
                continue
            if is_first and _is_header(record, source):
                result.name_parts(_column_names(record.cells))
            else:
                box_count += _read_row(record, source, result)
            is_first = False
            check_limits(ANNOTATIONS_NAME, box_count, len(result.book))
    return result


def _column_names(cells: list[str]) -> list[str]:
    return [show_path(cell.strip())[:20] for cell in cells[1:]]


def _find_encoding(file: BinaryIO) -> str:
    """Return the encoding of annotations.csv; raise InvalidUpload if the file is not text."""
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


def _find_delimiter(file: BinaryIO, encoding: str) -> str:
    # Spreadsheets in many countries write semicolons.
    with open_text(file, encoding) as stream:
        found = Counter(_FIRST_BOX.findall(stream.read(HEAD_BYTES)))
    return found.most_common(1)[0][0] if found and "," not in found else ","


def _is_header(record: Record, source: BoxSource) -> bool:
    if record.fault or any(cell.lstrip().startswith("{") for cell in record.cells[1:]):
        return False
    return isinstance(source.index.find(record.cells[0], source.folder), str)


def _read_row(record: Record, source: BoxSource, result: Annotations) -> int:
    """Add the boxes of one row; return how many boxes the row has, valid or not."""
    if record.fault:
        source.reject(RejectedItem(f"Row {record.number}: {record.fault}", record.number))
        return 1
    name = record.cells[0].strip()
    cells = [(at, cell) for at, cell in enumerate(record.cells[1:]) if cell.strip()]
    picture = (
        source.index.find(name, source.folder)
        if name
        else "the row names no image; write its file name into the first cell."
    )
    if isinstance(picture, str):
        for at, _ in cells or [(0, "")]:
            source.reject(rejected(ROW, (record.number, result.part_name(at)), name, picture))
        return len(cells)
    for at, cell in cells:
        try:
            label, box = parse_cell(cell)
        except CellFault as fault:
            result.note_rejected_box(picture)
            source.reject(rejected(ROW, (record.number, result.part_name(at)), name, str(fault)))
        else:
            result.add(picture, (record.number, at), label, box)
    return len(cells)
