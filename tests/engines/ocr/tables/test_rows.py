"""Spans are grouped into rows, and gutters narrowed."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.rows import covered, gaps, group_rows, narrowed


def piece(text: str, x: float, y: float, width: float = 50, height: float = 16) -> TextLine:
    """Return a span by its top left corner."""
    return TextLine(text, 1.0, Rect(x, y, x + width, y + height))


def test_rows_hold_what_stands_side_by_side() -> None:
    """Slightly shifted spans share a row, sorted from the left; the next line does not."""
    pieces = [piece("b", 100, 3), piece("a", 0, 0), piece("c", 0, 20), piece("d", 100, 22, 50, 9)]
    assert [[p.text for p in row] for row in group_rows(pieces)] == [["a", "b"], ["c", "d"]]


def test_stacked_lines_are_rows_of_their_own() -> None:
    """Lines that touch vertically are separate rows."""
    assert len(group_rows([piece("a", 0, 14 * n) for n in range(5)])) == 5
    assert group_rows([]) == []


def test_gutters_are_what_rows_leave_free() -> None:
    """Each row narrows the gutters; those that become too small are dropped."""
    first = [piece("a", 0, 0), piece("b", 100, 0), piece("c", 200, 0)]
    gutters = gaps(covered(first))
    assert gutters == [(50, 100), (150, 200)]
    assert narrowed(gutters, [piece("x", 0, 20, 80)], 10) == [(80, 100), (150, 200)]
    assert narrowed(gutters, [piece("x", 0, 20, 95)], 10) == [(150, 200)]
    assert narrowed([(0, 100)], [piece("x", 40, 0, 20)], 10) == [(0, 40), (60, 100)]
