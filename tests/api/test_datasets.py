"""Datasets: lists, creation, deletion."""

from __future__ import annotations

import pytest


def test_list_is_paged_by_25(call):
    """The default and largest page has 25 datasets, and links to the rest."""
    answer = call("GET", "/v2/language/datasets?count=99")

    assert (len(answer.json["data"]), answer.json["object"]) == (25, "list")
    assert "offset=25" in answer.headers["Link"]
    assert "count=25" in answer.headers["Link"]


def test_vision_list_is_there(call):
    """A family without datasets has an empty list."""
    assert call("GET", "/v2/vision/datasets").json == {"object": "list", "data": []}


@pytest.mark.parametrize(
    ("text", "name"),
    [("true", "list_global"), ("false", "list"), ("1", "list_global"), ("", "list")],
)
def test_global_datasets_are_asked_for(call, services, text, name):
    """`global` chooses the datasets that ship with the service."""
    call("GET", f"/v2/language/datasets?global={text}")

    assert name == services.calls[-1][0]


def test_global_must_be_a_boolean(call):
    """Another value is named."""
    answer = call("GET", "/v2/language/datasets?global=maybe")

    assert answer.status == 400
    assert "'global' parameter is not valid: expected true or false, got 'maybe'." in answer.text


def test_name_is_required_to_create(call):
    """The documented text stands for a missing name."""
    answer = call.json("POST", "/v2/vision/datasets", labels="a,b")

    assert (
        answer.status,
        answer.json["message"],
    ) == (400, "The 'name' parameter is required to create a dataset.")


def test_dataset_is_created_with_labels(call, services):
    """All fields reach the service."""
    call.form("POST", "/v2/vision/datasets", ("name", b"fruit", None), ("labels", b"a,b", None))

    family, fields = services.calls[-1][1]
    assert (family, fields.name, fields.labels, fields.type) == ("vision", "fruit", "a,b", None)


def test_dataset_is_shown_with_labels(call):
    """Members stand in the contract's order."""
    record = call("GET", "/v2/language/datasets/7").json

    assert list(record)[:5] == ["id", "name", "createdAt", "updatedAt", "labelSummary"]
    assert (record["totalExamples"], record["totalLabels"]) == (3, 2)


def test_deletion_is_answered_with_200(call):
    """A deletion call returns 200 and a Deletion record."""
    answer = call("DELETE", "/v2/language/datasets/7")

    assert (
        answer.status,
        answer.json["object"],
        answer.json["deletedObjectId"],
    ) == (200, "deletion", "7")
