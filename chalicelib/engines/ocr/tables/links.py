"""Joins tables that continue on the next page.

A table continues if nothing but page headers, page footers and a short note is between its parts.
In addition, the next part must repeat the header, or have the same columns and no header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from chalicelib.domain.documents.findings import COLUMN_HEADER, NORMAL, Cell, NamedTable, Table
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.heading import is_numeric

_DIGITS = re.compile(r"\d+")
_BLANKS = re.compile(r"\s+")
_Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PagePart:
    """A table on one page, which may be a part of a longer table."""

    view: ReadPage
    """The page, without pixels and lines."""
    table: Table
    """The table, with the text above and below it."""


@dataclass(frozen=True, slots=True)
class WholeTable:
    """A table joined from its parts on one or more pages, together with these parts."""

    table: Table
    """All rows, numbered from first to last part, without repeated headers.

    Its box is that of the first part.
    """
    parts: tuple[Table, ...]
    """Parts of the table, page by page. Their cells together are the cells of `table`, in order."""

    def split(self, named: NamedTable) -> list[NamedTable]:
        """Split the named cells of this table into its parts, one per page."""
        shares, first = [], 0
        for part in self.parts:
            own = slice(first, first + len(part.cells))
            table = replace(part, cells=named.table.cells[own])
            shares.append(replace(named, table=table, cell_entities=named.cell_entities[own]))
            first = own.stop
        return shares


def alone(part: PagePart) -> WholeTable:
    """Convert a single part to a whole table."""
    return WholeTable(part.table, (part.table,))


def link(parts: Sequence[PagePart]) -> list[WholeTable]:
    """Join tables that continue from page to page; keep the order of their first parts.

    Every given part is in one of the returned tables.
    """
    wholes: list[WholeTable] = []
    before: PagePart | None = None
    for part in parts:
        page = [other for other in parts if other.view.page.number == part.view.page.number]
        is_first = part.table.box.min_y <= min(other.table.box.min_y for other in page)
        if before and is_first and _continues_table(wholes[-1], before, part):
            wholes[-1] = _joined(wholes[-1], part.table)
        else:
            wholes.append(alone(part))
        before = part
    return wholes


def _continues_table(known: WholeTable, before: PagePart, part: PagePart) -> bool:
    """Return whether a page's first table continues the last table of the previous page."""
    if part.view.page.number != before.view.page.number + 1:
        return False
    if _columns(known.table) != _columns(part.table) or not _is_at_the_break(before, part):
        return False
    if _repeated_rows(known.table, part.table):
        return True
    return _have_equal_columns(before, part) and not _has_own_header(known.table, part.table)


def _columns(table: Table) -> int:
    return max((cell.column + cell.column_span - 1 for cell in table.cells), default=0)


def _is_at_the_break(before: PagePart, part: PagePart) -> bool:
    if before.table.box.max_y < before.view.height / 2 or part.table.box.min_y > (
        part.view.height / 2
    ):
        return False
    first, second = before.table, part.table
    notes = _without(first.below, (*second.above, *second.below))
    notes += _without(second.above, (*first.above, *first.below))
    return len(notes) <= settings.MOST_NOTES


def _without(rows: Sequence[str], running: Sequence[str]) -> list[str]:
    """Remove the rows that are similar to a row in `running`, even if they have other numbers."""
    known = [_plain(row) for row in running]
    return [
        row
        for row in rows
        if not process.extractOne(
            _plain(row), known, scorer=fuzz.ratio, score_cutoff=settings.SAME_TEXT_RATIO
        )
    ]


def _plain(text: str) -> str:
    return _BLANKS.sub("", _DIGITS.sub("#", text.casefold()))


def _repeated_rows(known: Table, table: Table) -> int:
    """Return how many rows at the beginning of a part repeat the header of the table."""
    head = 1 + max((cell.row for cell in known.cells if cell.kind == COLUMN_HEADER), default=1)
    for count in range(head - 1, 0, -1):
        above, below = _texts(known, count), _texts(table, count)
        same = len(above) == len(below) and all(
            fuzz.ratio(one, other) >= settings.SAME_TEXT_RATIO
            for one, other in zip(above, below, strict=True)
        )
        if same and above and _last_row(table) > count:
            return count
    return 0


def _texts(table: Table, rows: int) -> list[str]:
    return [
        _BLANKS.sub("", cell.text.casefold())
        for cell in table.cells
        if cell.row <= rows and cell.text
    ]


def _last_row(table: Table) -> int:
    return max((cell.row + cell.row_span - 1 for cell in table.cells), default=0)


def _have_equal_columns(before: PagePart, part: PagePart) -> bool:
    """Return whether the text of each column has overlapping x ranges in the two parts."""
    first, second = _extents(before), _extents(part)
    return all(
        min(first[column][1], second[column][1]) > max(first[column][0], second[column][0])
        for column in first.keys() & second.keys()
    )


def _extents(part: PagePart) -> dict[int, _Span]:
    extents: dict[int, _Span] = {}
    for cell in part.table.cells:
        if cell.text and cell.column_span == 1:
            start, end = extents.get(cell.column, (1.0, 0.0))
            left, right = (side / part.view.width for side in (cell.box.min_x, cell.box.max_x))
            extents[cell.column] = min(start, left), max(end, right)
    return extents


def _has_own_header(known: Table, table: Table) -> bool:
    """Return whether `table`, a possible continuation of `known`, begins with its own header.

    Its first row must have words in columns that contain numbers in `known`. If `known` has no such
    columns, the first row of `table` must have been recognised as a header.
    """
    body: dict[int, list[bool]] = {}
    for cell in known.cells:
        if cell.kind != COLUMN_HEADER and cell.text:
            body.setdefault(cell.column, []).append(is_numeric(cell.text))
    numeric = {column for column, kinds in body.items() if sum(kinds) > 0.5 * len(kinds)}
    first = [cell for cell in table.cells if cell.row == 1 and cell.text]
    words = [cell for cell in first if cell.column in numeric and not is_numeric(cell.text)]
    return bool(words) if numeric else any(cell.kind == COLUMN_HEADER for cell in first)


def _joined(known: WholeTable, table: Table) -> WholeTable:
    left_out = _repeated_rows(known.table, table)
    shift = _last_row(known.table) - left_out
    cells = tuple(_moved(cell, shift) for cell in table.cells if cell.row > left_out)
    whole = replace(known.table, cells=(*known.table.cells, *cells))
    return WholeTable(whole, (*known.parts, replace(table, cells=cells)))


def _moved(cell: Cell, shift: int) -> Cell:
    kind = NORMAL if cell.kind == COLUMN_HEADER else cell.kind
    return replace(cell, row=cell.row + shift, kind=kind)
