"""The records of each OCR task equal the contract's examples for the same facts."""

from __future__ import annotations

import json
from uuid import UUID

import msgspec
import pytest

from chalicelib.domain.documents.findings import Cell, Contact, FormField, NamedTable, Table
from chalicelib.domain.documents.ocr import DocumentFindings, Finding, TableBlock, ordered
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.formats.templates.form_template import read_template
from chalicelib.web.records import describe_ocr, ocr_records
from tests.spec.test_records import EXAMPLES, same

VIEW = ReadPage(Page(1, 400, 300, 1.0), 0, None, ())
ADDRESS = '{"Street": "12 Elm Street", "City": "Phoenix", "State": "AZ", "ZipCode": "85001"}'


@pytest.fixture(autouse=True)
def known_names(monkeypatch):
    """Make random table names equal those of the examples."""
    known = UUID("6f1c2f0e-8f0b-4c1e-9a2e-5f6f0f8f7a11")
    monkeypatch.setattr(describe_ocr, "uuid4", lambda: known)


def answer(task, *items):
    """Describe items of one page in reading order."""
    findings = ordered(Finding(VIEW, n, i) for n, i in enumerate(items))
    return describe_ocr.ocr_answer(task, DocumentFindings(findings))


def a_table(number=1):
    """Return the table of the examples."""
    cells = (
        Cell(1, 1, "Item", 0.993, Rect(10, 10, 60, 30), "columnHeader"),
        Cell(1, 2, "Price", 0.993, Rect(100, 10, 150, 30), "columnHeader"),
        Cell(2, 1, "Pen", 0.993, Rect(10, 40, 50, 60)),
        Cell(2, 2, "2.50", 0.993, Rect(100, 40, 140, 60)),
    )
    columns = {1: "Item", 2: "Price"}
    table = Table(Rect(10, 10, 150, 60), cells)
    return TableBlock(NamedTable(table, None, (None,) * 4, {}, columns), (None,) * 4, number)


def like(name, record, table_probability=None):
    """Compare with an example whose table has a higher probability than its cells."""
    if table_probability is not None:
        for item in record.probabilities:
            if "table" in (record.task, item.label):
                item.probability = table_probability
    same(name, record)


def test_text():
    """Runs of words, most probable first."""
    only = TextLine("ONLY", 0.994207, Rect(160.2, 30.8, 261.7, 70))
    exit_ = TextLine("EXIT", 0.9983111, Rect(20, 30, 140, 70))

    same("ocr_text", answer("text", only, exit_))


def test_contact():
    """Entities have their tags; the item's label is the text."""
    same(
        "ocr_contact",
        answer(
            "contact",
            Contact("PERSON", "Dana Reyes", 0.9961, Rect(40, 30, 210, 60)),
            Contact("ORG", "Orchid Labs", 0.9925, Rect(40, 70, 190, 95)),
            Contact("EMAIL", "dana@orchid.test", 0.9913, Rect(40, 110, 240, 132)),
            Contact("PHONE", "+1 555 0100", 0.9871, Rect(40, 140, 180, 160)),
        ),
    )


def test_table():
    """A table has every cell; column headers name the columns of the other cells."""
    like("ocr_table", answer("table", a_table()), 0.9931)


def test_form():
    """Pairs are numbered before tables, a virtual key has no box, an address is normalised."""
    issued = FormField(
        "issue_date", "4a ISS", Rect(30, 40, 90, 60), "09/13/2021", Rect(100, 40, 210, 60), 0.9902
    )
    value = "12 Elm Street Phoenix, AZ 85001"
    address = FormField("address", "", None, value, Rect(30, 80, 260, 110), 0.9843, ADDRESS)

    like("ocr_form", answer("form", issued, address, a_table()), 0.9931)


def test_parts_of_a_linked_table():
    """The parts of a linked table share its name, count as one, and have separate block ids."""
    first, second, other = answer("table", a_table(), a_table(), a_table(2)).probabilities

    names = [item.attributes.table_name for item in (first, second, other)]
    assert names[0] == names[1] != names[2]
    assert {item.attributes.table_count for item in (first, second, other)} == {"2"}
    assert [item.attributes.block_id for item in (first, second, other)] == [1, 2, 3]


def test_key_without_value():
    """A missing value is an empty text in the box 1, 1, 1, 1, which the item's box excludes."""
    field = FormField("name", "Name:", Rect(10, 20, 60, 40), "", None, 0.5)

    [item] = answer("form", field).probabilities

    nowhere = {"minX": 1, "minY": 1, "maxX": 1, "maxY": 1}
    shown = msgspec.to_builtins(item)
    assert shown["attributes"]["value"] == {"entity": "name", "text": "", "boundingBox": nowhere}
    assert shown["boundingBox"] == {"minX": 10, "minY": 20, "maxX": 60, "maxY": 40}
    assert "normalizedText" not in shown["attributes"]


def test_named_table_and_cells():
    """A template's header names the table and its cells; a row header names its row's cells."""
    cells = (
        Cell(1, 1, "Item", 2.0, Rect(0, 0, 9, 9), "columnHeader"),
        Cell(1, 2, "Home", -1, Rect(20, 0, 29, 9), "columnHeader"),
        Cell(2, 1, "Pen", 0.9, Rect(0, 20, 9, 29), "rowHeader"),
        Cell(2, 2, "an address", 0.5, Rect(20, 20, 29, 29)),
    )
    named = NamedTable(
        Table(Rect(0, 0, 29, 29), cells),
        "shop",
        (None, "home", None, "home"),
        {2: "Pen"},
        {1: "Item", 2: "home"},
    )
    block = TableBlock(named, (None, None, None, ADDRESS), 1)

    first, second = answer("table", block, a_table(2)).probabilities

    table = msgspec.to_builtins(second if first.attributes.table_name != "shop" else first)
    assert table["attributes"]["tableName"] == "shop"
    assert table["attributes"]["tableCount"] == "2"
    names = {first.attributes.table_name, second.attributes.table_name}
    assert names == {"shop", "table2_6f1c2f0e-8f0b-4c1e-9a2e-5f6f0f8f7a11"}
    assert {first.attributes.block_id, second.attributes.block_id} == {1, 2}
    shown = table["attributes"]["cells"]
    assert [cell["probability"] for cell in shown] == [1.0, 0.0, 0.9, 0.5]
    assert [cell.get("entity") for cell in shown] == [None, "home", None, "home"]
    assert shown[2]["rowCellLocation"] == {"index": 2}
    assert shown[2]["colCellLocation"] == {"index": 1, "entity": "Item"}
    assert shown[3]["rowCellLocation"] == {"index": 2, "entity": "Pen"}
    assert list(shown[3]) == [
        "boundingBox", "text", "probability", "cellLocation", "rowCellLocation",
        "colCellLocation", "entity", "cellType", "normalizedText",
    ]  # fmt: skip


@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
def test_sample_id_and_nothing_found(task):
    """A blank page is an empty list; the caller's `sampleId` is the last member."""
    record = describe_ocr.ocr_answer(task, DocumentFindings(()), " id ")

    assert msgspec.to_builtins(record) == {
        "task": task,
        "probabilities": [],
        "object": "predictresponse",
        "sampleId": " id ",
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("text", ocr_records.TextRecord),
        ("contact", ocr_records.ContactRecord),
        ("table", ocr_records.TableRecord),
        ("form", ocr_records.FormRecord),
    ],
)
def test_examples_fit_their_declaration(name, kind):
    """The contract's payloads fit the types declared in the OpenAPI document."""
    payload = json.loads((EXAMPLES / f"ocr_{name}.json").read_text())
    read = msgspec.convert(payload, kind)
    if name == "form":
        for item in payload["probabilities"]:
            is_table = item["label"] == "table"
            part = ocr_records.FormTableItem if is_table else ocr_records.PairItem
            assert msgspec.to_builtins(msgspec.convert(item, part)) == item

    assert msgspec.to_builtins(read) == payload


def test_turned_page():
    """Boxes refer to the page as displayed, whichever rotation it was read in."""
    view = ReadPage(Page(1, 100, 200, 0.5), 1, None, ())
    finding = Finding(view, 0, TextLine("up", 0.9, Rect(20, 10, 60, 30)))

    [item] = describe_ocr.ocr_answer("text", DocumentFindings((finding,))).probabilities

    # The turned raster is 200 wide; its x runs up the displayed page's height.
    assert msgspec.to_builtins(item.bounding_box) == {
        "minX": 5, "minY": 70, "maxX": 15, "maxY": 90,
    }  # fmt: skip


def test_form_template():
    """The contract's template is parsed with its virtual key and its request for tables."""
    template = read_template((EXAMPLES / "form_template.json").read_bytes())

    assert [key.entity for key in template.keys] == ["invoice_number", "contact_phone"]
    assert [key.virtual for key in template.keys] == [None, "phone"]
    assert template.finds_tables


def test_batches_name_tables_alike_each_time():
    """With a custom id function, tables without a header get the same name in every run."""
    findings = ordered([Finding(VIEW, 0, a_table())])
    found = DocumentFindings(findings)
    made = describe_ocr.ocr_answer("table", found, table_id=lambda number: UUID(int=number))
    assert made.probabilities[0].attributes.table_name == f"table1_{UUID(int=1)}"
