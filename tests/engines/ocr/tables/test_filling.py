"""Assigning text to table cells."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.filling import fill, fill_by_rows, joined
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, TableGrid, text_of


def piece(text: str, x: float, y: float, height: float = 16) -> TextLine:
    """Return a span 40 pixels wide by its top left corner."""
    return TextLine(text, 1.0, Rect(x, y, x + 40, y + height))


def grid(rows: int, drift: float = 0.0, row_span: int = 1) -> TableGrid:
    """Return rows of two cells, 30 apart, each slightly lower than the one before."""
    slots = [
        Slot(r, c, Rect(100 * c, r * (30 + drift), 100 * c + 60, r * (30 + drift) + 16), row_span)
        for r in range(rows)
        for c in range(2)
    ]
    return TableGrid(Rect(0, 0, 200, 30 * rows), tuple(slots))


def texts(filled: FilledGrid) -> list[str]:
    """Return the text of each cell."""
    return [text_of(lines) for lines in filled.texts]


def test_overlap_decides_and_else_the_nearest() -> None:
    """Text goes to the overlapping cell, or else to the nearest, preferably in its row."""
    pieces = [piece("a", 10, 3), piece("b", 75, 30), piece("c", 300, 0), piece("d", 0, 500)]
    assert texts(fill(grid(2), pieces)) == ["a", "c", "d", "b"]
    assert texts(fill(grid(1), [])) == ["", ""]


def test_lines_of_one_place_are_in_reading_order() -> None:
    """Lines in a cell are ordered from top to bottom, then left to right."""
    tall = TableGrid(Rect(0, 0, 200, 200), (Slot(0, 0, Rect(0, 0, 200, 200)),))
    pieces = [piece("d", 50, 40), piece("b", 60, 1), piece("c", 0, 40), piece("a", 0, 0)]
    assert texts(fill(tall, pieces)) == ["a b c d"]


def test_a_row_of_text_stays_together() -> None:
    """A row's text goes to the row that contains most of its spans."""
    pieces = [piece(f"{r}{c}", 100 * c, 30 * r) for r in range(3) for c in range(2)]
    slots = grid(3).slots
    wrong = Slot(1, 1, Rect(100, 55, 160, 80))
    third = Slot(2, 1, Rect(100, 81, 160, 95))
    guessed = TableGrid(Rect(0, 0, 200, 90), (*slots[:2], slots[2], wrong, slots[4], third))
    wide = [*pieces, piece("2x", 45, 60), piece("1x", 45, 30)]
    together = ["00", "01", "10 1x", "11", "20 2x", "21"]
    assert texts(fill_by_rows(guessed, wide)) == together != texts(fill(guessed, wide))


def test_nothing_is_joined_where_cells_would_overlap() -> None:
    """Rows are not joined if spanning cells would overlap."""
    box = Rect(0, 0, 10, 10)
    slots = (Slot(0, 0, box, 1, 2), Slot(1, 0, box), Slot(1, 1, box))
    known = FilledGrid(TableGrid(box, slots), ((piece("a", 0, 0),), (piece("b", 0, 20),), ()))

    assert joined(known, [0, 0]) is known
