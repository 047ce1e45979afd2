"""Tests of what results offer: plain JSON types, fields by entity, and tables as rows."""

from __future__ import annotations

import csv
import io
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from presage import FormResult, PresageError, TableResult, records
from presage._records import decode

EXAMPLES = Path(__file__).parents[1] / "spec" / "examples"
BOX = {"minX": 1, "minY": 2, "maxX": 3, "maxY": 4}


def cell(row: int, column: int, text: str, kind: str = "cell") -> dict[str, Any]:
    """Return a cell of a table."""
    lines = {"rowCellLocation": {"index": row}, "colCellLocation": {"index": column}}
    place = {"cellLocation": {"rowIndex": row, "colIndex": column}, **lines}
    return {"boundingBox": BOX, "text": text, "probability": 0.9, "cellType": kind, **place}


def table(*cells: dict[str, Any]) -> TableResult:
    """Return the result of task table with one table."""
    about = {"tableName": "table1", "tableCount": "1", "pageNumber": 1, "blockId": 1}
    attributes = {**about, "cells": list(cells)}
    item = {"probability": 1, "label": "", "boundingBox": BOX, "attributes": attributes}
    return decode({"task": "table", "probabilities": [item]}, TableResult)


def form(*pairs: tuple[str, str, float]) -> FormResult:
    """Return the result of task form with fields of entity, text and probability."""
    items = []
    for entity, text, probability in pairs:
        parts = {
            "key": {"entity": entity, "text": entity, "boundingBox": BOX},
            "value": {"entity": entity, "text": text, "boundingBox": BOX},
        }
        attributes = {"blockId": 1, **parts, "language": "English", "pageNumber": 1}
        item = {"label": "key-value", "boundingBox": BOX, "attributes": attributes}
        items.append({**item, "probability": probability})
    return decode({"task": "form", "probabilities": items}, FormResult)


def test_records_become_plain_json_types() -> None:
    """`to_dict` returns what was received, as a copy that the caller may change."""
    members = json.loads((EXAMPLES / "ocr_form.json").read_text("utf-8"))
    found = decode({**members, "later": [1]}, FormResult)

    def answer() -> dict[str, Any]:
        """Answer as a route of a web framework does: it encodes what its function returns."""
        return found.to_dict()

    assert json.loads(json.dumps(answer())) == {**members, "later": [1]}
    answer()["probabilities"].clear()
    assert found.raw["probabilities"]
    assert json.dumps(found.fields[0].to_dict())


def test_parts_of_records_become_plain_json_types() -> None:
    """A nested record has the API's names as well."""
    item = records.Probability(label="a", probability=0.5)
    found = decode({"probabilities": [item.to_dict()]}, records.Prediction)
    assert found.probabilities[0].to_dict() == {"label": "a", "probability": 0.5}


def test_fields_map_entities_to_values() -> None:
    """Fields are found by entity, and still are a list of all, in order."""
    fields = form(("name", "Ann", 0.9), ("wages", "", 0.0)).fields

    assert (fields["name"].value, fields["name"].probability) == ("Ann", 0.9)
    assert {name: field.value for name, field in fields.items()} == {"name": "Ann", "wages": ""}
    assert [*dict(fields)] == fields.keys() == ["name", "wages"]
    assert ("name" in fields, "date" in fields, fields[0] in fields) == (True, False, True)
    assert (fields.get("date"), fields.get("name")) == (None, fields["name"])
    assert [item.attributes.key.entity for item in fields[:1]] == ["name"]
    assert fields.values() == list(fields)
    with pytest.raises(KeyError):
        fields["date"]


def test_most_probable_value_of_an_entity_is_found() -> None:
    """An entity on several pages maps to its most probable value; the list has every one."""
    fields = form(("name", "", 1.0), ("name", "Ann", 0.5), ("name", "Anne", 0.7)).fields
    assert (fields["name"].value, len(fields)) == ("Anne", 3)


def test_tables_are_rows() -> None:
    """Cells become rows of one length; a cell that the table lacks is empty."""
    found = table(cell(1, 1, "a"), cell(2, 3, 'b, "c"\nd')).tables[0]

    assert found.rows == [["a", "", ""], ["", "", 'b, "c"\nd']]
    assert list(csv.reader(io.StringIO(found.to_csv()))) == found.rows
    assert table().tables[0].rows == []
    assert table().tables[0].to_csv() == ""


def test_tables_of_the_contract_are_read() -> None:
    """The contract's tables of both tasks have rows."""
    shown = json.loads((EXAMPLES / "ocr_table.json").read_text("utf-8"))
    assert decode(shown, TableResult).tables[0].rows == [["Item", "Price"], ["Pen", "2.50"]]
    shown = json.loads((EXAMPLES / "ocr_form.json").read_text("utf-8"))
    for found in decode(shown, FormResult).tables:
        assert found.rows


def test_frames_have_the_header_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full header row names the columns; without one they are numbered."""
    pandas = types.SimpleNamespace(DataFrame=lambda rows, columns=None: (rows, columns))
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    head = cell(1, 1, "a", "columnHeader"), cell(1, 2, "b", "columnHeader")
    body = cell(2, 1, "1"), cell(2, 2, "2")

    assert table(*head, *body).tables[0].to_pandas() == ([["1", "2"]], ["a", "b"])
    partial = table(head[0], cell(1, 2, "b"), *body).tables[0]
    assert partial.to_pandas() == ([["a", "b"], ["1", "2"]], None)


def test_frames_without_pandas_are_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PresageError, match="pip install pandas"):
        table(cell(1, 1, "a")).tables[0].to_pandas()
