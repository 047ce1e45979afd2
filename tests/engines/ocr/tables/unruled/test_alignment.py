"""Rows and columns from alignment alone."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.filling import fill
from chalicelib.engines.ocr.tables.grid import TableGrid, text_of
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings, row_separators
from chalicelib.engines.ocr.tables.unruled.alignment import aligned_grid, group_name


def piece(text: str, x: float, y: float, width: float = 60) -> TextLine:
    """Return a span 16 pixels high by its top left corner."""
    return TextLine(text, 1.0, Rect(x, y, x + width, y + 16))


def cells_of(grid: TableGrid, pieces: list[TextLine]) -> list[tuple[int, int, int, str]]:
    """Return row, column, column span and text of each cell."""
    filled = fill(grid, pieces)
    return [
        (slot.row, slot.column, slot.column_span, text_of(lines))
        for slot, lines in zip(grid.slots, filled.texts, strict=True)
    ]


def test_gutters_make_columns_and_gaps_empty_places() -> None:
    """Every row has a cell in every column, with or without text."""
    pieces = [piece(f"{r}{c}", 100 * c, 30 * r) for r in range(4) for c in range(3) if r + c != 3]
    found = cells_of(aligned_grid(pieces), pieces)
    assert found == [(r, c, 1, f"{r}{c}" if r + c != 3 else "") for r in range(4) for c in range(3)]


def test_a_head_above_two_columns_spans_them() -> None:
    """A span that crosses a gutter covers both columns."""
    pieces = [piece(f"{r}{c}", 100 * c, 30 * r) for r in range(1, 9) for c in range(3)]
    pieces += [piece("head", 120, 0, 120), piece("x", 0, 0)]
    found = cells_of(aligned_grid(pieces), pieces)
    assert found[:2] == [(0, 0, 1, "x"), (0, 1, 2, "head")]


def test_a_name_in_a_gutter_makes_no_column_and_covers_both_sides() -> None:
    """A name of a group of columns, shorter than the gutter below it, covers both columns."""
    pieces = [piece(f"{r}{c}", 120 * c, 30 * r) for r in range(1, 5) for c in range(5)]
    pieces += [piece("all", 185, 0, 50), piece("men", 425, 0, 50)]
    found = cells_of(aligned_grid(pieces, head=1), pieces)
    assert found[:3] == [(0, 0, 1, ""), (0, 1, 2, "all"), (0, 3, 2, "men")]
    assert len(found) == 3 + 4 * 5


def test_a_name_is_as_wide_as_the_rule_below_it() -> None:
    """A ruled line, or the part of it between vertical ones, shows which columns a name covers."""
    name = piece("all", 200, 0, 40)
    rule, far = Ruling(20, 100, 340, 1), Ruling(20, 0, 340, 1)
    side = Ruling(100, 0, 90, 1)
    for rulings in (Rulings((rule,), ()), Rulings((far,), (side,))):
        box = group_name(name, rulings).box
        assert (box.min_x, box.max_x) == (100, 340)
    assert group_name(name, Rulings((far,), ())) == name


def test_neighbours_in_a_header_do_not_share_a_column() -> None:
    """A header slightly wider than its column does not cover the next one."""
    pieces = [piece(f"{r}{c}", 100 * c, 30 * r) for r in range(1, 12) for c in (0, 2)]
    pieces += [piece(f"{r}1", 130, 30 * r, 30) for r in range(1, 12)]
    pieces += [piece("name", 0, 0, 102), piece("units", 106, 0, 54), piece("sum", 200, 0)]
    found = cells_of(aligned_grid(pieces), pieces)
    assert found[:3] == [(0, 0, 1, "name"), (0, 1, 1, "units"), (0, 2, 1, "sum")]


def test_lines_nearer_than_rows_go_on() -> None:
    """A line nearer than the row distance continues the row above."""
    pieces = [piece(f"{r}{c}", 100 * c, 50 * r) for r in range(4) for c in range(2)]
    pieces.append(piece("more", 100, 50 + 19))
    found = cells_of(aligned_grid(pieces), pieces)
    assert [entry[3] for entry in found] == ["00", "01", "10", "11 more", "20", "21", "30", "31"]


def test_rules_between_rows_decide() -> None:
    """Everything between two rules is one row, however far apart."""
    pieces = [piece(f"{r}{c}", 100 * c, 60 * r) for r in range(4) for c in range(2)]
    pieces.append(piece("low", 0, 60 + 30))
    rules = [Ruling(60.0 * r - 6, 0, 170, 2) for r in range(5)]
    separators = row_separators(rules, Rect(0, 0, 160, 200))
    assert separators == [54, 114, 174]
    found = cells_of(aligned_grid(pieces, separators), pieces)
    assert [entry[3] for entry in found] == ["00", "01", "10 low", "11", "20", "21", "30", "31"]
