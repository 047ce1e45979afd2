"""Tables with some rules, rotated, or with a header of several lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.table_pages import draw_table
from chalicelib.domain.documents.page import Page, ReadPage, Rect
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.engines.ocr.tables.sifting import is_table
from chalicelib.engines.ocr.turning import turned_lines, turned_pixels
from tests.engines.ocr.tables.drawn import PROSE, SALES, Reader, Sheet, draw_rows, texts
from tests.engines.ocr.tables.test_sifting import filled

STOCKS = (
    ("Harbour", "Boats", "Nets", "Crew", "Days"),
    ("Kelby", "12", "48", "31", "204"),
    ("Orrin", "7", "19", "16", "188"),
    ("Saltmere", "23", "90", "64", "215"),
    ("Tarn", "4", "11", "9", "97"),
)


@pytest.mark.parametrize("network", [False, True])
def test_alignment_parts_what_rules_do_not(network: bool) -> None:
    """A table with one vertical rule still gets all of its columns."""
    sheet = Sheet()
    edges, tops = draw_rows(sheet, STOCKS)
    for y in tops:
        sheet.rule((edges[0] - 12, y), (edges[-1] - 12, y))
    for x in (edges[0], edges[1], edges[-1]):
        sheet.rule((x - 12, tops[0]), (x - 12, tops[-1]))

    (table,) = sheet.tables(with_network=network)

    assert texts(table) == [list(row) for row in STOCKS]


def test_columns_of_text_outweigh_rules_that_part_few_of_them() -> None:
    """Columns without a rule are split, although one rule crosses a header cell."""
    page = draw_table("first column", 3).layer()

    (table,) = find_tables(page, Reader(), None, lambda: None)

    assert len({cell.column for cell in table.cells}) == 7


@pytest.mark.parametrize("network", [False, True])
def test_columns_ruled_in_the_header_alone_hold_in_the_body(network: bool) -> None:
    """Vertical rules of the header also divide the body."""
    sheet = Sheet()
    edges, tops = draw_rows(sheet, STOCKS)
    for y in tops:
        sheet.rule((edges[0] - 12, y), (edges[-1] - 12, y))
    for x in edges:
        end = tops[-1] if x in (edges[0], edges[-1]) else tops[1]
        sheet.rule((x - 12, tops[0]), (x - 12, end))

    (table,) = sheet.tables(with_network=network)

    assert texts(table) == [list(row) for row in STOCKS]


def test_rules_still_join_what_few_gaps_part() -> None:
    """A ruled cell with two texts in a line stays one cell."""
    sheet = Sheet()
    rows = [[*row] for row in SALES]
    rows[2][0] = "Note     book"
    edges, tops = draw_rows(sheet, rows)
    for y in tops:
        sheet.rule((edges[0] - 12, y), (edges[-1] - 12, y))
    for x in edges:
        sheet.rule((x - 12, tops[0]), (x - 12, tops[-1]))

    (table,) = sheet.tables()

    assert len(table.cells) == 24


@pytest.mark.parametrize("turns", [1, 3])
def test_a_sideways_table_on_an_upright_page(turns: int) -> None:
    """A table rotated by 90 degrees is read along its text; boxes are in page coordinates."""
    table = Sheet(600, 400)
    edges, tops = draw_rows(table, SALES)
    for y in tops:
        table.rule((edges[0] - 12, y), (edges[-1] - 12, y))
    for x in edges:
        table.rule((x - 12, tops[0]), (x - 12, tops[-1]))
    page = Sheet(1000, 1200)
    for number, line in enumerate(PROSE):
        page.write(80, 60 + 30 * number, line)
    pixels = np.asarray(page.image).copy()
    pixels[400:1000, 300:700] = turned_pixels(np.asarray(table.image), turns)
    sideways = [
        replace(
            line,
            box=Rect(*(v + o for v, o in zip(edges_of(line.box), (300, 400) * 2, strict=True))),
            quad=tuple((x + 300, y + 400) for x, y in line.corners),
        )
        for line in turned_lines(table.lines, turns, 600, 400)
    ]
    lines = (*page.lines, *sideways)
    read = ReadPage(Page(1, 1000, 1200, 1.0, pixels), 0, pixels, lines, True)

    (found,) = find_tables(read, Reader(), None, lambda: None)

    assert texts(found) == [list(row) for row in SALES]
    for cell in found.cells:
        (line,) = [one for one in sideways if one.text == cell.text]
        assert cell.box.overlap(line.box) > 0.9 * line.box.area


def edges_of(box: Rect) -> tuple[float, float, float, float]:
    """Return the sides of a box."""
    return box.min_x, box.min_y, box.max_x, box.max_y


def test_a_list_below_a_header_of_several_lines() -> None:
    """A long unruled list of words and codes is a table if all columns have headers."""
    sheet = Sheet(1000, 900)
    names = ("Alder", "Birch", "Cedar", "Damson", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper")
    body = [(f"{n:02}", name, "North", f"{7 * n:03}", "Hill") for n, name in enumerate(names, 1)]
    rows = [("Code", "", "", "Code", ""), ("", "Tree", "Region", "", "Place"), *body]
    draw_rows(sheet, rows, gap=60)

    (table,) = sheet.tables(with_network=False)

    assert texts(table)[-10:] == [list(row) for row in body]


def test_addresses_with_late_numbers_are_no_table() -> None:
    """Rows of words above a number are not a header if they are most of the text."""
    rows = [
        ["Ms Ada Winslow", "Harbour Office", "Registry"],
        ["Quillmoor House", "Pier Street", "Town Hall"],
        ["Old Ferry Road", "Kelby", "Market Square"],
        ["Saltmere", "Order", "4711"],
    ]
    assert not is_table(filled(rows), is_ruled=False)
    header = [["Code", "", "", ""], ["", "Tree", "Region", "Place"]]
    body = [[f"{n}", "Elm", "North", f"{7 * n}"] for n in range(1, 9)]
    assert is_table(filled([*header, *body]), is_ruled=False)


@pytest.mark.parametrize("network", [False, True])
def test_a_grid_whose_texts_all_span_columns_is_read(network: bool) -> None:
    """A short rule inside a cell does not leave a column without cells."""
    sheet = Sheet(width=950, height=400)
    for y in (50, 150, 250, 310):
        sheet.rule((50, y), (850, y))
    for x in (50, 450, 850):
        sheet.rule((x, 50), (x, 310))
    for x in (250, 650):
        sheet.rule((x, 250), (x, 310))
    sheet.rule((120, 100), (400, 100))
    for x, y, text in ((180, 65, "Alpha words"), (180, 112, "Beta words"), (580, 85, "Gamma")):
        sheet.write(x, y, text)
    sheet.write(180, 185, "Delta")
    sheet.write(580, 185, "Epsilon")

    found = sheet.tables(with_network=network)

    assert "Epsilon" in str(found)
