"""Datasets: lists, creation, deletion."""

from __future__ import annotations

import pytest

from chalicelib.services.datasets.datasets import NewDataset
from tests.api.prepared import DATASET_ID


def test_list_is_paged_by_25(call, world):
    """A page has 25 datasets by default and at most, and links to the next page."""
    for number in range(30):
        world.container.datasets.create(
            world.account, "language", NewDataset(f"d{number}", "text-intent", None, None)
        )
    answer = call("GET", "/v2/language/datasets?count=99")

    assert (len(answer.json["data"]), answer.json["object"]) == (25, "list")
    assert "offset=25" in answer.headers["Link"]
    assert "count=25" in answer.headers["Link"]


def test_vision_list_is_there(call, world):
    """A family without datasets has an empty list."""
    _, token = world.sign_up("b@example.test")
    answer = call("GET", "/v2/vision/datasets", authorization=f"Bearer {token}")

    assert answer.json == {"object": "list", "data": []}


@pytest.mark.parametrize(
    ("text", "names"),
    [("true", []), ("false", ["shop"]), ("1", []), ("", ["shop"])],
)
def test_global_datasets_are_asked_for(call, text, names):
    """`global` selects the datasets that ship with the service."""
    answer = call("GET", f"/v2/language/datasets?global={text}")

    assert [item["name"] for item in answer.json["data"]] == names


def test_global_must_be_a_boolean(call):
    """An invalid value of `global` is named in the error."""
    answer = call("GET", "/v2/language/datasets?global=maybe")

    assert answer.status == 400
    assert "'global' parameter is not valid: expected true or false, got 'maybe'." in answer.text


def test_lists_are_filtered(call):
    """Name and status filter datasets; an invalid status is refused with the valid ones."""
    listed = call("GET", "/v2/language/datasets?name=SHO&status=SUCCEEDED").json["data"]
    wrong = call("GET", "/v2/language/datasets?status=DONE")

    assert [item["id"] for item in listed] == [DATASET_ID]
    assert call("GET", "/v2/language/datasets?name=none").json["data"] == []
    assert (wrong.status, "'status'" in wrong.text, "FAILED" in wrong.text) == (400, True, True)


@pytest.mark.parametrize("query", ["", "?status=SUCCEEDED", "?status=failed", "?status="])
def test_only_failed_datasets_are_deleted_together(call, query):
    """Bulk deletion accepts only status FAILED; any other value, or none, is a 400."""
    answer = call("DELETE", f"/v2/language/datasets{query}")

    assert (answer.status, "'status'" in answer.text) == (400, True)
    assert call("GET", f"/v2/language/datasets/{DATASET_ID}").json["available"]
    assert call("DELETE", "/v2/language/datasets?status=FAILED").json == {
        "object": "list",
        "data": [],
    }


def test_name_is_required_to_create(call):
    """A missing name gets the documented text."""
    answer = call.json("POST", "/v2/vision/datasets", labels="a,b")

    assert (
        answer.status,
        answer.json["message"],
    ) == (400, "The 'name' parameter is required to create a dataset.")


def test_dataset_is_created_with_labels(call):
    """All fields reach the service."""
    made = call.form(
        "POST", "/v2/vision/datasets", ("name", b"fruit", None), ("labels", b"a,b", None)
    ).json

    found = call("GET", f"/v2/vision/datasets/{made['id']}").json
    assert (found["name"], found["type"]) == ("fruit", "image")
    assert [label["name"] for label in found["labelSummary"]["labels"]] == ["a", "b"]


def test_dataset_is_shown_with_labels(call):
    """Members have the order of the contract."""
    record = call("GET", f"/v2/language/datasets/{DATASET_ID}").json

    assert list(record)[:5] == ["id", "name", "createdAt", "updatedAt", "labelSummary"]
    assert (record["totalExamples"], record["totalLabels"]) == (12, 2)


def test_deletion_is_answered_with_200(call):
    """A deletion call returns 200 and a Deletion record."""
    answer = call("DELETE", f"/v2/language/datasets/{DATASET_ID}")

    assert (
        answer.status,
        answer.json["object"],
        answer.json["deletedObjectId"],
    ) == (200, "deletion", str(DATASET_ID))
