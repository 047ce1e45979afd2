"""Tests of chalicelib/formats/templates/form_template.py."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.documents.form_template import FormTemplate, HeaderCell, TemplateKey
from chalicelib.errors import InvalidParameter
from chalicelib.formats.templates.form_template import read_template

KEY = {"key": {"entity": "total", "keyVariations": ["Total due", "Total"], "entityTypes": []}}
BARE = {"version": "1.0", "keys": [KEY], "tableRecognition": True}
WHOLE = {**BARE, "headerCells": []}
TOTAL = TemplateKey("total", ("Total due", "Total"))


def _refusal(source: object) -> str:
    """Return the error message for a template."""
    with pytest.raises(InvalidParameter) as refused:
        read_template(source)
    refused.value.message.encode()
    return refused.value.message


def _with_key(**members: object) -> dict[str, object]:
    """Return a template whose first key has other members."""
    return {**WHOLE, "keys": [{"key": {**KEY["key"], **members}}]}


@pytest.mark.parametrize(
    "source",
    [
        WHOLE,
        json.dumps(WHOLE),
        json.dumps(WHOLE).encode(),
        json.dumps(WHOLE).encode("utf-8-sig"),
        json.dumps(WHOLE).encode("utf-16"),
        "\ufeff" + json.dumps(WHOLE, indent=2) + "\n",
    ],
)
def test_template_comes_as_object_text_or_file(source: bytes | str) -> None:
    """A template sent as object, text or file is read alike."""
    assert read_template(source) == FormTemplate((TOTAL,), (), True, "1.0")


@pytest.mark.parametrize(
    "name",
    ["tableRecognition", "table_recognition", "recognizeTables", "recognize_tables", "tables"],
)
@pytest.mark.parametrize(("value", "flag"), [(True, True), (False, False), ("true", True)])
def test_tables_flag_has_many_names(name: str, value: object, flag: bool) -> None:
    """The flag for tables has several names."""
    assert read_template({"version": "1.0", "keys": [KEY], name: value}).finds_tables is flag


@pytest.mark.parametrize("version", [1, 1.0, "1", "1.0", "2.0", 3])
def test_version_is_text_or_number(version: object) -> None:
    """The version is a text or a number."""
    wanted = f"{float(str(version)):.1f}"

    assert read_template({**WHOLE, "version": version}).version == wanted


def test_layout_hints_are_read_once_each() -> None:
    """Layout hints are read, each once; a template without them has none."""
    hinted = {**WHOLE, "layout": ["payColumns", "twoLanguages", "payColumns"]}

    assert read_template(hinted).layout == ("payColumns", "twoLanguages")
    assert read_template(WHOLE).layout == ()


@pytest.mark.parametrize("name", ["version", "tableRecognition"])
def test_required_members_are_named(name: str) -> None:
    """Missing or null required members are all named at once."""
    without = {member: value for member, value in WHOLE.items() if member != name}

    for sent in (without, {**without, name: None}):
        with pytest.raises(InvalidParameter, match=rf"{name} is missing\. Add"):
            read_template(sent)
    with pytest.raises(InvalidParameter, match="version and tableRecognition are missing"):
        read_template({"keys": [KEY]})


@pytest.mark.parametrize(
    "key",
    [
        {"key": {"entity": "total", "key_variations": ["Total due", "Total"]}},
        {"entity": "total", "keyVariations": ["Total due", " Total  due ", "Total"]},
        {"entity": "total", "variations": ["Total due", "Total"], "entity_types": None},
    ],
)
def test_keys_may_be_bare_and_in_snake_case(key: object) -> None:
    """The wrapping object may be missing; white space and repetitions are ignored."""
    assert read_template({**WHOLE, "keys": [key]}).keys == (TOTAL,)


@pytest.mark.parametrize("name", ["headerCells", "header_cells", "tableCells", "table_cells"])
def test_header_cells(name: str) -> None:
    """The text of a header cell is the first of its variations."""
    cells = [
        {"entity": "price", "text": "Price", "tableName": "items", "variations": ["Cost"]},
        {"headerCell": {"entity": "count", "text": "Count", "table_name": "items"}},
    ]

    assert read_template({**BARE, name: cells}).header_cells == (
        HeaderCell("price", ("Price", "Cost"), "items"),
        HeaderCell("count", ("Count",), "items"),
    )


def test_entity_types_are_in_capitals() -> None:
    """Types are case-insensitive; an unknown one is stored and treated as text."""
    (key,) = read_template(_with_key(entityTypes=["Date", "date", "colour"])).keys

    assert key.types == ("DATE", "COLOUR")


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (b"", ["empty"]),
        (b"  \n", ["empty"]),
        ("", ["empty"]),
        (b"[]", ["object", "array of 0"]),
        ("true", ["object", "true"]),
        (b'{"keys": [', ["not JSON", "line 1, column 11"]),
        (b"{'keys': []}", ["not JSON", "quotes"]),
        (b'{"keys": NaN}', ["NaN"]),
        (b'{"keys": [], "keys": []}', ['"keys"', "twice"]),
        ("[" * 200_000, ["deep"]),
        ('{"a":' * 100_000, ["deep"]),
        ('{"keys":' + "[" * 64 + "]" * 64 + "}", ["deep", "64"]),
        ({"keys": json.loads("[" * 64 + "]" * 64)}, ["deep", "64"]),
        (b"\x89PNG\r\n\x1a\n0000", ["PNG", "JSON"]),
        (b"\xff\xfe\x00\x00{", ["UTF-32"]),
        ("{}".encode("utf-16-le"), ["UTF-16", "UTF-8"]),
        (b'{"keys": "\xe4"}', ["byte 11", "UTF-8"]),
        (b"\xff\xfe\x00\xd8", ["UTF-16"]),
        (b" " * 1_000_001, ["1,000,001", "1,000,000"]),
        ({"keys": [KEY], "note": "x" * 1_000_000}, ["1,000,000"]),
        ({}, ["keys", "missing"]),
        ({"keys": []}, ["keys", "empty"]),
        ({"keys": [], "tableRecognition": True}, ["keys", "task table"]),
        ({"keys": KEY}, ["keys", "an object", "array"]),
        ({"keys": ["Total"]}, ["keys[0]", '"Total"', "object"]),
        ({"keys": [KEY, {"key": None}]}, ["keys[1].key", "null"]),
        ({"keys": [KEY, KEY]}, ["keys[1].key.entity", '"total"', "keys[0].key.entity"]),
        ({"keys": [KEY] * 501}, ["501", "500"]),
        (_with_key(keyVariations=[]), ["keys[0].key.keyVariations", "empty", "phone"]),
        (_with_key(keyVariations=None), ["keys[0].key.keyVariations", "missing"]),
        (_with_key(keyVariations=["a", " "]), ["keys[0].key.keyVariations[1]", "empty"]),
        (_with_key(keyVariations=[7]), ["keys[0].key.keyVariations[0]", "7", "quotes"]),
        (_with_key(keyVariations={"a": 1}), ["keyVariations", "an object"]),
        (_with_key(keyVariations=[str(n) for n in range(51)]), ["51", "50"]),
        (_with_key(keyVariations=["x" * 501]), ["501", "500", "…"]),
        (_with_key(keyVariations=["\ud800"]), ["keyVariations[0]", "half"]),
        (_with_key(entity=None), ["keys[0].key.entity", "missing"]),
        (_with_key(entity=""), ["keys[0].key.entity", "empty"]),
        (_with_key(entity=True), ["keys[0].key.entity", "true"]),
        (_with_key(entityTypes="\udfff"), ["entityTypes"]),
        (_with_key(key_variations=["b"]), ["key_variations", "keyVariations", "same"]),
        ({**WHOLE, "version": "4.0"}, ["version", '"4.0"', "1.0, 2.0, 3.0"]),
        ({**WHOLE, "layout": ["tiles"]}, ["layout", '"tiles"', "numberedLines, payColumns"]),
        ({**WHOLE, "layout": [3]}, ["layout[0]", "3"]),
        ({**WHOLE, "version": True}, ["version", "true"]),
        ({**WHOLE, "version": float("inf")}, ["version", "inf"]),
        ({**WHOLE, "version": 10**400}, ["version"]),
        ({**WHOLE, "version": []}, ["version", "array"]),
        ({**WHOLE, "tableRecognition": 1}, ["tableRecognition", "1", "true or false"]),
        ({**WHOLE, "tables": False}, ["tables", "tableRecognition"]),
        ({**WHOLE, "headerCells": [{"entity": "a"}]}, ["headerCells[0].text", "missing"]),
        ({**WHOLE, "headerCells": [{"text": "a"}]}, ["headerCells[0].entity", "missing"]),
        ({**WHOLE, "headerCells": "a"}, ["headerCells", '"a"']),
    ],
)
def test_error_names_place_value_and_remedy(source: object, parts: list[str]) -> None:
    """An error has place, value and remedy."""
    message = _refusal(source)

    assert all(part in message for part in parts), message
    assert len(message) < 500


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["keys", "key", "entity", "keyVariations", "tables", "version", "x"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    """Any JSON value is read or refused with the documented error."""
    with suppress(InvalidParameter):
        assert read_template(json.dumps(value)).keys
