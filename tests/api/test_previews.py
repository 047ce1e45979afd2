"""Previews: the first rows, sheets and columns of a file in a validation. beyond.md, section 14."""

from __future__ import annotations

import json

import pytest

from tests.pictures import draw, label_folders, make_zip
from tests.workbooks import sheet, workbook

URL = "/v2/language/datasets/validate"
TYPE = ("type", b"text-intent", None)
PREVIEW = ("preview", b"true", None)
# Two columns of texts and two of categories, so that the file is refused as ambiguous.
WIDE = ["First,Second,Third,Fourth"] + [
    f"where is my parcel number {n},it is in depot {n} near you,{'ab'[n % 2]},{'xy'[n % 2]}"
    for n in range(30)
]


@pytest.fixture
def preview(call):
    """Return a function that validates a file of texts with a preview."""

    def validate(content, *fields, name="data.csv"):
        return call.form("POST", URL, ("data", content, name), TYPE, PREVIEW, *fields)

    return validate


def test_rows_are_shown_as_they_were_read(preview):
    """Each row shows its number, cells, text and label; a rejected row has its reason."""
    answer = preview(b"text,label\nwhere is it,shipping\nnothing\n\nmy money,#N/A\n").json

    assert answer["preview"][0] == {
        "row": 2,
        "cells": ["where is it", "shipping"],
        "text": "where is it",
        "label": "shipping",
        "reason": None,
    }
    assert [row["row"] for row in answer["preview"]] == [2, 3, 5]
    assert answer["preview"][1]["cells"] == ["nothing"]
    assert "one cell" in answer["preview"][1]["reason"]
    assert answer["preview"][2]["label"] == "#N/A"
    assert "missing value" in answer["preview"][2]["reason"]
    assert answer["sheets"] == []


def test_columns_have_samples_counts_and_ranks(preview):
    """Each column has its name, three samples, its number of distinct values and its ranks."""
    rows = "".join(f"question number {n},{'ab'[n % 2]}\n" for n in range(30))
    answer = preview(f"text,label\n{rows}".encode()).json

    assert len(answer["preview"]) == 20
    text, label = answer["columns"]
    assert text["samples"] == [f"question number {n}" for n in range(3)]
    assert (text["position"], text["name"], text["distinct"]) == (1, "text", 30)
    assert label == {
        "position": 2,
        "name": "label",
        "samples": ["a", "b"],
        "distinct": 2,
        "rank": {"text": 2, "label": 1},
    }
    unnamed = preview(b"one text,a\nanother,b\n", ("header", b"false", None)).json
    assert [column["name"] for column in unnamed["columns"]] == [None, None]


def test_sheets_of_a_workbook_are_listed(preview):
    """Visible sheets are listed with name and last row, even if the first one is empty."""
    rows = sheet([["text", "label"], ["hello there", "x"], ["good bye", "y"]])
    good = preview(workbook({"A": rows, "B": sheet([["q"]] * 5)}), name="a.xlsx").json
    skipped = preview(workbook({"Read me": sheet([]), "Data": rows}), name="a.xlsx").json
    bad = preview(workbook({"Read me": sheet([]), "Data": sheet([["q"]])}), name="a.xlsx")

    assert good["sheets"] == [{"name": "A", "rows": 3}, {"name": "B", "rows": 5}]
    assert [row["label"] for row in good["preview"]] == ["x", "y"]
    assert [row["label"] for row in skipped["preview"]] == ["x", "y"]
    assert [one["name"] for one in skipped["sheets"]] == ["Read me", "Data"]
    assert bad.status == 400
    assert [one["name"] for one in bad.json["detail"]["sheets"]] == ["Read me", "Data"]


@pytest.mark.parametrize(
    "content",
    [
        b'[{"text": "one", "label": "a", "more": {"id": 7}}, {"text": "two"}]',
        b'{"text": "one", "label": "a", "more": {"id": 7}}\n{"text": "two"}\n',
    ],
)
def test_members_of_objects_are_columns(preview, content):
    """Members of JSON objects are columns in order of first appearance; missing ones are empty."""
    answer = preview(content, name="data.json").json

    assert [column["name"] for column in answer["columns"]] == ["text", "label", "more"]
    assert answer["preview"][0]["cells"] == ["one", "a", '{"id": "7"}']
    assert (answer["preview"][1]["cells"], answer["preview"][1]["text"]) == (["two", "", ""], None)
    assert "no member label" in answer["preview"][1]["reason"]


def test_refusal_has_the_columns_for_programs(preview, call):
    """An ambiguous file is refused with its columns; naming columns as suggested works."""
    content = "\n".join(WIDE).encode()
    refused = preview(content)
    named = preview(content, ("textColumn", b"First", None), ("labelColumn", b"4", None))
    old = call.form("POST", URL, ("data", content, "data.csv"), TYPE)

    assert (refused.status, refused.json["code"]) == (400, "invalid_upload")
    detail = refused.json["detail"]
    assert [column["name"] for column in detail["columns"]] == WIDE[0].split(",")
    assert detail["columns"][2]["distinct"] == 2
    assert detail["preview"][0]["cells"] == WIDE[0].split(",")
    assert (named.status, named.json["preview"][1]["label"]) == (200, "y")
    # Clients that do not ask for a preview get a text, as before.
    assert isinstance(old.json["detail"], str)


def test_refusal_of_unusable_rows_and_members_has_the_columns(preview):
    """If no row is usable, the error still lists the columns of a recognized format."""
    nothing = preview(b"text,label\nhello,#N/A\nbye,null\n")
    members = preview(b'[{"subject": "a", "body": "b", "topic": "c"}]', name="data.json")
    wrong = preview(b"text,label\nhello,a\n", ("labelColumn", b"Kind", None))
    broken = preview(b'[{"subject": "a", "body": "b", "topic": "c"}, {]', name="data.json")

    for answer, names in (
        (nothing, ["text", "label"]),
        (members, ["subject", "body", "topic"]),
        (wrong, ["text", "label"]),
    ):
        assert answer.status == 400, answer.text
        assert [column["name"] for column in answer.json["detail"]["columns"]] == names
    assert nothing.json["detail"]["preview"][0]["label"] == "#N/A"
    assert broken.status == 400
    assert "detail" not in broken.json


def test_ambiguous_sheets_and_delimiters_have_columns_too(preview):
    """An ambiguous workbook lists its sheets; ambiguous delimiters show the first reading."""
    table = sheet([line.split(",") for line in WIDE])
    book = workbook({"Data": table, "More": sheet([["q"]])})
    ambiguous = preview(book, name="a.xlsx").json["detail"]
    unknown = preview(book, ("sheet", b"Tickets", None), name="a.xlsx")
    both = preview(b"one;two|three\nfour;five|six\nseven;eight|nine\n")

    assert [column["name"] for column in ambiguous["columns"]] == WIDE[0].split(",")
    assert [one["name"] for one in ambiguous["sheets"]] == ["Data", "More"]
    assert unknown.status == 400
    assert [one["rows"] for one in unknown.json["detail"]["sheets"]] == [31, 1]
    assert both.status == 400
    assert "can be read in two ways" in both.json["message"]
    assert len(both.json["detail"]["columns"]) == 2


def test_long_cells_and_many_columns_are_cut(preview):
    """Previews have at most 1,000 columns, and 20,000 characters of cells per row."""
    names = ["text", "label", *(f"c{n}" for n in range(1_500))]
    row = ["long " * 1_000, "x", *(["y" * 50] * 1_500)]
    content = "\n".join([",".join(names), *([",".join(row)] * 25)]).encode()
    answer = preview(content)

    assert (answer.status, len(answer.json["columns"])) == (200, 1_000)
    first = answer.json["preview"][0]
    assert len(first["cells"]) == 1_000
    assert sum(map(len, first["cells"])) <= 20_000
    assert (len(first["text"]), first["text"][-1]) == (500, "…")
    assert len(json.dumps(answer.json)) < 1_000_000


def test_files_of_an_archive_show_how_folders_were_read(call):
    """Each file shows its path and label; a rejected one has its reason."""
    content = make_zip({**label_folders({"cat": 1, "dog": 1}), "top.png": draw(3)})
    url = URL.replace("language", "vision")
    answer = call.form("POST", url, ("data", content, "pets.zip"), PREVIEW).json

    assert [(row["cells"], row["label"]) for row in answer["preview"]] == [
        (["cat", "cat-0.png"], "cat"),
        (["dog", "dog-0.png"], "dog"),
        (["top.png"], None),
    ]
    assert answer["preview"][0]["text"] == "cat/cat-0.png"
    assert "not in a folder" in answer["preview"][2]["reason"]
    assert (answer["columns"], answer["sheets"]) == ([], [])


def test_boxes_show_the_labels_of_each_image(call):
    """An image with boxes shows their labels; one without a box is reported as such."""
    boxes = '1.png,"{""label"":""cup"",""x"":1,""y"":1,""width"":9,""height"":9}"\n'
    content = make_zip({"1.png": draw(1), "2.png": draw(2), "annotations.csv": boxes.encode()})
    answer = call.form(
        "POST",
        URL.replace("language", "vision"),
        ("data", content, "cups.zip"),
        ("type", b"image-detection", None),
        PREVIEW,
    ).json

    assert [(row["text"], row["label"]) for row in answer["preview"]] == [
        ("1.png", "cup"),
        ("2.png", None),
    ]
    assert "no box" in answer["preview"][1]["reason"]
