"""Tables under a row of headers begin and end where they are printed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from chalicelib.domain.documents.findings import COLUMN_HEADER
from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.grid import FilledGrid, text_of
from chalicelib.engines.ocr.tables.rulings import Ruling
from chalicelib.engines.ocr.tables.unruled.headed import find_headed
from tests.engines.ocr.tables.drawn import Sheet, texts

HEADER = ((60, "Qty"), (140, "Description"), (560, "Price"), (700, "Amount"))
ITEM = ((60, "2"), (140, "Desk lamp"), (560, "21.00"), (700, "42.00"))


def row(y: float, *pieces: tuple[float, str]) -> list[TextLine]:
    """Return pieces 16 pixels high, 9 for each letter."""
    return [TextLine(text, 1.0, Rect(x, y, x + 9 * len(text), y + 16)) for x, text in pieces]


def tables(*rows: Sequence[TextLine], rules: Sequence[Ruling] = ()) -> list[FilledGrid]:
    """Find the tables of rows of text."""
    return list(find_headed([piece for each in rows for piece in each], rules, 16))


def rows_of(filled: FilledGrid) -> list[list[str]]:
    """Return texts row by row."""
    found: list[list[str]] = [[] for _ in range(filled.grid.row_count)]
    for slot, lines in zip(filled.grid.slots, filled.texts, strict=True):
        found[slot.row].append(text_of(lines))
    return found


def test_header_and_one_row() -> None:
    """They are a table; the totals below and the letterhead above are not of it."""
    (table,) = tables(
        row(0, (60, "Orchid Ltd"), (600, "Invoice 17")),
        row(100, *HEADER),
        row(130, *ITEM),
        row(190, (560, "Subtotal"), (700, "42.00")),
    )

    assert rows_of(table) == [[text for _, text in HEADER], [text for _, text in ITEM]]
    assert {slot.is_head for slot in table.grid.slots if slot.row == 0} == {True}


def test_wrapped_cells_go_on() -> None:
    """Lines without values belong to the row they are nearer to, below it or above."""
    (table,) = tables(
        row(100, *HEADER),
        row(130, *ITEM),
        row(150, (140, "with a shade of brass")),
        row(186, (140, "Delivery to the")),
        row(206, (60, "1"), (140, "third floor"), (560, "9.00"), (700, "9.00")),
    )

    assert [cells[1] for cells in rows_of(table)] == [
        "Description",
        "Desk lamp with a shade of brass",
        "Delivery to the third floor",
    ]


@pytest.mark.parametrize(
    "below",
    [
        row(160, (140, "Please pay within thirty days, and quote the number of this invoice")),
        row(300, *ITEM),
        row(160, (560, "Total"), (700, "42.00")),
        row(160, (-90, "x"), (140, "Desk lamp"), (560, "21.00"), (700, "42.00")),
    ],
    ids=["several columns", "far", "totals", "next to"],
)
def test_what_does_not_fit_ends_a_table(below: list[TextLine]) -> None:
    """Text under several headers, wide white, totals and columns of other tables end it."""
    (table,) = tables(row(100, *HEADER), row(130, *ITEM), below)

    assert table.grid.row_count == 2


def test_rule_closes_a_table() -> None:
    """Behind the last rule as wide as the table no row without a value continues it."""
    closing = Ruling(152, 60, 760, 1)
    below = row(160, (140, "Net 30 days"))

    (closed,) = tables(row(100, *HEADER), row(130, *ITEM), below, rules=[closing])
    (open_,) = tables(row(100, *HEADER), row(130, *ITEM), below)

    assert (rows_of(closed)[-1][1], rows_of(open_)[-1][1]) == ("Desk lamp", "Desk lamp Net 30 days")


@pytest.mark.parametrize(
    ("header", "item"),
    [
        ([(60, "1994"), (140, "1997"), (560, "2003")], [(60, "12"), (140, "13"), (560, "14")]),
        ([(60, "Name:"), (140, "Town:"), (560, "Age:")], [(60, "Ann"), (140, "York"), (560, "9")]),
        ([(60, "Qty"), (560, "Price")], [(60, "2"), (560, "3.00")]),
        (HEADER, [(60, "Please"), (140, "wait"), (560, "here")]),
        (HEADER, [(60, "2"), (140, "Desk lamp"), (560, "21.00")]),
        (HEADER, [(60, "2"), (140, "12.00"), (240, "13.00"), (560, "21.00"), (700, "42.00")]),
    ],
    ids=["years", "labels", "two", "words", "empty column", "two numbers under one header"],
)
def test_headers_that_tell_nothing(
    header: list[tuple[float, str]], item: list[tuple[float, str]]
) -> None:
    """Without names above, values below and one value a column, others have to find the table."""
    assert tables(row(100, *header), row(130, *item)) == []


def test_header_of_two_lines() -> None:
    """The upper line of a name belongs to it; a head over several columns announces more rows."""
    item = row(130, *ITEM)

    (table,) = tables(row(82, (560, "Unit")), row(100, *HEADER), item)

    assert rows_of(table)[0][2] == "Unit Price"
    assert tables(row(82, (560, "In dollars and cents")), row(100, *HEADER), item) == []


def test_ruled_columns_and_open_rows() -> None:
    """A frame with ruled columns alone has as many rows as its text."""
    sheet = Sheet()
    rows = [[text for _, text in HEADER], *[["2", f"Lamp {n}", "21.00", "42.00"] for n in range(6)]]
    for number, cells in enumerate(rows):
        for x, text in zip((60, 140, 560, 700), cells, strict=True):
            sheet.write(x, 100 + 34 * number, text)
    for x in (50, 130, 550, 690, 800):
        sheet.rule((x, 92), (x, 345))
    for y in (92, 126, 345):
        sheet.rule((50, y), (800, y))

    (table,) = sheet.tables()

    assert texts(table) == rows
    assert [cell.kind for cell in table.cells[:4]] == [COLUMN_HEADER] * 4


def test_joined_cells_are_cut_under_their_headers() -> None:
    """Neighbours that were read as one line are parted where a word begins under its header."""
    text = "AD-932 Desk lamp"
    places = tuple((number + 0.5) / len(text) for number in range(len(text)))
    joined = TextLine(text, 0.9, Rect(60, 130, 60 + 9 * len(text), 146), None, places)

    (table,) = tables(
        row(100, (60, "Code"), (123, "Description"), (560, "Price"), (700, "Amount")),
        [joined, *row(130, *ITEM[2:])],
    )

    assert rows_of(table)[1] == ["AD-932", "Desk lamp", "21.00", "42.00"]


def test_addresses_side_by_side_have_no_header() -> None:
    """Words below words are not values."""
    heads = row(100, (60, "Bill to"), (300, "Ship to"), (560, "Remit to"))
    names = row(124, (60, "Ann"), (300, "Bob"), (560, "Cid"))
    towns = row(148, (60, "12 Elm St"), (300, "York"), (560, "Kent 4"))

    assert tables(heads, names, towns) == []


def test_pages_that_look_like_headers_end_soon() -> None:
    """Every row might head all that follow; each text is tried with a few of them alone."""
    words = ((60, "Qty"), (140, "Name"), (560, "Price"))
    rows = [
        row(20.0 * n, *words, (640, "7")) if n % 2 else row(20.0 * n, *words) for n in range(2_000)
    ]
    start = time.process_time()

    list(find_headed([piece for each in rows for piece in each], [], 16))

    assert time.process_time() - start < 4.0
