"""Table cells before and after text is assigned."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.grid import (
    Slot,
    TableGrid,
    in_order,
    text_of,
)

BOX = Rect(0, 0, 10, 10)
LINE = TextLine("x", 1.0, BOX)


def test_counts_and_order() -> None:
    """Spans count, and cells are sorted row by row."""
    slots = in_order([Slot(1, 0, BOX, 2, 1), Slot(0, 1, BOX), Slot(0, 0, BOX, 1, 1)])
    assert [(slot.row, slot.column) for slot in slots] == [(0, 0), (0, 1), (1, 0)]
    grid = TableGrid(BOX, slots)
    assert (grid.row_count, grid.column_count) == (3, 2)
    assert (TableGrid(BOX, ()).row_count, TableGrid(BOX, ()).column_count) == (0, 0)


def test_text_of_a_place() -> None:
    """Lines are joined by a space."""
    other = TextLine("y", 1.0, Rect(5, 12, 30, 20))
    assert text_of([LINE, other]) == "x y"
