"""Tables are found with cells, spans and headers, and other content is not."""

from __future__ import annotations

import time

import numpy as np
import pytest

from chalicelib.domain.documents.findings import COLUMN_HEADER, NORMAL, ROW_HEADER
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.tables.finder import find_tables
from tests.engines.ocr.tables.drawn import (
    PROSE,
    SALES,
    Reader,
    Sheet,
    draw_rows,
    grid_lines,
    structure,
    texts,
)


def rows_of(table_rows: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    """Return rows as lists."""
    return [list(row) for row in table_rows]


def test_a_ruled_table_is_exact() -> None:
    """Every cell of a ruled table has the right position, text, box and kind."""
    sheet = Sheet()
    edges, tops = draw_rows(sheet, SALES)
    grid_lines(sheet, edges, tops)
    (table,) = sheet.tables()
    assert texts(table) == rows_of(SALES)
    assert {(cell.row, cell.column) for cell in table.cells} == {
        (row, column) for row in range(1, 7) for column in range(1, 5)
    }
    kinds = {(cell.row, cell.column): cell.kind for cell in table.cells}
    assert {kinds[1, column] for column in range(1, 5)} == {COLUMN_HEADER}
    assert {kinds[row, 1] for row in range(2, 7)} == {ROW_HEADER}
    assert {kinds[row, 4] for row in range(2, 7)} == {NORMAL}
    assert all(cell.probability == pytest.approx(0.9) for cell in table.cells)
    assert table.box.overlap(Rect(edges[0] - 12, tops[0], edges[-1] - 12, tops[-1])) > 0.97 * (
        table.box.area
    )


def test_missing_borders_merge_cells() -> None:
    """A header over two columns and a cell over two rows are spans."""
    sheet = Sheet()
    for y in (60, 160, 220):
        sheet.rule((60, y), (660, y))
    sheet.rule((260, 110), (660, 110))
    for x in (60, 260, 660):
        sheet.rule((x, 60), (x, 220))
    sheet.rule((460, 110), (460, 220))
    for x, y, text in (
        (100, 95, "Region"),
        (400, 75, "Sales"),
        (300, 125, "North"),
        (500, 125, "South"),
        (100, 180, "2024"),
        (300, 180, "17"),
        (500, 180, "23"),
    ):
        sheet.write(x, y, text)
    (table,) = sheet.tables()
    spans = {
        cell.text: (cell.row, cell.column, cell.row_span, cell.column_span)
        for cell in (table.cells)
    }
    assert spans == {
        "Region": (1, 1, 2, 1),
        "Sales": (1, 2, 1, 2),
        "North": (2, 2, 1, 1),
        "South": (2, 3, 1, 1),
        "2024": (3, 1, 1, 1),
        "17": (3, 2, 1, 1),
        "23": (3, 3, 1, 1),
    }
    heads = {cell.text for cell in table.cells if cell.kind == COLUMN_HEADER}
    assert heads == {"Region", "Sales", "North", "South"}


@pytest.mark.parametrize("with_network", [True, False])
@pytest.mark.parametrize("style", ["plain", "narrow", "head rule", "rules", "shaded", "dark head"])
def test_tables_without_cells_ruled_are_found(style: str, with_network: bool) -> None:
    """Aligned, underlined and shaded tables are found, with and without the network."""
    sheet = Sheet()
    sheet.write(60, 20, "Table 3. What was sold in spring")
    edges, tops = draw_rows(sheet, SALES, (60, 80), gap=22 if style == "narrow" else 60)
    right = edges[-1] - 40
    if style in ("head rule", "rules"):
        for y in tops if style == "rules" else tops[1:2]:
            sheet.rule((edges[0], y), (right, y), 1)
    if style in ("shaded", "dark head"):
        sheet = Sheet()
        for number in range(0, len(SALES), 2):
            colour = (232, 238, 246) if style == "shaded" or number else (30, 60, 110)
            sheet.pen.rectangle([50, tops[number], right, tops[number + 1]], fill=colour)
        draw_rows(sheet, SALES, (60, 80), gap=60)
        if style == "dark head":
            for x, text in zip(edges, SALES[0], strict=False):
                sheet.write(x, 80, text, (255, 255, 255), is_noted=False)
    (table,) = sheet.tables(with_network=with_network)
    assert texts(table) == rows_of(SALES)


def test_a_line_across_cells_is_cut() -> None:
    """A line read across cells is split at the gaps."""
    sheet = Sheet()
    edges, tops = draw_rows(sheet, SALES, gap=60)
    one_line = [line for line in sheet.lines if line.box.min_y < tops[1]]
    whole = Rect(
        one_line[0].box.min_x, one_line[0].box.min_y, one_line[-1].box.max_x, one_line[0].box.max_y
    )
    places = tuple(
        (line.box.min_x + place * line.box.width - whole.min_x) / whole.width
        for line in one_line
        for place in (*line.places, 1.0)
    )[:-1]
    joined = TextLine(" ".join(line.text for line in one_line), 0.9, whole, None, places)
    sheet.lines = [joined, *sheet.lines[4:]]
    (table,) = sheet.tables()
    assert texts(table) == rows_of(SALES)
    assert edges[0] < edges[1]


def test_wrapped_text_stays_in_its_cell() -> None:
    """Wrapped lines are joined within their cell and do not become rows."""
    sheet = Sheet()
    y = 60.0
    rows = (
        ("Code", "Notes", "Total"),
        ("A1", "delivered to|the back door", "14.20"),
        ("B2", "returned", "3.00"),
        ("C3", "kept in store|until autumn", "27.90"),
        ("D4", "sold", "9.10"),
    )
    for code, notes, total in rows:
        parts = notes.split("|")
        sheet.write(60, y, code)
        for number, part in enumerate(parts):
            sheet.write(200, y + 24 * number, part)
        sheet.write(480, y, total)
        y += 24 * len(parts) + 18
    (table,) = sheet.tables()
    assert texts(table) == [[code, notes.replace("|", " "), total] for code, notes, total in rows]


def test_two_tables_on_a_page_with_prose() -> None:
    """Two tables are found separately, without the text between them."""
    sheet = Sheet(height=1100)
    edges, tops = draw_rows(sheet, SALES)
    grid_lines(sheet, edges, tops)
    for number, line in enumerate(PROSE):
        sheet.write(60, 320 + 28 * number, line)
    draw_rows(sheet, SALES[::-1][:-1], (60, 560), gap=60)
    first, second = sheet.tables()
    assert texts(first) == rows_of(SALES)
    assert texts(second) == rows_of(SALES[::-1][:-1])


def test_prose_between_ruled_tables_parts_them() -> None:
    """Two ruled tables of equal width with a paragraph between them are two tables."""
    sheet = Sheet(height=900)
    for top in (60, 500):
        _, tops = draw_rows(sheet, SALES, (60, top), gap=60)
        for y in (tops[0], tops[1], tops[-1]):
            sheet.rule((60, y), (720, y))
    for number, line in enumerate(PROSE[:3]):
        sheet.write(60, 320 + 28 * number, line)
    assert [texts(table) for table in sheet.tables(with_network=False)] == [rows_of(SALES)] * 2


def test_tables_with_equal_columns_below_each_other_are_two() -> None:
    """A second header between ruled lines begins another table."""
    sheet = Sheet(height=800)
    second = [("Shop", "Staff", "Rent", "Rank"), *SALES[:0:-1]]
    for rows, top in ((SALES, 60), (second, 60 + 34 * (len(SALES) + 1))):
        _, tops = draw_rows(sheet, rows, (60, top), gap=60)
        for y in (tops[0], tops[1], tops[-1]):
            sheet.rule((60, y), (560, y))
    found = [texts(table) for table in sheet.tables(with_network=False)]
    assert found == [rows_of(SALES), [list(row) for row in second]]


def test_tables_side_by_side_are_two() -> None:
    """A gutter much wider than the others separates two tables."""
    sheet = Sheet(width=1400)
    draw_rows(sheet, SALES, (60, 60), gap=30)
    draw_rows(sheet, SALES, (760, 60), gap=30)
    found = sheet.tables()
    assert [texts(table) for table in found] == [rows_of(SALES)] * 2


@pytest.mark.parametrize("degrees", [-4.0, 2.5, 5.0])
def test_a_leaning_page_is_read_upright(degrees: float) -> None:
    """On a skewed page the cells are the same, with boxes in page coordinates."""
    sheet = Sheet()
    edges, tops = draw_rows(sheet, SALES, (200, 200))
    grid_lines(sheet, edges, tops)
    sheet.image = sheet.image.rotate(-degrees, resample=3, fillcolor=(255, 255, 255))
    angle = np.radians(degrees)
    middle = np.array([sheet.width / 2, sheet.height / 2])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def leaning(line: TextLine) -> TextLine:
        corners = [turn @ (np.array(corner) - middle) + middle for corner in line.corners]
        quad = tuple((float(x), float(y)) for x, y in corners)
        xs, ys = [x for x, _ in quad], [y for _, y in quad]
        box = Rect(min(xs), min(ys), max(xs), max(ys))
        return TextLine(line.text, line.probability, box, quad, line.places)

    sheet.lines = [leaning(line) for line in sheet.lines]
    (table,) = sheet.tables()
    assert texts(table) == rows_of(SALES)
    boxes = {line.text: line.box for line in sheet.lines}
    for cell in table.cells:
        assert cell.box.overlap(boxes[cell.text]) > 0.5 * cell.box.area


def test_empty_cells_have_a_place_and_no_text() -> None:
    """A gap in a ruled table is an empty cell with a box."""
    sheet = Sheet()
    rows = [list(row) for row in SALES]
    rows[2][1] = rows[4][3] = ""
    edges, tops = draw_rows(sheet, rows)
    grid_lines(sheet, edges, tops)
    (table,) = sheet.tables()
    (cell,) = [cell for cell in table.cells if (cell.row, cell.column) == (3, 2)]
    assert cell.text == ""
    assert 0.0 <= cell.probability <= 1.0
    assert cell.box.min_y == pytest.approx(tops[2], abs=3)
    assert cell.box.max_x == pytest.approx(edges[2] - 12, abs=3)


def letter(sheet: Sheet) -> None:
    """Write a letter: two addresses, a date, and prose."""
    for number, line in enumerate(("Harbour Office", "12 Quay Street", "Port Alder")):
        sheet.write(60, 40 + 28 * number, line)
        sheet.write(640, 40 + 28 * number, ("The Town Clerk", "3 Hill Road", "Port Maple")[number])
    sheet.write(640, 160, "4 March 2024")
    for number, line in enumerate(PROSE):
        sheet.write(60, 240 + 28 * number, line)


def key_values(sheet: Sheet) -> None:
    """Write a list of keys and values."""
    for number, (key, value) in enumerate(
        (("Name:", "A. Alder"), ("Date:", "4 March 2024"), ("Total:", "12.00"), ("Tax:", "1.00"))
    ):
        sheet.write(60, 60 + 32 * number, key)
        sheet.write(220, 60 + 32 * number, value)


def two_columns(sheet: Sheet) -> None:
    """Write two columns of prose."""
    for number, line in enumerate((*PROSE, *PROSE)):
        sheet.write(40, 60 + 28 * number, line)
        sheet.write(800, 60 + 28 * number, line)


def receipt_head(sheet: Sheet) -> None:
    """Write centred lines."""
    for number, line in enumerate(("HARBOUR STORES", "12 Quay Street", "Tel 555 0100", "THANKS")):
        sheet.write(500 - sheet.length(line) / 2, 60 + 30 * number, line)


def chart(sheet: Sheet) -> None:
    """Draw a chart with axes, grid lines and bars."""
    for number in range(6):
        sheet.rule((100, 100 + 80 * number), (900, 100 + 80 * number), 1)
        sheet.write(50, 90 + 80 * number, str(100 - 20 * number))
        sheet.write(150 + 130 * number, 520, f"Q{number}")
        left = 140 + 130 * number
        sheet.pen.rectangle([left, 200 + 40 * number, left + 60, 500], fill=(60, 90, 160))
    sheet.rule((100, 100), (100, 500))


@pytest.mark.parametrize("draw", [letter, key_values, two_columns, receipt_head, chart])
def test_what_is_no_table_is_not_taken_for_one(draw: object) -> None:
    """Letters, key-value lists, prose columns, letterheads and charts give no table."""
    sheet = Sheet(width=1500, height=700)
    draw(sheet)
    assert sheet.tables() == []


def test_a_page_without_text_or_pixels_has_no_tables() -> None:
    """A page without text or pixels has no tables."""
    sheet = Sheet()
    sheet.rule((10, 10), (900, 10))
    assert sheet.tables() == []
    blind = ReadPage(Page(1, 100, 100, 1.0), 0, None, (TextLine("x", 1.0, Rect(1, 1, 9, 9)),))
    assert find_tables(blind, Reader(), structure(), lambda: None) == ()


def test_a_text_layer_is_never_read_again() -> None:
    """Empty cells of a page with a text layer are not read by OCR."""
    sheet = Sheet()
    rows = [list(row) for row in SALES]
    rows[2][1] = ""
    edges, tops = draw_rows(sheet, rows)
    grid_lines(sheet, edges, tops)
    sheet.pen.ellipse([edges[1] + 5, tops[2] + 9, edges[1] + 19, tops[2] + 23], fill=(0, 0, 0))
    reader = Reader()
    found = find_tables(sheet.page(is_exact=True), reader, structure(), lambda: None)
    assert len(found) == 1
    assert reader.asked == 0
    sheet.tables(reader)
    assert reader.asked == 1


def test_time_that_is_up_ends_the_search() -> None:
    """The check's exception is propagated."""
    sheet = Sheet()
    draw_rows(sheet, SALES)

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        find_tables(sheet.page(), Reader(), structure(), check)


def scattered(count: int, width: int, height: int) -> list[TextLine]:
    """Return short lines anywhere."""
    random = np.random.default_rng(5)
    corners = random.random((count, 2)) * (width - 60, height - 20)
    return [
        TextLine("ab 1", 0.9, Rect(float(x), float(y), float(x) + 50, float(y) + 18))
        for x, y in corners
    ]


@pytest.mark.parametrize("pattern", ["checkers", "mesh", "stripes", "noise", "cells"])
def test_hostile_pages_take_bounded_time(pattern: str) -> None:
    """A 12-megapixel pattern with hundreds of words is processed in bounded time."""
    height, width = 3000, 4000
    pixels = np.full((height, width, 3), 255, np.uint8)
    lines = scattered(600, width, height)
    if pattern == "checkers":
        pixels[::2, ::2] = 0
        pixels[1::2, 1::2] = 0
    elif pattern == "mesh":
        pixels[::3] = 0
        pixels[:, ::3] = 0
    elif pattern == "stripes":
        pixels[::4] = 0
    elif pattern == "noise":
        pixels = np.random.default_rng(1).integers(0, 255, pixels.shape, np.uint8)
    else:
        pixels[::30] = 0
        pixels[:, ::40] = 0
        lines = [
            TextLine("1", 0.9, Rect(40 * x + 8, 30 * y + 6, 40 * x + 28, 30 * y + 24))
            for x in range(100)
            for y in range(100)
        ]
    page = ReadPage(Page(1, width, height, 1.0, pixels), 0, pixels, tuple(lines))
    start = time.process_time()
    find_tables(page, Reader(), structure(), lambda: None)
    assert time.process_time() - start < 8.0


def test_an_invoice_is_its_items() -> None:
    """An invoice's table has its items only, without letterhead, watermark and totals."""
    sheet = Sheet(height=900)
    rows = (("Item", "Hours", "Rate", "Amount"), ("Repair of the roof", "12", "40.00", "480.00"))
    for y, left, middle, right in (
        (30, "Orchid Ltd", "", "Invoice"),
        (90, "Bill to", "Number", "2024-17"),
        (118, "Ada Winslow", "Date", "03/14/2024"),
        (146, "7 Mill Lane", "Due", "04/13/2024"),
    ):
        for x, text in ((60, left), (560, middle), (760, right)):
            if text:
                sheet.write(x, y, text)
    draw_rows(sheet, rows, (60, 240), gap=90)
    slanted = ((100.0, 500.0), (500.0, 200.0), (530.0, 240.0), (130.0, 540.0))
    sheet.lines.append(TextLine("Paid in full", 1.0, Rect(100, 200, 530, 540), slanted))
    for number, text in enumerate(("Subtotal", "Total")):
        sheet.write(420, 340 + 30 * number, text)
        sheet.write(560, 340 + 30 * number, "480.00")
    (table,) = sheet.tables()
    assert texts(table) == rows_of(rows)


def test_probability_is_that_of_the_structure() -> None:
    """Table probability is below 1 even for exact text, and higher with rules."""
    rows = rows_of(SALES)
    ruled, aligned = Sheet(), Sheet()
    grid_lines(ruled, *draw_rows(ruled, rows))
    draw_rows(aligned, rows[1:])
    exact = [
        find_tables(sheet.page(is_exact=True), Reader(), None, lambda: None)
        for sheet in (ruled, aligned)
    ]
    first, second = (table.structure for (table,) in exact)
    assert 1 > first > second > 0


@pytest.mark.parametrize("kind", ["one cell", "negative", "nested", "points", "one row"])
def test_boxes_of_no_table_are_no_trouble(kind: str) -> None:
    """A lone cell, and inverted, nested, empty or endless boxes do not fail."""
    random = np.random.default_rng(3)
    places = random.integers(-500, 2500, (300, 2)).tolist()
    boxes = {
        "one cell": [Rect(120, 110, 200, 140)],
        "negative": [Rect(x, y, x - 40, y - 20) for x, y in places],
        "nested": [Rect(500 - n, 350 - n, 500 + n, 350 + n) for n in range(1, 100)],
        "points": [Rect(x, y, x, y) for x, y in places],
        "one row": [Rect(n % 900, 90 + n // 900, n % 900 + 1, 99 + n // 900) for n in range(1800)],
    }[kind]
    sheet = Sheet()
    sheet.pen.rectangle((100, 100, 300, 150), outline=(0, 0, 0))
    sheet.lines = [TextLine(("Qty", "12", "Price")[n % 3], 0.9, box) for n, box in enumerate(boxes)]
    for is_exact in (True, False):
        start = time.process_time()
        find_tables(sheet.page(is_exact=is_exact), Reader(), None, lambda: None)
        assert time.process_time() - start < 4.0
    assert kind != "one cell" or sheet.tables() == []
