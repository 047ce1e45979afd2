"""Models, receipts, deletions, usage: their records through the gateway."""

from __future__ import annotations

import pytest

from chalicelib.stores.models.versions import EVALUATION
from tests.api.prepared import DATASET_ID, MODEL_ID


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (f"/models/{MODEL_ID}", "metrics"),
        (f"/train/{MODEL_ID}", "training"),
        (f"/models/{MODEL_ID}/card", "card"),
    ],
)
@pytest.mark.parametrize("family", ["vision", "language"])
def test_single_records(call, family, url, kind):
    """Models, trainings and deletions can be read below both families."""
    assert kind == call("GET", f"/v2/{family}{url}").json["object"]


@pytest.mark.parametrize("family", ["vision", "language"])
def test_single_deletion(call, family):
    """A deletion can be read below both families and shows its progress."""
    made = call("DELETE", f"/v2/language/datasets/{DATASET_ID}").json

    record = call("GET", f"/v2/{family}/deletion/{made['id']}").json
    assert (record["object"], record["status"]) == ("deletion", "QUEUED")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (f"/v2/language/models/{MODEL_ID}/lc", "learningcurve"),
        (f"/v2/language/datasets/{DATASET_ID}/models", "model"),
        ("/v2/language/models", "model"),
        ("/v2/vision/models?status=SUCCEEDED", "model"),
        (f"/v2/language/datasets/{DATASET_ID}/receipts", "receipt"),
        ("/v2/apiusage", "apiusage"),
    ],
)
def test_lists(call, url, kind):
    """Lists wrap their records."""
    answer = call("GET", url).json

    assert ("list", {kind}) == (answer["object"], {item["object"] for item in answer["data"]})


@pytest.mark.parametrize(
    "url",
    ["/models/x", "/models/x/lc", "/models/x/card", "/train/x", "/deletion/x", "/deletion/%00"],
)
def test_unknown_ids(call, url):
    """An unknown or malformed id is a 404."""
    assert call("GET", "/v2/language" + url).status == 404


def test_model_is_deleted(call, world):
    """A deletion call returns 200 and a Deletion record."""
    assert call("DELETE", f"/v2/vision/models/{MODEL_ID}").status == 200
    assert call("GET", f"/v2/vision/models/{MODEL_ID}").status == 404
    assert len(world.sent()) == 1


def test_usage_agrees_with_the_headers(call):
    """The usage record equals the rate-limit headers."""
    sent = call.json("POST", "/v2/language/intent", modelId=MODEL_ID, document="a").headers

    (usage,) = call("GET", "/v2/apiusage").json["data"]
    assert sent["X-RateLimit-Remaining"] == str(usage["predictionsRemaining"])
    assert sent["X-RateLimit-Limit"] == str(usage["predictionsMax"])


def test_evaluation(call, world):
    """An evaluation lists held-out examples by page and confusion-matrix cell, with calibration."""
    url = f"/v2/language/models/{MODEL_ID}/evaluation"
    whole = call("GET", url).json

    found = whole["data"]
    assert whole["total"] == len(found) > 2
    assert sum(one["count"] for one in whole["reliability"]) == len(found)
    first = call("GET", url + "?count=2")
    assert first.json["data"] == found[:2]
    assert f"{url}?count=2&offset=2" in first.headers["Link"]
    right = call("GET", url + "?isRight=true").json
    wrong = call("GET", url + "?isRight=false").json
    assert right["total"] + wrong["total"] == len(found)
    cell = call("GET", f"{url}?expected=delivery&predicted=delivery").json["data"]
    assert cell == [one for one in right["data"] if one["expectedLabel"] == "delivery"] != []
    assert call("GET", url + "?isRight=perhaps").status == 400


def test_evaluation_that_was_not_kept(call, world):
    """A model trained before evaluations were stored answers with an error code."""
    model = world.container.models.get(world.account.account_id, MODEL_ID)
    key = f"models/{MODEL_ID}/{model.version}/{EVALUATION}"
    world.container.stores.artifacts.delete_prefix(key)

    answer = call("GET", f"/v2/language/models/{MODEL_ID}/evaluation")

    assert (answer.status, answer.json["code"]) == (409, "evaluation_not_kept")
