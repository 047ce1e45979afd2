"""Headers are detected by the structure or by contrast with the body."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.findings import COLUMN_HEADER, NORMAL, ROW_HEADER
from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, TableGrid
from chalicelib.engines.ocr.tables.heading import is_numeric, kinds

BOX = Rect(0, 0, 10, 10)


def filled(rows: list[list[str]], head_rows: int = 0) -> FilledGrid:
    """Return a filled grid of texts."""
    slots = tuple(
        Slot(r, c, BOX, is_head=r < head_rows)
        for r, row in enumerate(rows)
        for c in range(len(row))
    )
    texts = tuple((TextLine(t, 1.0, BOX),) if t else () for row in rows for t in row)
    return FilledGrid(TableGrid(BOX, slots), texts)


@pytest.mark.parametrize("text", ["12", "1,250.00", "$3", "12.5%", "(40)", "-", "3-5", "RM 5.30"])
def test_numbers(text: str) -> None:
    """Amounts, percentages, ranges and dashes are numeric."""
    assert is_numeric(text)


@pytest.mark.parametrize("text", ["", "Total", "UD-557", "2nd floor", "A1"])
def test_words(text: str) -> None:
    """Words and identifiers are not numeric."""
    assert not is_numeric(text)


def test_words_above_numbers_are_headers() -> None:
    """Above and left of numbers, words are column and row headers."""
    found = kinds(filled([["Item", "Units", "Share"], ["Pen", "3", "4%"], ["Ink", "5", "6%"]]))
    assert found == (COLUMN_HEADER,) * 3 + (ROW_HEADER, NORMAL, NORMAL) * 2


def test_a_body_of_words_names_no_rows() -> None:
    """The first column of a table of words is not a row header."""
    found = kinds(filled([["Name", "City"], ["Ada", "Rome"], ["Bob", "Oslo"]]))
    assert found == (COLUMN_HEADER,) * 2 + (NORMAL,) * 4


def test_numbers_alone_have_no_head() -> None:
    """A first row of numbers is not a header, except for a row of years."""
    assert set(kinds(filled([["1", "2.5"], ["3", "4.5"], ["5", "6.5"]]))) == {NORMAL}
    years = kinds(filled([["", "2023", "2024"], ["North", "1", "2"], ["South", "3", "4"]]))
    assert years[:3] == (COLUMN_HEADER,) * 3


def test_the_structure_shows_the_head() -> None:
    """Header rows given by the structure are used unless they are most of the table."""
    rows = [["a", "b"], ["c", "d"], ["1", "2"], ["3", "4"], ["5", "6"]]
    assert kinds(filled(rows, 2))[:5] == (COLUMN_HEADER,) * 4 + (NORMAL,)
    assert kinds(filled(rows, 4)).count(COLUMN_HEADER) == 2
