"""Rows that are continuation lines of cells are joined."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.filling import join_wrapped
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, TableGrid, text_of

BOX = Rect(0, 0, 10, 10)


def piece(text: str, y: float) -> TextLine:
    """Return a span at a height."""
    return TextLine(text, 1.0, Rect(0, y, 10, y + 8))


def filled(places: list[tuple[int, int, list[TextLine]]]) -> FilledGrid:
    """Return a filled grid from rows, columns and lines."""
    slots = tuple(Slot(row, column, BOX) for row, column, _ in places)
    return FilledGrid(TableGrid(BOX, slots), tuple(tuple(lines) for _, _, lines in places))


A, B, C, D = piece("a", 0), piece("b", 0), piece("more", 10), piece("next", 30)
KNOWN = filled([(0, 0, [A]), (0, 1, [B]), (1, 0, []), (1, 1, [C]), (2, 0, [D]), (2, 1, [])])


def test_a_row_of_second_lines_joins_the_row_above() -> None:
    """Continuation rows are joined to the row above, and later rows move up."""
    aligned = filled([(0, 0, [A]), (0, 1, [B, C]), (1, 0, [D]), (1, 1, [])])
    found = join_wrapped(KNOWN, aligned)
    assert [(slot.row, slot.column) for slot in found.grid.slots] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    assert [text_of(lines) for lines in found.texts] == ["a", "b more", "next", ""]


def test_rows_that_are_apart_stay() -> None:
    """Rows without a common cell stay separate."""
    assert join_wrapped(KNOWN, KNOWN) is KNOWN


def test_nothing_is_joined_where_places_would_overlap() -> None:
    """Rows are not joined if spanning cells would overlap."""
    slots = (Slot(0, 0, BOX, 1, 2), Slot(1, 0, BOX), Slot(1, 1, BOX))
    predicted = FilledGrid(TableGrid(BOX, slots), ((A,), (C,), ()))
    aligned = filled([(0, 0, [A, C])])
    assert join_wrapped(predicted, aligned) is predicted
