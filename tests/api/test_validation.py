"""Validation: reports what an upload would become, without storing anything."""

from __future__ import annotations

import pytest

from tests.corpus.exports import EXPORTS
from tests.formats.pictures.test_shrinking import noise
from tests.pictures import draw, label_folders, make_zip
from tests.tricks import ROWS

URL = "/v2/language/datasets/validate"
TYPE = ("type", b"text-intent", None)
TICKETS = b"Subject,Category\n" + b"".join(
    f"where is parcel {n},shipping\nplease pay back order {n},refund\n".encode() for n in range(5)
)


def _labels(labels):
    return {label["name"]: label["numExamples"] for label in labels}


def test_file_is_described_and_not_stored(call, world):
    """The answer has format, counts, labels and warnings; no dataset and no file is left."""
    before = call("GET", "/v2/language/datasets").json, world.contents("datasets/")
    answer = call.form("POST", URL, ("data", TICKETS, "tickets.csv"), TYPE)

    shown = answer.json
    assert list(shown) == [
        *("format", "seen", "kept", "duplicates", "rejected", "rejections", "warnings"),
        *("labels", "isTrainable", "reasons", "object"),
    ]
    assert shown["format"] == {
        "kind": "csv",
        "encoding": "utf-8",
        "delimiter": ",",
        "header": True,
        "textColumn": "Subject",
        "labelColumn": "Category",
    }
    assert (shown["seen"], shown["kept"], shown["duplicates"], shown["rejected"]) == (10, 10, 0, 0)
    assert _labels(shown["labels"]) == {"shipping": 5, "refund": 5}
    assert [w["code"] for w in shown["warnings"]] == ["headerGuessed"]
    assert (shown["isTrainable"], shown["reasons"], shown["object"]) == (True, [], "validation")
    after = call("GET", "/v2/language/datasets").json, world.contents("datasets/")
    assert after == before
    assert world.sent() == []


def test_upload_of_the_same_file_agrees(call, world):
    """The upload has the labels of the validation, and its receipt has the same warnings."""
    found = call.form("POST", URL, ("data", TICKETS, "tickets.csv"), TYPE).json
    made = call.form(
        "POST", "/v2/language/datasets/upload/sync", ("data", TICKETS, "tickets.csv"), TYPE
    ).json

    assert _labels(made["labelSummary"]["labels"]) == _labels(found["labels"])
    [receipt] = call("GET", f"/v2/language/datasets/{made['id']}/receipts").json["data"]
    assert receipt["warnings"] == found["warnings"]


def test_strict_makes_a_warning_a_refusal(call):
    """With `strict` a warning becomes an error; naming the columns avoids it."""
    file = ("data", TICKETS, "tickets.csv")
    refused = call.form("POST", URL, file, TYPE, ("strict", b"true", None))
    named = (("textColumn", b"subject", None), ("labelColumn", b"2", None))
    taken = call.form("POST", URL, file, TYPE, ("strict", b"true", None), *named)

    assert (refused.status, refused.json["code"]) == (400, "invalid_upload")
    assert "'strict' allows none" in refused.json["message"]
    assert "headerGuessed" in refused.json["message"]
    assert (taken.status, taken.json["warnings"]) == (200, [])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([("format", b"docx", None)], "'format' parameter is not valid: 'docx' is not one of csv"),
        ([("delimiter", b"-", None)], "'delimiter' parameter is not valid"),
        ([("textColumn", b"0", None)], "'textColumn' parameter is not valid: positions count"),
        ([("textColumn", b"Betreff", None)], "has no such column: 'Subject', 'Category'"),
        ([("labelSeparator", b";", None)], "tables of the type image-multi-label, and the type is"),
        ([("labelSeparator", b"; or", None)], "has 4 characters; send 1 to 3."),
        ([("strict", b"perhaps", None)], "'strict' parameter is not valid: expected true or false"),
    ],
)
def test_fields_are_checked(call, fields, words):
    """An invalid field value is refused with the allowed values."""
    answer = call.form("POST", URL, ("data", TICKETS, "tickets.csv"), TYPE, *fields)

    assert answer.status == 400
    assert words in answer.json["message"]


def test_file_at_a_path_is_validated_and_stays(call, world):
    """A file at a URL can be validated and is not deleted."""
    url = world.tricks.url("/honest.csv")

    answer = call.json("POST", URL, path=url, type="text-intent")

    assert answer.status == 200, answer.text
    assert answer.json["kept"] == ROWS.count(b"\n")


def test_pictures_are_described(call):
    """An archive gets the same record; members that only apply to texts are null."""
    content = make_zip(label_folders({"cat": 1, "dog": 1}))
    answer = call.form("POST", URL.replace("language", "vision"), ("data", content, "pets.zip"))

    assert answer.json["format"]["kind"] == "zipFolders"
    assert _labels(answer.json["labels"]) == {"cat": 1, "dog": 1}
    assert answer.json["isTrainable"]
    assert {warning["code"] for warning in answer.json["warnings"]} == {"fewExamples"}


@pytest.mark.parametrize("path", ["validate", "upload", "upload/sync"])
def test_format_of_archives_is_checked_within_the_call(call, path):
    """A format of the other family, or one that the type does not accept, is a 400."""
    file = ("data", make_zip(label_folders({"cat": 1})), "pets.zip")
    for kind, words in (
        (b"csv", "is not one of zipFolders"),
        (b"voc", "does not fit the type image"),
    ):
        answer = call.form("POST", f"/v2/vision/datasets/{path}", file, ("format", kind, None))
        assert (answer.status, words in answer.json["message"]) == (400, True), answer.json


def test_pictures_over_the_limit_are_scaled_down(call):
    """With `shrink` an image over 1 MB is accepted, in validation and upload alike."""
    file = ("data", make_zip({"cat/1.png": noise(700, 700), "dog/1.png": draw()}), "pets.zip")
    kept = [
        call.form("POST", f"/v2/vision/datasets/{path}", file, ("shrink", sent, None)).json["kept"]
        for path, sent in (("validate", b"false"), ("validate", b"true"))
    ]
    made = call.form("POST", "/v2/vision/datasets/upload/sync", file, ("shrink", b"true", None))

    assert (kept, made.json["totalExamples"]) == ([1, 2], 2)


def test_what_cannot_be_trained_says_why(call):
    """Labels with too few examples are listed with limit and remedy."""
    answer = call.form("POST", URL, ("data", b"a,x\nb,y\n", "a.csv"), TYPE)

    assert not answer.json["isTrainable"]
    assert answer.json["reasons"] == [
        "Each label needs at least 5 examples: 'x' has 1, 'y' has 1. Add examples to them."
    ]


def test_labels_with_few_examples_are_named_with_the_merge_that_helps(call):
    """The warning lists small labels with counts, and the similar label to merge each into."""
    rows = "".join(f"parcel {n},shipping\nmoney {n},refund\n" for n in range(6))
    content = f"text,label\n{rows}where,shiping\nwho,Refund\nwhat,other\n".encode()
    answer = call.form("POST", URL, ("data", content, "a.csv"), TYPE)

    [few] = [one for one in answer.json["warnings"] if one["code"] == "fewExamples"]
    assert few["places"] == ["shiping: 1", "Refund: 1", "other: 1"]
    assert "'Refund' into 'refund', 'shiping' into 'shipping'" in few["message"]


def test_blank_rows_above_the_header_are_no_examples(call):
    """A header below many blank rows is found; below more than the limit it is a 400."""
    table = b"text;label\n" + b"where is it;shipping\nmy money;refund\n" * 5
    found = call.form("POST", URL, ("data", b"\n" * 5_000 + table, "a.csv"), TYPE)
    refused = call.form("POST", URL, ("data", b"\n" * 100_001 + table, "a.csv"), TYPE)

    assert (found.json["format"]["header"], found.json["kept"]) == (True, 2)
    assert (refused.status, refused.json["code"]) == (400, "invalid_upload")
    assert "The first 100,000 rows have no cell" in refused.json["message"]


def test_separator_splits_cells_of_label_tables(call):
    """`labelSeparator` gives the same labels in validation, upload and PUT; others refuse it."""
    files = {f"train/{n}.png": draw(salt=n) for n in range(3)}
    files["train.csv"] = b"id,tags\n0,red;big\n1,red\n2,big;old\n"
    sent = ("data", make_zip(files), "a.zip"), ("labelSeparator", b";", None)
    multi = ("type", b"image-multi-label", None)
    made = call.form("POST", "/v2/vision/datasets/upload/sync", *sent, multi)
    checked = call.form("POST", "/v2/vision/datasets/validate", *sent, multi)
    again = call.form("PUT", f"/v2/vision/datasets/{made.json['id']}/upload", *sent)
    refused = call.form("POST", "/v2/vision/datasets/upload", *sent, ("type", b"image", None))

    labels = {label["name"]: label["numExamples"] for label in checked.json["labels"]}
    assert labels == {"red": 2, "big": 2, "old": 1}
    assert {label["name"] for label in made.json["labelSummary"]["labels"]} == set(labels)
    assert (again.status, refused.status) == (200, 400)
    assert "'labelSeparator' parameter is not valid" in refused.json["message"]


@pytest.mark.parametrize("name", ["Rasa, YAML", "LUIS", "Dialogflow, agent"])
def test_exports_of_tools_are_accepted_by_every_call(call, world, name, monkeypatch):
    """YAML, JSON and zip exports work in validation, both uploads and PUT, as file and URL."""
    case = next(case for case in EXPORTS if case.name == name)
    monkeypatch.setattr("tests.tricks.ROWS", case.content)
    fetched = {"path": world.tricks.url("/honest.csv"), "type": "text-intent"}
    sent = ("data", case.content, "export")
    base = "/v2/language/datasets"
    checked = call.form("POST", URL, sent, TYPE)
    queued = call.form("POST", f"{base}/upload", sent, TYPE)
    synced = call.form("POST", f"{base}/upload/sync", sent, TYPE)
    added = call.form("PUT", f"{base}/{synced.json['id']}/upload", sent)

    assert (checked.status, checked.json["format"]["kind"]) == (200, case.kind)
    assert _labels(checked.json["labels"]) == case.labels
    assert (queued.status, synced.status, added.status) == (200, 200, 200)
    assert _labels(synced.json["labelSummary"]["labels"]) == case.labels
    for path in (URL, f"{base}/upload", f"{base}/upload/sync"):
        answer = call.json("POST", path, **fetched)
        assert answer.status == 200, answer.text
