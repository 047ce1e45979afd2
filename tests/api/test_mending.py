"""Mending through the gateway: its records and refusals."""

from __future__ import annotations

import pytest

from tests.api.prepared import DATASET_ID, DELIVERY

URL = f"/v2/language/datasets/{DATASET_ID}"


def test_a_dataset_is_renamed(call):
    """The answer is the dataset's record, and a GET says the same."""
    answer = call.json("PUT", URL, name="Tickets")

    assert (answer.status, answer.json["name"]) == (200, "Tickets")
    assert call("GET", URL).json == answer.json


def test_a_label_is_renamed(call):
    """The answer is the label's record with its id and count."""
    before = call("GET", URL).json["labelSummary"]["labels"]

    answer = call.json("PUT", f"{URL}/labels/{DELIVERY}", name="parcels")

    [old] = [label for label in before if label["id"] == DELIVERY]
    assert (answer.status, answer.json) == (200, {**old, "name": "parcels"})


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
    """What is unknown is a 404 before fields are looked at; what cannot be names its field."""
    answer = call.json("PUT", URL + path, **fields)

    assert (answer.status, text in answer.json["message"]) == (status, True), answer.text
