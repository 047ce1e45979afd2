"""Label descriptions: upload, PUT, POST without a file, list. beyond.md, section 15."""

from __future__ import annotations

import json

import pytest

from tests.held import held

URL = "/v2/language/datasets"
LATE = {"name": "late_parcel", "description": "A parcel  has not arrived in time."}
REFUND = {"name": "refund", "description": "Money back."}


def _create(call, *described, **fields):
    sent = {"name": "names", "type": "text-intent", "labelDescriptions": list(described), **fields}
    return call.json("POST", URL, **sent)


def _labels(call, dataset_id):
    return [
        (one["name"], one["description"], one["numExamples"])
        for one in call("GET", f"{URL}/{dataset_id}/labels").json["data"]
    ]


def _objects(world):
    return set(held("s3").buckets[world.container.settings.bucket].keys)


def test_an_empty_post_adds_the_described_labels(call):
    """POST without a file creates labels from `labels` and from descriptions."""
    made = _create(call, LATE, labels="refund,late_parcel").json
    listed = call("GET", f"{URL}/{made['id']}/labels").json

    assert [one["name"] for one in made["labelSummary"]["labels"]] == ["refund", "late_parcel"]
    assert set(made["labelSummary"]["labels"][0]) == {"id", "datasetId", "name", "numExamples"}
    assert listed["object"] == "list"
    assert listed["data"][1] == {
        "name": "late_parcel",
        "description": "A parcel has not arrived in time.",
        "numExamples": 0,
        "object": "labelDescription",
    }


def test_a_put_replaces_those_named_and_adds_labels(call):
    """PUT changes only the named labels, adds new ones, and an empty text removes a description."""
    made = _create(call, LATE, REFUND).json["id"]
    sent = [{"name": "refund", "description": ""}, {"name": "lost", "description": "Gone."}]
    answer = call.json("PUT", f"{URL}/{made}", name="renamed", labelDescriptions=sent)

    assert (answer.status, answer.json["name"], answer.json["totalLabels"]) == (200, "renamed", 3)
    # A repeated call changes nothing.
    call.json("PUT", f"{URL}/{made}", labelDescriptions=sent)
    assert _labels(call, made) == [
        ("late_parcel", "A parcel has not arrived in time.", 0),
        ("refund", "", 0),
        ("lost", "Gone.", 0),
    ]


def test_descriptions_come_with_an_upload_and_an_addition(call):
    """A form sends descriptions as JSON text; the file's examples join the described labels."""
    text = json.dumps([LATE, REFUND]).encode()
    file = ("data", b"text,label\nwhere is it,late_parcel\ngive it back,other\n", "t.csv")
    made = call.form(
        "POST",
        f"{URL}/upload/sync",
        ("type", b"text-intent", None),
        ("labelDescriptions", text, None),
        file,
    )
    number = made.json["id"]

    assert made.json["statusMsg"] == "SUCCEEDED"
    assert sorted(_labels(call, number)) == [
        ("late_parcel", "A parcel has not arrived in time.", 1),
        ("other", "", 1),
        ("refund", "Money back.", 0),
    ]
    more = json.dumps([{"name": "other", "description": "All else."}]).encode()
    file = ("data", b"text,label\nmoney please,refund\n", "t.csv")
    added = call.form("PUT", f"{URL}/{number}/upload", ("labelDescriptions", more, None), file)
    assert added.status == 200
    assert ("other", "All else.", 1) in _labels(call, number)


def test_a_refused_file_changes_no_description(call):
    """Descriptions are stored only if the file sent with them is accepted."""
    file = ("data", b"text,label\nwhere is it,late_parcel\n", "t.csv")
    made = call.form("POST", f"{URL}/upload/sync", ("type", b"text-intent", None), file)
    sent = ("labelDescriptions", json.dumps([REFUND]).encode(), None)
    bad = ("data", b"<!doctype html><html><body>Sign in</body></html>", "t.csv")
    refused = call.form("PUT", f"{URL}/{made.json['id']}/upload", sent, bad)

    assert refused.status == 415
    assert _labels(call, made.json["id"]) == [("late_parcel", "", 1)]


def test_a_refused_description_adds_no_file(call, world):
    """If the descriptions are refused, no file is added: the stored file is deleted."""
    file = ("data", b"text,label\nwhere is it,late_parcel\n", "t.csv")
    made = call.form("POST", f"{URL}/upload/sync", ("type", b"text-intent", None), file)
    many = [{"name": f"l{number}", "description": "d"} for number in range(1_000)]
    sent = ("labelDescriptions", json.dumps(many).encode(), None)
    before = _objects(world)
    refused = call.form("PUT", f"{URL}/{made.json['id']}/upload", sent, file)

    assert refused.status == 400
    assert "1,001 labels" in refused.json["message"]
    assert _objects(world) == before


def test_descriptions_follow_rename_merge_and_removal(call):
    """A renamed label keeps its description; a merge target without one inherits it."""
    made = _create(call, LATE, REFUND, labels="plain")
    number = made.json["id"]
    ids = {one["name"]: one["id"] for one in made.json["labelSummary"]["labels"]}
    call.json("PUT", f"{URL}/{number}/labels/{ids['late_parcel']}", name="delayed")
    call.json("PUT", f"{URL}/{number}/labels/{ids['refund']}", mergeInto=ids["plain"])

    assert sorted(_labels(call, number)) == [
        ("delayed", "A parcel has not arrived in time.", 0),
        ("plain", "Money back.", 0),
    ]
    call("DELETE", f"{URL}/{number}/labels/{ids['plain']}")
    assert [name for name, _, _ in _labels(call, number)] == ["delayed"]


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ([{"name": "a", "description": "x" * 501}], "it has 501 characters, the limit is 500"),
        ([{"name": f"l{n}", "description": "d"} for n in range(1001)], "the limit is 1,000"),
        ([{"name": "a"}, {"name": "a"}], "'a' is listed twice"),
        ([{"description": "d"}], "labelDescriptions[0].name"),
        ([{"name": " ", "description": "d"}], "labelDescriptions[0].name"),
        ([], "the list is empty"),
        ("[", "it is not valid JSON text"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_wrong_descriptions_are_named(call, sent, text):
    """Invalid descriptions are refused with their place, and nothing is created."""
    answer = call.json("POST", URL, name="n", type="text-intent", labelDescriptions=sent)

    assert answer.status == 400
    assert text in answer.json["message"]


def test_images_have_no_descriptions(call):
    """A vision dataset does not accept label descriptions."""
    answer = call.json("POST", "/v2/vision/datasets", name="n", labelDescriptions=[LATE])

    assert answer.status == 400
    assert "only language datasets" in answer.json["message"]


def test_other_accounts_do_not_see_them(call, world):
    """Descriptions of another account's dataset are a 404."""
    number = _create(call, LATE).json["id"]
    _, token = world.sign_up("other@example.test")

    assert call("GET", f"{URL}/{number}/labels", authorization=f"Bearer {token}").status == 404
