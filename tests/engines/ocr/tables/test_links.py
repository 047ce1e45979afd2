"""Parts of one table on several pages are linked; other similar tables are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chalicelib.domain.documents.findings import COLUMN_HEADER, NORMAL, Cell, NamedTable, Table
from chalicelib.domain.documents.page import Page, ReadPage, Rect
from chalicelib.engines.ocr.tables.links import PagePart, link

HEADER = ("Date", "Item", "Amount")
FIRST = (HEADER, ("May 2", "Pen", "2.50"), ("May 3", "Ink", "4.75"))
MORE = (("May 9", "Paper", "11.00"), ("May 10", "Glue", "3.10"))


def part(
    number: int,
    rows: Sequence[Sequence[str]],
    top: float = 60,
    *,
    has_header: bool = True,
    shift: float = 0,
    above: Sequence[str] = (),
    below: Sequence[str] = (),
) -> PagePart:
    """Return a table on a 600 x 1000 page; columns are 200 apart, rows 20."""
    cells = tuple(
        Cell(
            row,
            column,
            text,
            0.9,
            Rect(200.0 * column - 190 + shift, top + 20 * row, 200.0 * column, top + 20 * row + 15),
            COLUMN_HEADER if has_header and row == 1 else NORMAL,
        )
        for row, texts in enumerate(rows, 1)
        for column, text in enumerate(texts, 1)
    )
    box = Rect(10, top, 590, top + 20 * len(rows) + 20)
    view = ReadPage(Page(number, 600, 1000, 1.0), 0, None, ())
    return PagePart(view, Table(box, cells, 1.0, tuple(above), tuple(below)))


def rows_of(table: Table) -> list[tuple[int, str]]:
    """Return row and text of each cell of the first column."""
    return [(cell.row, cell.text) for cell in table.cells if cell.column == 1]


@pytest.mark.parametrize("repeats", [True, False])
def test_rows_go_on(repeats: bool) -> None:
    """Row numbers continue over three pages; a repeated header is dropped."""
    later = (HEADER, *MORE) if repeats else MORE
    long = (*later, *[("May 11", "Nib", "1.00")] * 20)
    parts = [
        part(1, FIRST, 800, above=["Orchid Ltd"], below=["Page 1 of 3"]),
        part(2, long, has_header=repeats, above=["Orchid Ltd"], below=["Page 2 of 3"]),
        part(3, later, above=["0rchid Ltd", "continued from page 2"], below=["Total", "x", "y"]),
    ]

    (whole,) = link(parts)

    assert [row for row, _ in rows_of(whole.table)] == [*range(1, 28)]
    assert rows_of(whole.parts[1])[:2] == [(4, "May 9"), (5, "May 10")]
    assert rows_of(whole.parts[2]) == [(26, "May 9"), (27, "May 10")]
    assert {cell.kind for cell in whole.parts[2].cells} == {NORMAL}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (part(1, FIRST, 800), part(3, MORE)),
        (part(1, FIRST, 100), part(2, MORE)),
        (part(1, FIRST, 800), part(2, MORE, 700)),
        (part(1, FIRST, 800), part(2, [row[:2] for row in MORE])),
        (part(1, FIRST, 800), part(2, [("Name", "Town", "Phone"), *MORE])),
        (part(1, FIRST, 800), part(2, MORE, has_header=False, shift=210)),
        (part(1, FIRST, 800, below=["Thank you", "for your", "order"]), part(2, (HEADER, *MORE))),
        (part(1, FIRST, 800), part(2, (HEADER, *MORE), above=["Dear Sir", "here is", "more"])),
    ],
    ids=[
        "page between",
        "ends early",
        "begins late",
        "columns",
        "header",
        "places",
        "text",
        "head",
    ],
)
def test_other_tables_stay_apart(first: PagePart, second: PagePart) -> None:
    """With a page or text between them, other columns or another header, tables stay separate."""
    assert [len(whole.parts) for whole in link([first, second])] == [1, 1]


def test_second_table_of_a_page_goes_on_with_nothing() -> None:
    """Only the first table of a page can continue the last one of the previous page."""
    parts = [part(1, FIRST, 800), part(2, (("A", "1"), ("B", "2"))), part(2, MORE, 300)]

    assert [len(whole.parts) for whole in link(parts)] == [1, 1, 1]


def test_words_alone_need_the_header() -> None:
    """Without numeric columns, a first row that looks like a header starts a new table."""
    words = [("Name", "Town", "Trade"), ("Ann", "York", "smith")]
    other = [("Street", "County", "River"), ("Elm", "Kent", "Stour")]

    apart = link([part(1, words, 800), part(2, other)])
    one = link([part(1, words, 800), part(2, other[1:], has_header=False)])

    assert (len(apart), len(one)) == (2, 1)


def test_names_are_shared_out() -> None:
    """Each part gets the entities of its own cells, and the names of all columns."""
    (whole,) = link([part(1, FIRST, 800), part(2, (HEADER, *MORE))])
    entities = tuple(f"{cell.row}-{cell.column}" for cell in whole.table.cells)

    first, second = whole.split(NamedTable(whole.table, "shop", entities, {}, {1: "Date"}))

    assert (first.name, second.name) == ("shop", "shop")
    assert second.cell_entities == ("4-1", "4-2", "4-3", "5-1", "5-2", "5-3")
    assert second.column_entities == {1: "Date"}
    assert [cell.text for cell in first.table.cells] == [text for row in FIRST for text in row]


def test_many_rows_around_a_table_are_compared_at_once() -> None:
    """Thousands of text rows around a table are compared quickly."""
    rows = [f"{number:x} some words" for number in range(3_000)]
    first = part(1, FIRST, 800, below=rows)

    assert len(link([first, part(2, (HEADER, *MORE), above=rows[::-1])])) == 1
