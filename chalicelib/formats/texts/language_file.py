"""Rows of a text upload: csv, tsv, a JSON array or JSON lines, told apart by their bytes.

See contract section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, TextIO

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.delimited import (
    Record,
    SeparatorScore,
    drop_empty_end,
    find_columns,
    read_records,
    score_separator,
)
from chalicelib.formats.texts.encoding import find_encoding, open_text
from chalicelib.formats.texts.json_records import looks_like_json, read_values
from chalicelib.formats.texts.language_rows import LabelMerges, Rejection, Row, make_row

__all__ = ["LabelMerges", "Rejection", "Row", "read_rows"]

_TEXT_KEYS = ("text", "document", "utterance")
_LABEL_KEYS = ("label", "intent", "sentiment")
_HEAD_CHARACTERS = 4096


def read_rows(file: BinaryIO, *, sentiment: bool = False) -> Iterator[Row | Rejection]:
    """Read an upload row by row, in file order.

    Blank rows are skipped; every other row is either a Row or a Rejection. Memory is bounded: one
    row of separated text, 3 million characters of JSON. Spec: Upload formats.

    Args:
        file: seekable; read from its start and left open, so that it can be read again after the
            last row. Two readings at the same time disturb each other.
        sentiment: the labels are positive, negative and neutral.

    Yields:
        Rows and rejections; texts of 1 to 20,000 characters, labels of 1 to 180.

    Raises:
        InvalidUpload: the file as a whole cannot be read, has no row but a header, or more than
            1,000,000.
    """
    encoding = find_encoding(file)
    with open_text(file, encoding) as stream:
        head = stream.read(_HEAD_CHARACTERS)
    is_json = looks_like_json(head)
    separator = "" if is_json else _find_separator(file, encoding)
    with open_text(file, encoding) as stream:
        rows = (
            _read_json(stream, sentiment)
            if is_json
            else _read_delimited(stream, separator, sentiment)
        )
        row_count = 0
        for row in rows:
            row_count += 1
            if row_count > MAX_DATASET_EXAMPLES:
                raise InvalidUpload(
                    f"The file has more than {MAX_DATASET_EXAMPLES:,} rows, the limit of a "
                    "dataset; split it into several datasets."
                )
            yield row
    if not row_count:
        raise InvalidUpload("The file has no rows. Send at least one text with its label.")


def _find_separator(file: BinaryIO, encoding: str) -> str:
    """Choose comma or tab by what makes more rows of a text and a whole label."""
    scores: dict[str, SeparatorScore] = {}
    for separator in ("\t", ","):
        with open_text(file, encoding) as stream:
            scores[separator] = score_separator(stream, separator)
    best = max(scores, key=scores.__getitem__)
    return best if scores[best].pair_count else ","


def _read_delimited(stream: TextIO, separator: str, sentiment: bool) -> Iterator[Row | Rejection]:
    """Read separated text; the first row that is not blank may name the columns."""
    text_at, label_at = 0, 1
    is_first = True
    for record in read_records(stream, separator):
        cells = drop_empty_end(record.cells)
        if len(cells) < 2 and not record.fault and not "".join(cells).strip():
            continue
        if is_first:
            is_first = False
            columns = find_columns(cells)
            if columns:
                text_at, label_at = columns
                continue
        if record.fault:
            yield Rejection(record.number, record.fault)
        elif len(cells) != 2:
            yield _reject_cells(record, separator)
        else:
            yield make_row(record.number, cells[text_at], cells[label_at], sentiment=sentiment)


def _reject_cells(record: Record, separator: str) -> Rejection:
    """Refuse a row that has not two cells."""
    name = "comma" if separator == "," else "tab"
    count = len(record.cells)
    if count < 2:
        reason = f"the row has one cell; separate text and label by a {name}."
    else:
        reason = (
            f"the row has {count:,} cells, text and label are two; "
            f"put a text that holds a {name} in double quotes."
        )
    return Rejection(record.number, reason)


def _read_json(stream: TextIO, sentiment: bool) -> Iterator[Row | Rejection]:
    """Read objects; the first one tells whether the file has the right shape at all."""
    for number, value in enumerate(read_values(stream), start=1):
        if number == 1:
            _check_shape(value)
        yield _read_object(number, value, sentiment)


def _check_shape(value: object) -> None:
    """Fail a file whose first value is no example.

    Raises:
        InvalidUpload: it is no object, or has neither a text nor a label.
    """
    remedy = 'Send an array, or one object a line, of {"text": "…", "label": "…"}.'
    if not isinstance(value, Mapping):
        raise InvalidUpload(f"The JSON has the wrong shape: {_name_kind(value)} first. {remedy}")
    if not any(key in value for key in (*_TEXT_KEYS, *_LABEL_KEYS)):
        names = ", ".join(str(key)[:40] for key in list(value)[:5]) or "no members"
        shown = names.encode("utf-8", "replace").decode()
        raise InvalidUpload(f"The JSON has the wrong shape: an object of {shown}. {remedy}")


def _read_object(number: int, value: object, sentiment: bool) -> Row | Rejection:
    """Read one object; numbers came as the text they are written with."""
    if not isinstance(value, Mapping):
        return Rejection(number, f"{_name_kind(value)} stands where an object is expected.")
    cells: list[str] = []
    for keys in (_TEXT_KEYS, _LABEL_KEYS):
        key = next((key for key in keys if key in value), None)
        if key is None:
            return Rejection(number, f"the object has no member {' or '.join(keys)}; add it.")
        cell = value[key]
        if not isinstance(cell, str):
            return Rejection(number, f'"{key}" is {_name_kind(cell)}; make it a text in quotes.')
        cells.append(cell)
    return make_row(number, cells[0], cells[1], sentiment=sentiment)


def _name_kind(value: object) -> str:
    """Name a JSON value in a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    kinds: tuple[tuple[type, str], ...] = ((list, "an array"), (dict, "an object"), (str, "a text"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")
