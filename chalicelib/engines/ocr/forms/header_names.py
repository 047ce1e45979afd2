"""Names the rows, columns and cells of tables by their headers.

The names come from the header cells of a template, otherwise from the texts of the headers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.documents.findings import (
    COLUMN_HEADER,
    NORMAL,
    ROW_HEADER,
    Cell,
    NamedTable,
    Table,
)
from chalicelib.domain.documents.form_template import FormTemplate, HeaderCell
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.spelling import fold, similarity


@dataclass(frozen=True, slots=True)
class _Match:
    header: HeaderCell
    score: float


class _Headers:
    def __init__(self, headers: Sequence[HeaderCell]) -> None:
        self._folded = [
            (header, [folded for text in header.variations if (folded := fold(text))])
            for header in headers
        ]
        self._seen: dict[str, _Match | None] = {}

    def find(self, text: str) -> _Match | None:
        """Return the header cell that is most similar to a text; None if none is similar."""
        key = fold(text)
        if key not in self._seen:
            matches = (
                _Match(header, max((similarity(each, key) for each in variations), default=0.0))
                for header, variations in self._folded
            )
            best = max(matches, key=lambda match: match.score, default=None)
            self._seen[key] = best if best and best.score else None
        return self._seen[key]


def name_headers(
    tables: Sequence[Table], template: FormTemplate | None = None
) -> tuple[NamedTable, ...]:
    """Name tables and their cells, rows and columns.

    Args:
        tables: all tables of one document; no two tables get the same name.
        template: header cells with the names to use. If there are none, the header texts are used
            as names of rows and columns.

    Returns:
        A named table for each table, in the same order.
    """
    headers = _Headers(template.header_cells if template else ())
    is_wanted = bool(template and template.header_cells)
    found = [
        _name_table(_reveal_headers(table, headers) if is_wanted else table, headers)
        for table in tables
    ]
    names = _choose_names([votes for _, votes in found])
    return tuple(replace(table, name=name) for (table, _), name in zip(found, names, strict=True))


def _choose_names(votes: Sequence[Mapping[str, float]]) -> list[str | None]:
    pairs = sorted(
        (-score, number, name)
        for number, table_votes in enumerate(votes)
        for name, score in table_votes.items()
    )
    chosen: dict[int, str] = {}
    for _, number, name in pairs:
        if number not in chosen and name not in chosen.values():
            chosen[number] = name
    return [chosen.get(number) for number in range(len(votes))]


def _reveal_headers(table: Table, headers: _Headers) -> Table:
    if any(cell.kind == COLUMN_HEADER for cell in table.cells):
        return table
    counts = Counter(
        cell.row
        for cell in table.cells
        if cell.row <= settings.HEADER_ROWS and cell.kind == NORMAL and headers.find(cell.text)
    )
    inked = Counter(cell.row for cell in table.cells if cell.text)
    rows = [row for row, count in counts.items() if count * 2 >= inked[row]]
    if not rows:
        return table
    best = max(rows, key=lambda row: (counts[row], -row))
    cells = (
        replace(cell, kind=COLUMN_HEADER) if cell.row == best and cell.text else cell
        for cell in table.cells
    )
    return replace(table, cells=tuple(cells))


def _name_table(table: Table, headers: _Headers) -> tuple[NamedTable, Mapping[str, float]]:
    """Name the rows, columns and cells of a table, and return the score of each table name."""
    columns = _headers_along(table.cells, COLUMN_HEADER)
    rows = _headers_along(table.cells, ROW_HEADER)
    column_matches = {number: _match(cells, headers) for number, cells in columns.items()}
    row_matches = {number: _match(cells, headers) for number, cells in rows.items()}
    named = NamedTable(
        table,
        None,
        tuple(_cell_entity(cell, headers, column_matches, row_matches) for cell in table.cells),
        _entities(rows, row_matches),
        _entities(columns, column_matches),
    )
    return named, _vote([*column_matches.values(), *row_matches.values()])


def _vote(matches: Sequence[_Match | None]) -> Mapping[str, float]:
    votes: dict[str, float] = {}
    for match in matches:
        if match and match.header.table_name:
            name = match.header.table_name
            votes[name] = votes.get(name, 0.0) + match.score
    return votes


def _headers_along(cells: Sequence[Cell], kind: str) -> dict[int, list[Cell]]:
    found: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.kind == kind and cell.text:
            for number in _numbers(cell, kind):
                found.setdefault(number, []).append(cell)
    return found


def _numbers(cell: Cell, kind: str) -> range:
    if kind == COLUMN_HEADER:
        return range(cell.column, cell.column + cell.column_span)
    return range(cell.row, cell.row + cell.row_span)


def _text(cells: Sequence[Cell]) -> str:
    alone = [cell for cell in cells if len(_numbers(cell, cell.kind)) == 1]
    return " ".join(dict.fromkeys(cell.text for cell in alone or cells[-1:]))


def _match(cells: Sequence[Cell], headers: _Headers) -> _Match | None:
    texts = [_text(cells), *(cell.text for cell in reversed(cells))]
    return next((match for text in texts if (match := headers.find(text))), None)


def _entities(
    along: Mapping[int, Sequence[Cell]], matches: Mapping[int, _Match | None]
) -> Mapping[int, str]:
    return {
        number: match.header.entity if (match := matches[number]) else _text(cells)
        for number, cells in along.items()
    }


def _cell_entity(
    cell: Cell,
    headers: _Headers,
    columns: Mapping[int, _Match | None],
    rows: Mapping[int, _Match | None],
) -> str | None:
    along = (
        headers.find(cell.text) if cell.kind != NORMAL else None,
        columns.get(cell.column) if cell.kind != ROW_HEADER else None,
        rows.get(cell.row) if cell.kind != COLUMN_HEADER else None,
    )
    return next((match.header.entity for match in along if match), None)
