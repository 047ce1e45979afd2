"""Corrections through the gateway: records and errors."""

from __future__ import annotations

import json

import pytest

from tests.api.prepared import BOX_MODEL_ID, DATASET_ID, DELIVERY, MODEL_ID, REFUND, SCENES_ID

URL = f"/v2/language/datasets/{DATASET_ID}"
FINE = {"exampleId": 1, "labelId": DELIVERY}


def test_a_dataset_is_renamed(call):
    """Renaming a dataset returns its record, as GET does."""
    answer = call.json("PUT", URL, name="Tickets")

    assert (answer.status, answer.json["name"]) == (200, "Tickets")
    assert call("GET", URL).json == answer.json


def test_a_label_is_renamed(call):
    """Renaming a label returns its record with id, count and moved examples."""
    before = call("GET", URL).json["labelSummary"]["labels"]

    answer = call.json("PUT", f"{URL}/labels/{DELIVERY}", name="parcels")

    [old] = [label for label in before if label["id"] == DELIVERY]
    assert (answer.status, answer.json) == (
        200,
        {**old, "name": "parcels", "moved": 0, "duplicates": 0},
    )


@pytest.mark.parametrize(
    ("path", "fields", "status", "text"),
    [
        ("", {}, 400, "'name'"),
        ("", {"name": "a" * 181}, 400, "180"),
        ("/labels/1", {}, 404, "Unable to find label 1."),
        ("/labels/x", {"name": "a"}, 404, "Unable to find label x."),
        ("/labels/0", {"name": "a"}, 404, "Unable to find label 0."),
        (f"/labels/{DELIVERY}", {}, 400, "'name'"),
        (f"/labels/{DELIVERY}", {"name": "\u3164"}, 400, "no character that shows"),
        (f"/labels/{DELIVERY}", {"name": "refund"}, 409, "mergeInto"),
    ],
)
def test_wrong_changes(call, path, fields, status, text):
    """Unknown ids are a 404 before fields are checked; invalid values name their field."""
    answer = call.json("PUT", URL + path, **fields)

    assert (answer.status, text in answer.json["message"]) == (status, True), answer.text


@pytest.fixture
def example(call) -> dict:
    """Return the first example of the dataset."""
    return call("GET", f"{URL}/browse?count=1").json["data"][0]


def test_an_example_is_moved_reworded_and_removed(call, example):
    """The answer counts the changes and shows the current example."""
    url = f"{URL}/examples/{example['id']}"

    moved = call.json("PUT", url, labelId=DELIVERY, document="Where is it now?")
    assert list(moved.json) == [
        "datasetId",
        "moved",
        "changed",
        "removed",
        "added",
        "duplicates",
        "skipped",
        "id",
        "createdAt",
        "examples",
        "object",
    ]
    [shown] = moved.json["examples"]
    assert (shown["id"], shown["name"]) == (example["id"], "Where is it now?")
    assert (shown["label"]["id"], moved.json["moved"]) == (DELIVERY, 1)
    removed = call("DELETE", url)
    assert (removed.status, removed.json["removed"], "examples" in removed.json) == (200, 1, False)
    assert call("DELETE", url).status == 404


def test_labels_are_merged_and_removed(call):
    """The merge target has the examples; a removed label is in no list."""
    merged = call.json("PUT", f"{URL}/labels/{REFUND}", mergeInto=DELIVERY)

    assert (merged.status, merged.json["id"], merged.json["moved"]) == (200, DELIVERY, 6)
    assert call("DELETE", f"{URL}/labels/{DELIVERY}").json["removed"] == merged.json["numExamples"]
    assert call("GET", URL).json["labelSummary"]["labels"] == []


def test_corrections_are_counted(call, example):
    """Ids and names are accepted as in other calls; the answer lists no examples."""
    item = {"exampleId": example["id"], "label": "delivery"}
    answer = call.json("POST", f"{URL}/corrections", corrections=[item])

    counts = [answer.json[name] for name in ("moved", "removed", "skipped")]
    assert (answer.status, counts, "examples" in answer.json) == (200, [1, 0, 0], False)
    report = call.json("POST", f"{URL}/corrections", fromReportOf=MODEL_ID)
    assert (report.status, report.json["moved"]) == (200, 0)


def test_corrections_can_be_read_again(call, example):
    """Corrections are listed newest first, in pages, without those that had no effect."""
    url, answers = f"{URL}/corrections", []
    for label in ("delivery", "refund"):
        item = {"exampleId": example["id"], "label": label}
        answers.append(call.json("POST", url, corrections=[item]).json)
    again = call.json("POST", url, corrections=[item]).json
    removed = call("DELETE", f"{URL}/examples/{example['id']}").json

    assert ("id" in again, again["moved"]) == (False, 0)
    listed = call("GET", url).json["data"]
    assert listed[0] == removed
    assert all(one in listed for one in answers if "id" in one)
    assert call("GET", f"{url}?count=1&offset=1").json["data"] == listed[1:2]
    assert call("GET", f"{URL[:-1]}9/corrections").status == 404


@pytest.mark.parametrize(
    ("method", "path", "fields", "status", "text"),
    [
        ("PUT", "/examples/1", {"labelId": DELIVERY}, 404, "Unable to find example 1."),
        ("DELETE", "/examples/x", {}, 404, "Unable to find example x."),
        ("PUT", f"/labels/{DELIVERY}", {"mergeInto": DELIVERY}, 400, "itself"),
        ("PUT", f"/labels/{DELIVERY}", {"mergeInto": 1}, 404, "label 1"),
        ("PUT", f"/labels/{DELIVERY}", {"mergeInto": REFUND, "name": "a"}, 400, "one of them"),
        ("POST", "/corrections", {}, 400, "'corrections' or 'fromReportOf'"),
        ("POST", "/corrections", {"corrections": []}, 400, "1 to 10000"),
        ("POST", "/corrections", {"corrections": [{"exampleId": 1}] * 10_001}, 400, "10001"),
        ("POST", "/corrections", {"corrections": [{"label": "a"}]}, 400, "exampleId"),
        ("POST", "/corrections", {"corrections": "all"}, 400, "a list"),
        ("POST", "/corrections", {"corrections": [FINE, 5]}, 400, "'corrections[1]'"),
        ("POST", "/corrections", {"corrections": [FINE, {}]}, 400, "'corrections[1].exampleId'"),
        (
            "POST",
            "/corrections",
            {"corrections": [FINE, {"exampleId": "x", "labelId": DELIVERY}]},
            400,
            "'corrections[1].exampleId' parameter is not valid: expected a whole number, got 'x'",
        ),
        ("POST", "/corrections", {"fromReportOf": "A" * 26}, 404, "Unable to find model"),
        ("POST", "/corrections", {"fromReportOf": BOX_MODEL_ID}, 400, "was trained from"),
        (
            "POST",
            "/corrections",
            {"fromReportOf": MODEL_ID, "minimumConfidence": 2},
            400,
            "'minimumConfidence'",
        ),
        (
            "POST",
            "/corrections",
            {"corrections": [{"exampleId": 1, "labelId": DELIVERY}]},
            404,
            "Unable to find example 1.",
        ),
    ],
)
def test_wrong_corrections(call, method, path, fields, status, text):
    """Each invalid correction is refused with its cause; unknown ids are checked first."""
    answer = call.json(method, URL + path, **fields)

    assert (answer.status, text in answer.json["message"]) == (status, True), answer.text


def test_an_example_must_change(call, example):
    """An empty change is a 400, and so is a text for an image."""
    url = f"{URL}/examples/{example['id']}"

    assert call.json("PUT", url).status == 400
    assert "is not a label" in call.json("PUT", url, label="nothing").json["message"]
    assert call.json("PUT", url, document=" ").status == 400
    scenes = f"/v2/vision/datasets/{SCENES_ID}"
    box = call("GET", f"{scenes}/browse?count=1").json["data"][0]["id"]
    refused = call.json("PUT", f"{scenes}/examples/{box}", document="a")
    assert "images have no text" in refused.json["message"]


SCENES = f"/v2/vision/datasets/{SCENES_ID}"


@pytest.fixture
def box(call) -> dict:
    """A box of the scenes."""
    return call("GET", f"{SCENES}/browse?count=1").json["data"][0]


def test_boxes_of_a_picture_are_replaced(call, box):
    """Boxes are sent as JSON or as text in a form; the answer has all boxes of the image."""
    url = f"{SCENES}/examples/{box['id']}"
    kept = {**box["box"], "labelId": box["label"]["id"]}
    new = {"x": 1, "y": 2.5, "width": 10, "height": 10, "label": "red"}

    answer = call.json("PUT", url, boxes=[kept, new])

    counts = [answer.json[name] for name in ("added", "removed", "moved", "changed")]
    assert (answer.status, counts) == (200, [1, 0, 0, 0]), answer.text
    first, second = answer.json["examples"]
    assert (first["id"], first["box"]) == (box["id"], box["box"])
    assert second["box"] == {"x": 1, "y": 2.5, "width": 10, "height": 10}
    assert second["name"] == box["name"]
    browsed = call("GET", f"{SCENES}/browse").json["data"]
    assert [one["box"] for one in browsed if one["id"] == second["id"]] == [second["box"]]
    form = call.form("PUT", url, ("boxes", json.dumps([new]).encode(), None))
    assert (form.status, form.json["removed"]) == (200, 1), form.text
    gone = call.json("PUT", f"{SCENES}/examples/{second['id']}", boxes=[])
    assert (gone.json["removed"], "examples" in gone.json) == (1, False)
    assert call.json("PUT", url, boxes=[]).status == 404


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"boxes": "all"}, "not valid JSON"),
        ({"boxes": 5}, "a list"),
        ({"boxes": {}}, "a list"),
        ({"boxes": [5]}, "an object"),
        ({"boxes": [[1, 2, 3, 4]]}, "an object"),
        ({"boxes": [{"x": 1, "y": 1, "width": 5, "label": "red"}]}, "height"),
        ({"boxes": [{"x": "1", "y": 1, "width": "a", "height": 5, "label": "red"}]}, "a number"),
        ({"boxes": [{"x": 1, "y": 1, "width": 5, "height": 5}]}, "boxes[0]"),
        ({"boxes": [{"x": 1, "y": 1, "width": 0, "height": 5, "label": "red"}]}, "above 0"),
        ({"boxes": [{"x": 1e9, "y": 1, "width": 1, "height": 5, "label": "red"}]}, "at most"),
        ({"boxes": "[" * 5_000}, "nested too deeply"),
        ({"boxes": [], "label": "red"}, "alone"),
    ],
)
def test_wrong_boxes(call, box, fields, text):
    """Each invalid box is refused with its cause, and nothing changes."""
    answer = call.json("PUT", f"{SCENES}/examples/{box['id']}", **fields)

    assert (answer.status, text in answer.json["message"]) == (400, True), answer.text
    assert call("GET", f"{SCENES}/browse?count=1").json["data"][0]["box"] == box["box"]


def test_texts_have_no_boxes(call, example):
    """The error names the dataset type that has boxes."""
    answer = call.json("PUT", f"{URL}/examples/{example['id']}", boxes=[])

    assert (answer.status, "image-detection" in answer.json["message"]) == (400, True)
