"""Makes the preview of a text file: its first rows and its columns. See beyond.md, section 14."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import BinaryIO

from chalicelib.domain.datasets.preview import (
    PREVIEW_COLUMNS,
    PREVIEW_ROWS,
    Preview,
    PreviewRow,
    cut_row,
)
from chalicelib.formats.texts.columns.ranking import MAX_ROWS, profile_columns, summarize_columns
from chalicelib.formats.texts.delimited import drop_empty_end, read_records
from chalicelib.formats.texts.encoding import open_text
from chalicelib.formats.texts.json_records import CutValue, read_values
from chalicelib.formats.texts.json_shapes import ObjectFault
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.text_table import TextTable


def preview_file(file: BinaryIO, layout: TextLayout, reasons: Mapping[int, str | None]) -> Preview:
    """Return the first rows and the columns of a file whose layout is known.

    Args:
        file: The file, whose first rows are read again.
        layout: How the rows are read.
        reasons: For each row number, why the row is rejected; None if the row is accepted.
    """
    if layout.is_json:
        return preview_json(file, layout, reasons)
    rows = tuple(_preview_rows(file, layout, reasons))
    return replace(preview_table(TextTable(file, layout)), rows=rows)


def preview_table(table: TextTable, first: Sequence[str] = ()) -> Preview:
    """Return the first rows and the columns of a table.

    Args:
        table: A table whose header and columns may not be known.
        first: Cells of the first row if they are column names; otherwise empty.
    """
    rows = list(islice(table.rows(), PREVIEW_ROWS))
    header = table.layout.header or tuple(first)
    width = max([len(header), *(len(cells) for _, cells in rows)])
    names = [*header, *[""] * (width - len(header))][:PREVIEW_COLUMNS]
    cells = (cells for _, cells in table.rows())
    # `table.rows()` leaves out a header that the layout knows, but includes the row `first`.
    below = cells if first else chain([names], cells)
    return Preview(
        tuple(cut_row(number, cells) for number, cells in rows),
        columns=summarize_columns(profile_columns(below, names)),
    )


def _preview_rows(
    file: BinaryIO, layout: TextLayout, reasons: Mapping[int, str | None]
) -> Iterator[PreviewRow]:
    last = max(reasons, default=0)
    with open_text(file, layout.encoding) as stream:
        for record in islice(read_records(stream, layout.delimiter), last):
            if record.number not in reasons:
                continue
            cells = list(record.cells)
            if not layout.joins_cells:
                drop_empty_end(cells)
            pair = layout.pick(list(cells)) if layout.fits(cells) else None
            yield cut_row(record.number, cells, pair, reasons[record.number])


def preview_json(file: BinaryIO, layout: TextLayout, reasons: Mapping[int, str | None]) -> Preview:
    """Return the preview of JSON objects. Members become columns, in order of first appearance."""
    shown = _find_members(file, layout)
    rows = []
    for number, value in enumerate(_read_objects(file, layout, PREVIEW_ROWS), start=1):
        try:
            pair = layout.shape.pair(value)
        except ObjectFault:
            pair = None
        rows.append(cut_row(number, _cells(value, shown), pair, reasons.get(number)))
    cells = (_cells(value, shown) for value in _read_objects(file, layout, MAX_ROWS))
    return Preview(
        tuple(rows), columns=summarize_columns(profile_columns(chain([shown], cells), shown))
    )


def _find_members(file: BinaryIO, layout: TextLayout) -> list[str]:
    names: dict[str, None] = {}
    for value in _read_objects(file, layout, PREVIEW_ROWS):
        names |= dict.fromkeys(islice(value, PREVIEW_COLUMNS))
    return list(names)[:PREVIEW_COLUMNS]


def _read_objects(file: BinaryIO, layout: TextLayout, limit: int) -> Iterator[Mapping[str, object]]:
    """Yield up to `limit` JSON objects of a file. A value that is not an object becomes `{}`."""
    # The row of a value that is cut by the end of the file is rejected, and has no cells.
    with open_text(file, layout.encoding) as stream, suppress(CutValue):
        for value in islice(read_values(stream), limit):
            yield value if isinstance(value, dict) else {}


def _cells(value: Mapping[str, object], names: list[str]) -> list[str]:
    return [_cell(value.get(name, "")) for name in names]


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
