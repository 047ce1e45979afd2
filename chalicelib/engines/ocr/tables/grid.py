"""A table during analysis: its cells (`Slot` objects), and the text assigned to them.

Rows and columns are counted from 0 here, and from 1 in results. Coordinates are pixels of the
raster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.documents.page import Rect, TextLine

# Lines of text in a cell, in reading order.
Lines = tuple[TextLine, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """The area of a cell, over one or more rows and columns."""

    row: int
    """First row of the cell, from 0."""
    column: int
    box: Rect
    """Box of the cell. In a table that the network predicted, the box of the cell's text."""
    row_span: int = 1
    column_span: int = 1
    is_head: bool = False
    """Whether the network marks the cell as part of the header."""

    @property
    def rows(self) -> range:
        """Range of the cell's rows."""
        return range(self.row, self.row + self.row_span)

    @property
    def columns(self) -> range:
        """Range of the cell's columns."""
        return range(self.column, self.column + self.column_span)


@dataclass(frozen=True, slots=True)
class TableGrid:
    """The cells of one table."""

    box: Rect
    slots: tuple[Slot, ...]
    """Cells, row by row. No two cover the same row and column."""
    probability: float = 1.0
    """Probability that the structure is right, 0 to 1."""

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return max((slot.rows.stop for slot in self.slots), default=0)

    @property
    def column_count(self) -> int:
        """Number of columns."""
        return max((slot.columns.stop for slot in self.slots), default=0)


@dataclass(frozen=True, slots=True)
class FilledGrid:
    """The cells of a table and the lines of text in them."""

    grid: TableGrid
    """Cells of the table, without text."""
    texts: tuple[Lines, ...]
    """Lines of each cell, in reading order."""

    def lines(self) -> Iterable[TextLine]:
        """Return all lines, cell by cell."""
        return (line for lines in self.texts for line in lines)

    def cells(self) -> Iterator[tuple[Slot, Lines]]:
        """Return each slot with its lines."""
        return zip(self.grid.slots, self.texts, strict=True)

    def with_cells(self, cells: Mapping[Slot, Lines]) -> FilledGrid:
        """Return the table with other cells, each with its lines."""
        slots = in_order(cells)
        return FilledGrid(replace(self.grid, slots=slots), tuple(cells[slot] for slot in slots))

    def row_lines(self) -> list[list[TextLine]]:
        """Return the lines that begin in each row, from left to right."""
        rows: list[list[TextLine]] = [[] for _ in range(self.grid.row_count)]
        for slot, lines in self.cells():
            rows[slot.row].extend(lines)
        return rows

    @property
    def filled(self) -> int:
        """Number of cells with text."""
        return sum(1 for lines in self.texts if lines)


def text_of(lines: Sequence[TextLine]) -> str:
    """Return the text of a cell: its lines, joined."""
    return " ".join(line.text for line in lines)


def in_order(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    """Sort cells row by row."""
    return tuple(sorted(slots, key=lambda slot: (slot.row, slot.column)))
