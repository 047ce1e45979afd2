"""Rows are collected into a table region."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.settings import MOST_HEADER_ROWS
from chalicelib.engines.ocr.tables.unruled.regions import Growing, aligned_regions, is_parted


def row(y: float, *lefts: float, width: float = 60, text: str = "12") -> list[TextLine]:
    """Return adjacent spans 16 pixels high, in a row with top y."""
    return [TextLine(text, 1.0, Rect(x, y, x + width, y + 16)) for x in lefts]


def grown(*rows: list[TextLine]) -> tuple[Growing, list[bool]]:
    """Offer rows one after the other, and return which were accepted."""
    growing = Growing(20)
    return growing, [growing.takes(each) for each in rows]


@pytest.mark.parametrize(("white", "is_taken"), [(30, True), (70, False)])
def test_white_ends_a_region(white: float, is_taken: bool) -> None:
    """A gap of three text heights between the first two rows ends a region."""
    _, taken = grown(row(0, 0, 120), row(16 + white, 0, 120))

    assert taken == [True, is_taken]


def test_rows_put_off_come_back_with_the_next_columns() -> None:
    """A row with one span belongs to the table if a row with the same gutters follows."""
    growing, taken = grown(row(0, 0, 120), row(30, 0), row(60, 0, 120))

    assert taken == [True, True, True]
    assert len(growing.rows) == 3
    assert growing.pending == []


def test_rows_put_off_are_few() -> None:
    """Many single spans in a row end a region."""
    lone = [row(30.0 * n, 0) for n in range(1, 6)]

    growing, taken = grown(row(0, 0, 120), *lone)

    assert taken == [True] + [True] * MOST_HEADER_ROWS + [False] * (5 - MOST_HEADER_ROWS)
    assert len(growing.rows) == 1


def test_a_row_is_parted_by_a_gutter_between_its_pieces() -> None:
    """A gutter splits a row only if it is between spans of that row."""
    assert is_parted(row(0, 0, 120), [(60, 120)])
    assert not is_parted(row(0, 0, 120), [(180, 240)])


def test_a_header_whose_rows_overlap_belongs_to_the_region() -> None:
    """Names of one line next to names of two lines overlap both, and do not end the region."""
    _, taken = grown(row(0, 0, 240), row(10, 120, 360), row(20, 0, 240), row(60, 0, 120, 240, 360))

    assert taken == [True] * 4


def test_a_table_below_a_title_with_other_gaps_keeps_its_header() -> None:
    """A title with gaps of its own does not take the header away from the rows below it."""
    title = row(0, 0, 80)
    table = [row(30.0 * n, 0, 100, 200, 300) for n in range(1, 6)]
    table[1] = [*row(60, 0, width=85), *row(60, 100, 200, 300)]

    *_, last = aligned_regions([piece for each in (title, *table) for piece in each], [], 16)

    assert last.box.min_y == 30
