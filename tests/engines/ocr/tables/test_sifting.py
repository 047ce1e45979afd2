"""Evidence for and against a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, TableGrid
from chalicelib.engines.ocr.tables.sifting import (
    agreement,
    crammed,
    is_ruled_table,
    is_table,
)


def filled(rows: list[list[str]], *, pitch: float = 30) -> FilledGrid:
    """Return texts in a grid of cells 100 wide; `|` separates lines of a cell."""
    slots, texts = [], []
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            top = r * pitch
            slots.append(Slot(r, c, Rect(c * 100, top, c * 100 + 100, top + pitch)))
            parts = text.split("|") if text else []
            texts.append(
                tuple(
                    TextLine(
                        part,
                        1.0,
                        Rect(c * 100 + 5, top + 2 + 12 * n, c * 100 + 45, top + 12 + 12 * n),
                    )
                    for n, part in enumerate(parts)
                )
            )
    return FilledGrid(TableGrid(Rect(0, 0, 100, 100), tuple(slots)), tuple(texts))


NUMBERS = [["Item", "Units", "Share"], ["Pen", "3", "4%"], ["Ink", "5", "6%"], ["Cap", "1", "9%"]]


def test_a_plain_table_is_one() -> None:
    """Words above numbers in three columns are a table."""
    assert is_table(filled(NUMBERS), is_ruled=False)
    assert is_ruled_table(filled(NUMBERS))
    assert crammed(filled(NUMBERS)) == 0


def test_prose_is_none() -> None:
    """Cells as long as lines of prose are not a table."""
    long = "and so the whole of the matter was put before them"
    assert not is_table(filled([[long, long]] * 5), is_ruled=True)


def test_keys_and_values_are_none() -> None:
    """Captions with colons and values are not a table, in two or four columns."""
    assert not is_table(filled([["Name:", "12"], ["Age:", "40"], ["Sum:", "9"]]), is_ruled=True)
    assert not is_table(filled([["A:", "1", "B:", "2"]] * 4), is_ruled=False)


def test_two_columns_need_numbers_or_rules() -> None:
    """Two columns of addresses or totals are not a table; prices below a header are."""
    words = [["Ada", "Rome"], ["Bob", "Oslo"], ["Cid", "Bern"], ["Dan", "Graz"]]
    assert not is_table(filled(words), is_ruled=False)
    assert is_table(filled(words), is_ruled=True)
    prices = [[name, "4.20"] for name, _ in words]
    assert not is_table(filled(prices), is_ruled=False)
    assert is_table(filled([["Name", "Price"], *prices]), is_ruled=False)


def test_too_little_is_none() -> None:
    """Few rows, one column, mostly empty or distant cells are not a table."""
    assert not is_table(filled(NUMBERS[:2]), is_ruled=True)
    assert not is_table(filled([["1"], ["2"], ["3"], ["4"]]), is_ruled=True)
    sparse = [["a", "", ""], ["", "b", ""], ["", "", "c"], ["d", "e", ""], ["f", "", ""]]
    assert not is_table(filled(sparse), is_ruled=True)
    assert not is_table(filled(NUMBERS, pitch=120), is_ruled=True)


def test_a_few_texts_between_rules_are_no_table() -> None:
    """Rules with hardly any text between them are not a table."""
    assert not is_ruled_table(filled([["Item", ""], ["", ""], ["", "x"]]))


def test_wrapped_texts_are_one_row() -> None:
    """Cells of wrapped lines are one row; cells of short lines are several."""
    head = ["Name of the owner", "Place"]
    wrapped = [head, ["Boats of the|harbour office", "Pier and the|northern quay"]]
    assert crammed(filled(wrapped)) == 0
    assert crammed(filled([head, ["oak|pine", "yes|no"]])) == 2


def test_long_lists_of_words_are_tables() -> None:
    """Many rows of words in three columns are a table; three rows of addresses are not."""
    rows = [["Kelby", "B826", "open"], ["Tarn", "K42", "closed"]] * 3
    assert is_table(filled(rows), is_ruled=False)
    assert not is_table(filled(rows[:4]), is_ruled=False)


def test_one_row_below_names_is_a_table() -> None:
    """One row below a header of three columns is a table; of two columns it is not."""
    rows = [["Item", "Hours", "Rate", "Amount"], ["Repair", "12", "40.00", "480.00"]]
    assert is_table(filled(rows), is_ruled=False)
    assert not is_table(filled([row[:2] for row in rows]), is_ruled=False)


def test_letterheads_are_none() -> None:
    """Addresses side by side without numbers or header are not a table."""
    addresses = [["Bill to", "Ship to", "Pay to"], *[["Ann", "12 Elm St", "York"]] * 3]
    facts = [["Ann", "Number", "17"], ["12 Elm St", "Date", "3/14"], ["York", "Due", "4/13"]]
    assert not is_table(filled(addresses), is_ruled=False)
    assert not is_table(filled(facts), is_ruled=False)
    assert is_table(filled(addresses), is_ruled=True)


def test_agreement_counts_shared_neighbours() -> None:
    """Two structures agree by the neighbours that spans share in rows and columns."""
    table = filled(NUMBERS)
    slots = tuple(replace(slot, row=min(slot.row, 2)) for slot in table.grid.slots)
    joined = FilledGrid(replace(table.grid, slots=slots), table.texts)

    assert agreement(table, table) == 1
    assert agreement(table, joined) == pytest.approx((0.5 + 0.5 * 0.5 + 1) / 2)
