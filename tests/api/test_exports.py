"""Exports through the gateway."""

from __future__ import annotations

import pytest

from tests.api.prepared import ALBUM_ID, DATASET_ID

URL = f"/v2/language/datasets/{DATASET_ID}/exports"


def test_an_export_is_created_and_downloaded(call, world):
    """An export is queued first, then has a URL that is valid for 30 minutes."""
    made = call.json("POST", URL, format="csv").json
    assert list(made) == [
        "id", "datasetId", "format", "source", "status", "createdAt", "updatedAt", "expiresAt",
        "object",
    ]  # fmt: skip
    assert (made["status"], made["source"], made["object"]) == ("QUEUED", "upload", "export")
    world.work()

    found = call("GET", f"{URL}/{made['id']}").json
    assert (found["status"], found["examples"]) == ("SUCCEEDED", 12)
    assert "X-Amz-Expires=1800" in found["url"]
    assert f"dataset-{DATASET_ID}-upload.csv" in found["url"]
    assert made["id"] == found["id"]
    assert found["bytes"] > 100


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "'format'"),
        ({"format": "xlsx"}, "'format'"),
        ({"format": "zip"}, "'zip' is not one of csv, jsonl"),
        ({"format": "csv", "source": "both"}, "'source'"),
        ({"format": "csv", "source": "feedback"}, "no examples of source feedback"),
    ],
)
def test_wrong_exports(call, fields, text):
    """A missing or invalid field is a 400 that names it."""
    answer = call.json("POST", URL, **fields)

    assert (answer.status, text in answer.json["message"]) == (400, True), answer.text


def test_unknown_exports(call):
    """Unknown ids and ids of the other family are a 404."""
    made = call.json("POST", URL, format="csv").json["id"]

    for url in (
        f"{URL}/{'A' * 26}",
        f"{URL}/%00",
        f"/v2/vision/datasets/{ALBUM_ID}/exports/{made}",
        f"/v2/vision/datasets/{DATASET_ID}/exports/{made}",
    ):
        assert call("GET", url).status == 404
    assert call.json("POST", "/v2/language/datasets/1/exports", format="csv").status == 404
