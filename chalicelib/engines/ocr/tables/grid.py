"""A table during analysis: the slots of its cells, and the text assigned to them.

Rows and columns are counted from 0 here, and from 1 in results. Coordinates are pixels of the
raster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from chalicelib.domain.documents.page import Rect, TextLine


@dataclass(frozen=True, slots=True)
class Slot:
    """The area of a cell, over one or more rows and columns."""

    row: int
    """First row of the slot."""
    column: int
    """First column of the slot."""
    box: Rect
    """Box of the slot. In a table that the network predicted, the box of the slot's text."""
    row_span: int = 1
    """Number of rows."""
    column_span: int = 1
    """Number of columns."""
    is_head: bool = False
    """Whether the network marks the slot as part of the header."""

    @property
    def rows(self) -> range:
        """Range of the slot's rows."""
        return range(self.row, self.row + self.row_span)

    @property
    def columns(self) -> range:
        """Range of the slot's columns."""
        return range(self.column, self.column + self.column_span)


@dataclass(frozen=True, slots=True)
class TableGrid:
    """The slots of one table."""

    box: Rect
    """Box of the table."""
    slots: tuple[Slot, ...]
    """Slots, row by row. No two cover the same row and column."""
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
    """The slots of a table and the lines of text in them."""

    grid: TableGrid
    """Slots of the table, without text."""
    texts: tuple[tuple[TextLine, ...], ...] = field(default=())
    """Lines of each slot, in reading order."""

    def lines(self) -> Iterable[TextLine]:
        """Return all lines, slot by slot."""
        return (line for lines in self.texts for line in lines)

    @property
    def filled(self) -> int:
        """Number of slots with text."""
        return sum(1 for lines in self.texts if lines)


def text_of(lines: Sequence[TextLine]) -> str:
    """Return the text of a slot: its lines, joined."""
    return " ".join(line.text for line in lines)


def in_order(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    """Sort slots row by row."""
    return tuple(sorted(slots, key=lambda slot: (slot.row, slot.column)))


def without_empty_lanes(filled: FilledGrid) -> FilledGrid:
    """Remove rows and columns without text; slots that span them become smaller.

    If a slot with text spans several rows, and no other slot has text in one of them, the first of
    these rows stays. The same applies to columns.
    """
    rows = _used(filled, is_row=True)
    columns = _used(filled, is_row=False)
    if len(rows) == filled.grid.row_count and len(columns) == filled.grid.column_count:
        return filled
    kept: list[tuple[Slot, tuple[TextLine, ...]]] = []
    for slot, lines in zip(filled.grid.slots, filled.texts, strict=True):
        own_rows = [rows[row] for row in slot.rows if row in rows]
        own_columns = [columns[column] for column in slot.columns if column in columns]
        if own_rows and own_columns:
            moved = replace(
                slot,
                row=own_rows[0],
                column=own_columns[0],
                row_span=len(own_rows),
                column_span=len(own_columns),
            )
            kept.append((moved, lines))
    slots = tuple(slot for slot, _ in kept)
    return FilledGrid(replace(filled.grid, slots=slots), tuple(lines for _, lines in kept))


def _used(filled: FilledGrid, *, is_row: bool) -> dict[int, int]:
    """Return the rows or columns that have text, each with its new number.

    If a slot spans several and none of them has other text, the first one counts.
    """
    used: set[int] = set()
    spanning: list[range] = []
    for slot, lines in zip(filled.grid.slots, filled.texts, strict=True):
        lanes = slot.rows if is_row else slot.columns
        if lines and len(lanes) == 1:
            used.add(lanes.start)
        elif lines:
            spanning.append(lanes)
    used.update(lanes.start for lanes in spanning if not used.intersection(lanes))
    return {lane: number for number, lane in enumerate(sorted(used))}
