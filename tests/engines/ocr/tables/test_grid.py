"""Places of a table before and after text is put into them."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.grid import (
    FilledGrid,
    Slot,
    TableGrid,
    in_order,
    text_of,
    without_empty_lanes,
)

BOX = Rect(0, 0, 10, 10)
LINE = TextLine("x", 1.0, BOX)


def test_counts_and_order() -> None:
    """Spans count, and places are sorted row by row."""
    slots = in_order([Slot(1, 0, BOX, 2, 1), Slot(0, 1, BOX), Slot(0, 0, BOX, 1, 1)])
    assert [(slot.row, slot.column) for slot in slots] == [(0, 0), (0, 1), (1, 0)]
    grid = TableGrid(BOX, slots)
    assert (grid.row_count, grid.column_count) == (3, 2)
    assert (TableGrid(BOX, ()).row_count, TableGrid(BOX, ()).column_count) == (0, 0)


def test_empty_rows_and_columns_go() -> None:
    """Lanes without any text are removed and spans shrink; others stay, empty places too."""
    slots = (
        Slot(0, 0, BOX, 1, 3),
        *(Slot(row, column, BOX) for row in (1, 2, 3) for column in range(3)),
    )
    inked = {(0, 0), (1, 0), (1, 2), (3, 0)}
    texts = tuple((LINE,) if (slot.row, slot.column) in inked else () for slot in slots)
    found = without_empty_lanes(FilledGrid(TableGrid(BOX, slots), texts))
    assert [(s.row, s.column, s.column_span) for s in found.grid.slots] == [
        (0, 0, 2), (1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, 1),
    ]  # fmt: skip
    assert found.filled == 4
    assert without_empty_lanes(found) is found


def test_text_of_a_place() -> None:
    """Lines are joined by a space."""
    other = TextLine("y", 1.0, Rect(5, 12, 30, 20))
    assert text_of([LINE, other]) == "x y"
