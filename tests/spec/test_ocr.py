"""The OCR row of the contract's tables: every answer and limit as documented.

The members of each answer, their order and kinds are compared with the contract's examples.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.domain.common.limits import MAX_OCR_BYTES, MAX_OCR_PAGES, MAX_OCR_WORDS
from tests.formats.drawn import encoded
from tests.papers import grid, paper
from tests.pdfs import text_pdf
from tests.spec.test_endpoints import EXAMPLES, example, same_shape

OCR = "/v2/vision/ocr"
CARD = encoded(paper(["Dana Reyes", "dana@orchid.test", "602 555 0100"]), "PNG")
TABLE = encoded(grid([["Item", "Price"], ["Pen", "2.50"], ["Ink", "4.75"]]), "PNG")
FORM = encoded(
    paper(["Invoice No.: 17", "12 Elm Street", "Phoenix, AZ 85001", "Issued: 09/13/2021"]), "PNG"
)
KEYS = {"issued": ["Issued"], "address": ["address"], "phone": ["Passport number"]}


def read(live: Any, content: bytes, **fields: str) -> Any:
    """Read a document."""
    scalars = {"modelId": "OCRModel", **fields}
    parts = [(name, value.encode(), None) for name, value in scalars.items()]
    return live.owner.form("POST", OCR, *parts, ("sampleContent", content, "page.png"))


def same_items(got: Any, expected: Any, *varying: str) -> None:
    """Compare each item with the example of its label; members in `varying` may be absent."""
    for item in got:
        [like] = [each for each in expected if each["label"] == item["label"]] or expected[:1]
        assert list(item) == list(like)
        members = [name for name in like["attributes"] if name in item["attributes"]]
        assert list(item["attributes"]) == members
        assert set(like["attributes"]) - set(members) <= set(varying)
        for name in members:
            same_shape(item["attributes"][name], like["attributes"][name], name)
        same_shape(item["boundingBox"], like["boundingBox"])
        assert all(isinstance(side, int) for side in item["boundingBox"].values())


@pytest.mark.parametrize(("task", "content"), [("text", CARD), ("contact", CARD)])
def test_runs_and_contacts(live, task, content):
    """Items match the example, most probable first, and the tag is echoed."""
    answer = read(live, content, task=task, sampleId="t").ok()

    same_shape(answer, {**example(f"ocr_{task}"), "sampleId": "t"})
    assert list(answer) == ["task", "probabilities", "object", "sampleId"]
    same_items(answer["probabilities"], example(f"ocr_{task}")["probabilities"][:1])
    values = [item["probability"] for item in answer["probabilities"]]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)


def cells_are_documented(cells: Any) -> None:
    """Compare every cell with the example's cells."""
    like = example("ocr_table")["probabilities"][0]["attributes"]["cells"][3]
    order = [*[*like][:6], "entity", "cellType", "normalizedText"]
    for cell in cells:
        assert list(cell) == [name for name in order if name in cell]
        assert set(like) <= set(cell)
        assert set(cell["rowCellLocation"]) | set(cell["colCellLocation"]) <= {"index", "entity"}
        assert cell["rowCellLocation"]["index"] == cell["cellLocation"]["rowIndex"]
        assert cell["colCellLocation"]["index"] == cell["cellLocation"]["colIndex"]
        assert cell["cellType"] in ("rowHeader", "columnHeader", "normal")
        assert 0 <= cell["probability"] <= 1


def test_tables(live):
    """A table is as in the example, cell by cell."""
    answer = read(live, TABLE, task="table").ok()

    [item] = answer["probabilities"]
    same_items([item], example("ocr_table")["probabilities"])
    attributes = item["attributes"]
    cells_are_documented(attributes["cells"])
    assert attributes["tableName"].startswith("table1_")
    assert len(attributes["tableName"]) == len("table1_") + 36
    assert attributes["tableCount"] == "1"


@pytest.mark.parametrize("has_tables", [True, False])
def test_forms(live, has_tables):
    """Pairs and tables match the example; tables come only if the template asks for them."""
    template = {
        "keys": [{"key": {"entity": name, "keyVariations": found}} for name, found in KEYS.items()],
        "headerCells": [{"entity": "cost", "text": "Price", "tableName": "prices"}],
        "tableRecognition": has_tables,
        "version": "3.0",
    }
    example_items = example("ocr_form")["probabilities"]

    pairs = read(live, FORM, task="form", formTemplate=json.dumps(template)).ok()["probabilities"]
    tables = read(live, TABLE, task="form", formTemplate=json.dumps(template)).ok()["probabilities"]

    address = [item for item in example_items if "normalizedText" in item["attributes"]]
    same_items(pairs, address, "normalizedText")
    found = {item["attributes"]["key"]["entity"]: item["attributes"] for item in pairs}
    assert set(found) == {"issued", "address"}, "a key that is not found is left out"
    nowhere = {"minX": 1, "minY": 1, "maxX": 1, "maxY": 1}
    assert found["address"]["key"] == {"entity": "address", "text": "", "boundingBox": nowhere}
    assert [*json.loads(found["address"]["normalizedText"])] == [
        "Street", "City", "State", "ZipCode",
    ]  # fmt: skip
    assert len(tables) == has_tables
    for item in tables:
        same_items([item], example_items[:1])
        assert (item["label"], item["attributes"]["tableName"]) == ("table", "prices")
        cells_are_documented(item["attributes"]["cells"])
        columns = [cell["colCellLocation"].get("entity") for cell in item["attributes"]["cells"]]
        assert columns == [None, None, "Item", "cost", "Item", "cost"]
        assert [cell.get("entity") for cell in item["attributes"]["cells"]][1::2] == ["cost"] * 3


def test_key_without_value(live):
    """A key without a value has the value "" in the box 1, 1, 1, 1."""
    key = {"entity": "n", "keyVariations": ["Invoice No."]}
    template = {"version": "1.0", "keys": [{"key": key}], "tableRecognition": False}
    content = encoded(paper(["Invoice No.:"]), "PNG")

    [item] = read(live, content, task="form", formTemplate=json.dumps(template)).ok()[
        "probabilities"
    ]

    nowhere = {"minX": 1, "minY": 1, "maxX": 1, "maxY": 1}
    assert item["attributes"]["value"] == {"entity": "n", "text": "", "boundingBox": nowhere}
    assert item["boundingBox"] == item["attributes"]["key"]["boundingBox"]


def test_contract_s_template(live):
    """The contract's own template is accepted as a file and finds its keys."""
    sent = (EXAMPLES / "form_template.json").read_bytes()
    content = encoded(paper(["Invoice No.: 1735", "Call 602 555 0100"]), "PNG")
    parts = [("modelId", b"OCRModel", None), ("task", b"form", None)]
    files = [("sampleContent", content, "a.png"), ("formTemplate", sent, "form_template.json")]

    answer = live.owner.form("POST", OCR, *parts, *files).ok()

    values = {item["attributes"]["value"]["entity"]: item["attributes"]["value"]["text"]
              for item in answer["probabilities"] if item["label"] == "key-value"}  # fmt: skip
    assert values == {"invoice_number": "1735", "contact_phone": "602 555 0100"}


def test_limits_are_the_documented_ones():
    """The limits are 10 MB, 8 pages (5 for business cards), and 600 words in an image."""
    assert MAX_OCR_BYTES == 10 * 1024 * 1024
    assert MAX_OCR_PAGES == {"text": 8, "table": 8, "form": 8, "contact": 5}
    assert MAX_OCR_WORDS == 600


@pytest.mark.parametrize(
    ("task", "pages", "status"),
    [("text", 8, 200), ("text", 9, 400), ("contact", 5, 200), ("contact", 6, 400)],
)
def test_pages(live, task, pages, status):
    """A document with the task's maximum of pages is read, one with one more is refused."""
    content = text_pdf(*[["The same words stand on every page"]] * pages)

    answer = read(live, content, task=task)

    assert answer.status == status
    if status == 200:
        numbers = [item["attributes"]["pageNumber"] for item in answer.ok()["probabilities"]]
        assert numbers == [*range(1, pages + 1)], "equal probabilities are in reading order"
    else:
        answer.refused(400, str(pages), str(pages - 1))


@pytest.mark.parametrize("path", [OCR, f"{OCR}/"])
def test_trailing_slash(live, path):
    """A trailing slash is accepted."""
    fields = {"modelId": "OCRModel", "sampleBase64Content": "AAAA"}

    assert live.owner.json("POST", path, fields).refused(415)
