"""Tests of chalicelib/engines/ocr/forms/header_names.py."""

from __future__ import annotations

from chalicelib.domain.documents.findings import COLUMN_HEADER, NORMAL, ROW_HEADER, Cell, Table
from chalicelib.domain.documents.form_template import FormTemplate, HeaderCell, TemplateKey
from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms.header_names import name_headers

BOX = Rect(0, 0, 10, 10)


def _table(*rows: tuple[str, ...], kinds: tuple[str, ...] = (COLUMN_HEADER,)) -> Table:
    """Return a table; kinds are those of its first rows, others are normal."""
    cells = [
        Cell(row, column, text, 0.9, BOX, kinds[row - 1] if row <= len(kinds) else NORMAL)
        for row, texts in enumerate(rows, start=1)
        for column, text in enumerate(texts, start=1)
    ]
    return Table(BOX, tuple(cells))


def _template(*headers: HeaderCell) -> FormTemplate:
    """Return a template of header cells."""
    return FormTemplate((TemplateKey("any", ("Any",)),), headers)


def test_headers_name_columns_without_a_template() -> None:
    """Without a template a column's name is its header's text, and no entity is set."""
    (named,) = name_headers([_table(("Item", "Price"), ("Pen", "2.50"))])

    assert named.column_entities == {1: "Item", 2: "Price"}
    assert named.row_entities == {}
    assert named.cell_entities == (None,) * 4
    assert named.name is None


def test_entities_replace_header_texts() -> None:
    """A slightly misread header that matches a header cell gets entity and table name."""
    template = _template(
        HeaderCell("sku", ("Item number", "Article"), "stock"), HeaderCell("cost", ("Price",))
    )

    (named,) = name_headers([_table(("ltem numbcr", "Count"), ("A1", "4"))], template)

    assert named.name == "stock"
    assert named.column_entities == {1: "sku", 2: "Count"}
    assert named.cell_entities == ("sku", None, "sku", None)


def test_row_headers_name_rows() -> None:
    """A row header's text or entity becomes the name of its row."""
    cells = (
        Cell(1, 1, "Wages", 0.9, BOX, ROW_HEADER, row_span=2),
        Cell(1, 2, "10", 0.9, BOX),
        Cell(2, 2, "20", 0.9, BOX),
        Cell(3, 1, "Tips", 0.9, BOX, ROW_HEADER),
        Cell(3, 2, "5", 0.9, BOX),
    )
    template = _template(HeaderCell("pay", ("Wages",)))

    (named,) = name_headers([Table(BOX, cells)], template)

    assert named.row_entities == {1: "pay", 2: "pay", 3: "Tips"}
    assert named.cell_entities == ("pay", "pay", "pay", None, None)


def test_header_over_two_rows_is_joined_and_spanning_one_left_out() -> None:
    """Two header lines of a column are joined; a header that spans columns is ignored."""
    cells = (
        Cell(1, 1, "Year 2020", 0.9, BOX, COLUMN_HEADER, column_span=2),
        Cell(2, 1, "Unit", 0.9, BOX, COLUMN_HEADER),
        Cell(2, 2, "Count", 0.9, BOX, COLUMN_HEADER),
        Cell(3, 1, "price", 0.9, BOX, COLUMN_HEADER),
        Cell(4, 1, "2.50", 0.9, BOX),
    )

    (named,) = name_headers([Table(BOX, cells)])

    assert named.column_entities == {1: "Unit price", 2: "Count"}


def test_template_reveals_a_header_row() -> None:
    """A first row that matches the template becomes the header if none was detected."""
    template = _template(HeaderCell("item", ("Item",)), HeaderCell("price", ("Price",)))

    (named,) = name_headers([_table(("Item", "Price"), ("Pen", "2.50"), kinds=())], template)

    assert [cell.kind for cell in named.table.cells] == [
        COLUMN_HEADER,
        COLUMN_HEADER,
        NORMAL,
        NORMAL,
    ]
    assert named.column_entities == {1: "item", 2: "price"}


def test_table_names_are_unique() -> None:
    """Of two tables with the same header only the first gets its name."""
    template = _template(HeaderCell("item", ("Item",), "stock"))
    table = _table(("Item", "Price"), ("Pen", "2.50"))

    names = [named.name for named in name_headers([table, table], template)]

    assert names == ["stock", None]
