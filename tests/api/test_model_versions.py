"""Versions of a model through the gateway: list, serve, delete, compare, and `modelVersion`."""

from __future__ import annotations

import re

import pytest

from tests.api.prepared import DATASET_ID, IMAGE_MODEL_ID, MODEL_ID

MODELS = "/v2/language/models"
VERSIONS = f"{MODELS}/{MODEL_ID}/versions"


@pytest.fixture
def retrained(call, prepared):
    """Retrain the model once, with two more examples."""
    add = {"data": "where is it,refund\nmoney gone,delivery\n"}
    assert call.form(
        "PUT",
        f"/v2/language/datasets/{DATASET_ID}/upload",
        ("data", add["data"].encode(), "more.csv"),
    ).status == 200  # fmt: skip
    prepared.work()
    assert call.json("POST", "/v2/language/retrain", modelId=MODEL_ID).status == 200
    prepared.work()


def listed(call):
    """Return number and state of each version."""
    versions = call("GET", VERSIONS).json["data"]
    return [(one["version"], one["isServed"]) for one in versions]


def test_retraining_makes_a_version(call, retrained):
    """A retraining creates a version that is first and served, with metrics and example count."""
    answer = call("GET", VERSIONS).json

    assert answer["object"] == "list"
    newest, oldest = answer["data"]
    assert (newest["version"], newest["isServed"], newest["examples"]) == (2, True, 14)
    assert (oldest["version"], oldest["isServed"], oldest["examples"]) == (1, False, 12)
    assert oldest["algorithm"] == "multilingual-intent"
    assert {one["object"] for one in answer["data"]} == {"modelVersion"}
    assert (
        newest["metrics"].keys() == call("GET", f"{MODELS}/{MODEL_ID}/card").json["metrics"].keys()
    )


def test_version_is_served_again(call, retrained):
    """After a rollback every process answers as before the retraining."""
    ask = {"modelId": MODEL_ID, "document": "where is my parcel"}
    newest = call.json("POST", "/v2/language/intent", **ask).json
    first = call.json("POST", "/v2/language/intent", **ask, modelVersion=1).json
    assert first != newest

    done = call("PUT", f"{VERSIONS}/1/serve")

    assert (done.status, done.json["version"], done.json["isServed"]) == (200, 1, True)
    assert listed(call) == [(2, False), (1, True)]
    assert call.json("POST", "/v2/language/intent", **ask).json == first
    assert call.json("POST", "/v2/language/intent", **ask, modelVersion=2).json == newest


def test_next_retraining_serves_its_own_version(call, retrained, prepared):
    """Version numbers keep growing after a rollback, and deleted numbers are not reused."""
    call("PUT", f"{VERSIONS}/1/serve")
    assert call("DELETE", f"{VERSIONS}/2").json["version"] == 2
    call.json("POST", "/v2/language/retrain", modelId=MODEL_ID)
    prepared.work()

    assert listed(call) == [(3, True), (1, False)]


def test_served_version_is_not_deleted(call, retrained):
    """The served version cannot be deleted; another one is deleted with its files."""
    refused = call("DELETE", f"{VERSIONS}/2")
    assert (refused.status, "Serve another version" in refused.json["message"]) == (409, True)

    assert call("DELETE", f"{VERSIONS}/1").status == 200

    assert listed(call) == [(2, True)]
    gone = call.json(
        "POST", "/v2/language/intent", modelId=MODEL_ID, document="x", modelVersion=1
    )  # fmt: skip
    assert (gone.status, "Kept versions: 2." in gone.json["message"]) == (404, True)
    assert call("DELETE", f"{VERSIONS}/1").status == 404


@pytest.mark.parametrize("part", ["", "/card", "/lc", "/evaluation"])
def test_reads_take_a_version(call, retrained, part):
    """Metrics, card, curve and evaluation can be read per version."""
    url = f"{MODELS}/{MODEL_ID}{part}"
    newest, first = call("GET", url), call("GET", f"{url}?modelVersion=1")

    assert (newest.status, first.status) == (200, 200)
    assert call("GET", f"{url}?modelVersion=2").json == newest.json
    assert first.json != newest.json
    assert call("GET", f"{url}?modelVersion=3").status == 404
    assert call("GET", f"{url}?modelVersion=0").status == 400


def test_versions_are_compared(call, retrained):
    """A comparison pairs held-out examples; with too few in common it is refused."""
    url = f"{MODELS}/{MODEL_ID}/compare"
    answer = call.json("POST", url, versions=[1, 2])

    assert (answer.status, "fewer than 20" in answer.json["message"]) == (409, True)
    assert call.json("POST", url, versions=[1, 1]).status == 400
    assert call.json("POST", url, versions=[1]).status == 400
    assert call.json("POST", url, versions=[1, 7]).status == 404


def test_prebuilt_models_have_one_version(call, prepared):
    """A prebuilt model has only version 1."""
    fields = {"modelId": "CommunitySentiment", "document": "x", "modelVersion": 2}
    answer = call.json("POST", "/v2/language/sentiment", **fields)
    assert (answer.status, "Kept versions: 1." in answer.json["message"]) == (404, True)


def test_images_take_a_version(call, prepared):
    """An image model that was never retrained has one version."""
    answer = call("GET", f"/v2/vision/models/{IMAGE_MODEL_ID}/versions").json["data"]
    assert [(one["version"], one["isServed"]) for one in answer] == [(1, True)]


@pytest.mark.parametrize(("number", "status"), [("0", 404), ("x", 404), ("9", 404)])
def test_unknown_versions(call, number, status):
    """An unknown or deleted version number is a 404."""
    assert call("PUT", f"{VERSIONS}/{number}/serve").status == status
    assert call("DELETE", f"{VERSIONS}/{number}").status == status


def test_a_version_that_would_exceed_the_storage_is_refused(call, retrained, world, monkeypatch):
    """A retraining above the storage limit is a 413 until the named version is deleted."""

    def retrain(limit: int):
        monkeypatch.setattr(world.stores.capacity, "_max_stored_bytes", limit)
        return call.json("POST", "/v2/language/retrain", modelId=MODEL_ID)

    refused = retrain(1)
    assert refused.status == 413
    stored, more = map(int, re.findall(r"(?:stores|adds about) (\d+)", refused.json["message"]))
    assert f"Delete version 1 of model {MODEL_ID}" in refused.json["message"]
    assert retrain(stored + more - 1).status == 413
    assert call("DELETE", f"{VERSIONS}/1").status == 200
    assert retrain(stored + more - 1).status == 200
