"""Every row of the contract's table of endpoints with a language form answers as documented.

The members of each answer, their order and kinds are compared with the contract's examples.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import app as module
from tests.live import INTENT, JWT_BEARER, SENTIMENT, SHOP, SYNC, TRAIN, UPLOAD, Caller

EXAMPLES = Path(__file__).parent / "examples"
OWN_KEYS = ("threshold", "trainParams", "engines", "metrics", "dataReport", "trainedOn", "engine")
"""Members that are objects of the caller's or the engine's own keys."""
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000")


def example(name: str) -> Any:
    """Read one of the contract's payloads."""
    return json.loads((EXAMPLES / f"{name}.json").read_text())


def same_shape(got: Any, expected: Any, where: str = "$") -> None:
    """Assert that members, their order and JSON types are equal; int and float count as one."""
    assert kind(got) == kind(expected) or None in (got, expected), (where, got)
    if isinstance(got, dict) and where.rsplit(".", 1)[-1] not in OWN_KEYS:
        assert list(got) == list(expected), where
        for name, value in expected.items():
            same_shape(got[name], value, f"{where}.{name}")
    elif isinstance(got, list) and got and expected:
        same_shape(got[0], expected[0], f"{where}[]")


def kind(value: Any) -> str:
    """Return the JSON type of a value."""
    if isinstance(value, str):
        return "date" if DATE.fullmatch(value) else "text"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


@pytest.fixture(scope="module")
def caller(live) -> Caller:
    """The account that owns the shared dataset and model; tests must not change them."""
    assert live.model_id
    return live.owner


@pytest.fixture(scope="module")
def own(live) -> Caller:
    """A separate account for calls that change data."""
    return live.caller("endpoints")


@pytest.fixture(scope="module")
def own_dataset(own) -> dict[str, Any]:
    """A dataset that calls may change."""
    return dict(own.upload(SHOP).ok())


GETS = [
    ("/v2/{family}/datasets", "dataset_list"),
    ("/v2/{family}/datasets?global=true", "dataset_list_global"),
    ("/v2/{family}/datasets/{dataset}", "dataset_succeeded_language"),
    ("/v2/{family}/datasets/{dataset}/examples", "example_list_language"),
    ("/v2/{family}/examples?labelId={label}", "example_list_language"),
    ("/v2/{family}/examples/{dataset}/label/{label}", "example_list_language"),
    ("/v2/{family}/datasets/{dataset}/models", "model_list_language"),
    ("/v2/{family}/train/{model}", "training_succeeded_intent_ood"),
    ("/v2/{family}/models/{model}", "metrics_intent"),
    ("/v2/{family}/models/{model}/lc", "learningcurve_intent"),
    ("/v2/{family}/models/{model}/card", "card_intent"),
    ("/v2/apiusage", "apiusage"),
    ("/v2/health", "health"),
]
SHARED = ("/train/", "/models/{model}")
"""Paths that are one namespace for both families."""


@pytest.mark.parametrize(
    ("path", "name", "family"),
    [
        (path, name, family)
        for path, name in GETS
        for family in ("language", *(["vision"] if any(s in path for s in SHARED) else []))
    ],
)
def test_get(live, caller, path, name, family):
    """GET answers 200 with the documented record, with and without a trailing slash."""
    filled = path.format(
        family=family,
        dataset=live.shop["id"],
        label=live.shop["labelSummary"]["labels"][0]["id"],
        model=live.model_id,
    )

    answer = caller.get(filled)

    expected = example(name)
    if name == "health":
        expected["engineParts"] = [{"name": "x", "state": "x", "title": "x", "sha256": "x"}]
    found = answer.ok()
    if name == "card_intent":
        # Section 15 of what the service adds to the old API.
        for member in ("textLimit", "thresholds", "advice", "trainedFrom"):
            assert found.pop(member) is not None
    same_shape(found, expected)
    assert answer.headers["content-type"] == "application/json"
    if "?" not in filled:
        assert caller.get(filled + "/").status == 200


def test_receipts(own, own_dataset):
    """GET receipts: one per upload, with rejections by row."""
    dataset = own.upload(b"a,x\nb\n").ok()["id"]
    expected = example("receipt_list")
    expected["data"][0]["message"] = None
    expected["data"][0]["rejections"] = [{"row": 1, "reason": "x"}]

    same_shape(own.get(f"/v2/language/datasets/{dataset}/receipts").ok(), expected)


@pytest.mark.parametrize("is_json", [True, False])
@pytest.mark.parametrize("path", [UPLOAD, SYNC])
def test_upload(live, own, path, is_json):
    """POST upload and upload/sync: a Dataset, UPLOADING or finished."""
    with live.paused():
        if is_json:
            fields = {"type": "text-intent", "path": live.tricks.url("/honest.csv"), "name": "x"}
            answer = own.json("POST", path, {**fields, "language": "fr"})
        else:
            answer = own.upload(SHOP, path=path, name="/abs/shop.csv", language="fr")
    kind = "uploading" if path == UPLOAD else "succeeded"
    record = answer.ok()
    own.uploaded(record["id"])

    same_shape(record, example(f"dataset_{kind}_language"))
    assert record["name"] == ("x" if is_json else "shop")
    assert record["language"] == "fr"


@pytest.mark.parametrize("family", ["vision", "language"])
def test_create_dataset(own, family):
    """POST datasets: empty labels, available."""
    fields = {"name": "two", "labels": "a, b"} | (
        {"type": "text-intent"} if family == "language" else {}
    )

    record = own.fields("POST", f"/v2/{family}/datasets", **fields).ok()

    same_shape(record, example("dataset_created_empty_vision"))
    assert (record["available"], record["totalLabels"], record["totalExamples"]) == (True, 2, 0)


def test_put_upload(own, own_dataset):
    """PUT upload: the Dataset, UPLOADING."""
    path = f"/v2/language/datasets/{own_dataset['id']}/upload"

    record = own.form("PUT", path, ("data", SHOP, "again.csv")).ok()

    same_shape(record, example("dataset_succeeded_language"))
    assert record["statusMsg"] == "UPLOADING"
    assert own.uploaded(own_dataset["id"])["numOfDuplicates"] == 12


@pytest.mark.parametrize("by", ["labelId", "label"])
def test_add_example(own, own_dataset, by):
    """POST examples: an Example whose name and location hold the text."""
    label = own_dataset["labelSummary"]["labels"][0]
    value = label["id"] if by == "labelId" else label["name"]
    path = f"/v2/language/datasets/{own_dataset['id']}/examples"

    record = own.json("POST", path, {"document": f"by {by}", by: value}).ok()

    same_shape(record, example("example_language"))
    assert record["name"] == record["location"] == f"by {by}"


@pytest.fixture(scope="module")
def own_model(own, own_dataset) -> str:
    """A model that calls may change."""
    model = own.train(own_dataset["id"]).ok()["modelId"]
    assert own.trained(model)["status"] == "SUCCEEDED"
    return str(model)


def test_feedback(own, own_model):
    """POST feedback: an Example; a submitted `name` is ignored."""
    fields = {"modelId": own_model, "document": "wrong", "expectedLabel": "refund", "name": "x"}

    record = own.json("POST", "/v2/language/feedback", fields).ok()

    same_shape(record, example("example_language"))
    assert record["name"] == "wrong"
    assert record["label"]["name"] == "refund"


@pytest.mark.parametrize("path", [TRAIN, "/v2/language/datasets/train"])
def test_train(live, own, own_dataset, path):
    """POST train, by both paths: a Training, QUEUED."""
    with live.paused():
        record = own.json("POST", path, {"name": "m", "datasetId": own_dataset["id"]}).ok()
    own.trained(record["modelId"])

    same_shape(record, example("training_queued_intent"))
    assert record["status"] == "QUEUED"
    assert re.fullmatch("[A-Z2-7]{26}", record["modelId"])


@pytest.mark.parametrize("path", ["/v2/language/retrain", "/v2/language/datasets/retrain"])
def test_retrain(live, own, own_model, path):
    """POST retrain, by both paths: the same model id, QUEUED again."""
    with live.paused():
        record = own.fields("POST", path, modelId=own_model).ok()
    own.trained(own_model)

    same_shape(record, example("training_queued_intent"))
    assert record["modelId"] == own_model


def test_intent(live, caller):
    """POST intent: all labels by probability, or the best; the contract's own request works."""
    fields = {**example("request_intent"), "modelId": live.model_id}

    answer = caller.json("POST", INTENT, fields)
    one = caller.json("POST", INTENT, {**fields, "numResults": "1"}).ok()

    same_shape(answer.ok(), {**example("intent"), "sampleId": "t-1"})
    found = [item["probability"] for item in answer.ok()["probabilities"]]
    assert found == sorted(found, reverse=True)
    assert one["probabilities"] == answer.ok()["probabilities"][:1]
    for name, text in example("rate_limit_headers").items():
        pattern = re.sub(r"\\?\d+", r"\\d+", re.escape(text))
        assert re.fullmatch(pattern, answer.headers[name.lower()]), name


def test_sentiment(own):
    """POST sentiment: the three labels, from a sentiment model."""
    rows = b"".join(
        b"good %d,positive\nbad %d,negative\nso %d,neutral\n" % (i, i, i) for i in range(6)
    )
    dataset = own.upload(rows, dataset_type="text-sentiment").ok()
    training = own.train(dataset["id"]).ok()
    assert "algorithm" not in training
    own.trained(training["modelId"])

    fields = {"modelId": training["modelId"], "document": "good", "sampleId": "t"}
    answer = own.json("POST", SENTIMENT, fields).ok()

    same_shape(answer, example("sentiment"))
    assert {x["label"] for x in answer["probabilities"]} == {"positive", "negative", "neutral"}


@pytest.mark.parametrize("family", ["language", "vision"])
def test_deletions(own, family):
    """DELETE of datasets and models: a Deletion, which GET deletion shows in both families."""
    fields = {"name": "x"} | ({"type": "text-intent"} if family == "language" else {})
    dataset = own.json("POST", f"/v2/{family}/datasets", fields).ok()["id"]

    record = own.delete(f"/v2/{family}/datasets/{dataset}").ok()

    same_shape(record, example("deletion_queued_dataset"))
    assert (record["type"], record["deletedObjectId"]) == ("DATASET", str(dataset))
    for other in ("language", "vision"):
        shown = own.get(f"/v2/{other}/deletion/{record['id']}").ok()
        same_shape(shown, example("deletion_running_dataset"))


@pytest.mark.parametrize("path", ["/v2/oauth2/token", "/oauth2/token", "/v1/oauth2/token"])
@pytest.mark.parametrize("kind", ["urlencoded", "multipart", "json"])
def test_token(live, caller, path, kind):
    """POST token, by three paths in three content types: exactly the documented members."""
    anonymous = Caller(live.url, "")
    fields = {"grant_type": JWT_BEARER, "assertion": live.assertion(sub="owner@example.test")}

    def ask(**more: str) -> Any:
        """Request a token."""
        sent = {**fields, **more}
        if kind == "json":
            return anonymous.json("POST", path, sent).ok()
        return (
            anonymous.fields("POST", path, **sent) if kind == "multipart" else live.grant(**sent)
        ).ok()

    same_shape(ask(), example("token_access"))
    offline = ask(scope="offline")
    same_shape(offline, example("token_offline"))
    fields = {"grant_type": "refresh_token", "refresh_token": offline["refresh_token"]}
    refreshed = ask(valid_for="90")
    same_shape(refreshed, example("token_from_refresh"))
    assert refreshed["expires_in"] == 90


@pytest.mark.parametrize("name", ["tokens", "token"])
def test_revocation(live, caller, name):
    """DELETE of a refresh token, by both paths: 204 without a body."""
    assertion = live.assertion(sub="owner@example.test")
    offline = live.grant(grant_type=JWT_BEARER, assertion=assertion, scope="offline").ok()

    answer = caller.delete(f"/v2/oauth2/{name}/{offline['refresh_token']}")

    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/v2/health", "application/json"), ("/v2/openapi.json", "application/json"),
     ("/v2/docs", "text/html; charset=utf-8")],
)  # fmt: skip
def test_public_calls(live, path, kind):
    """Public endpoints answer without a token and with an invalid one."""
    for token in ("", "bad"):
        answer = Caller(live.url, token).get(path)
        assert (answer.status, answer.headers["content-type"]) == (200, kind)


def test_deprecated_list_says_so(live, caller):
    """The deprecated GET examples?labelId= names its successor in its headers."""
    label = live.shop["labelSummary"]["labels"][1]["id"]

    headers = caller.get("/v2/language/examples", labelId=label, count=2).headers

    assert headers["deprecation"]
    assert headers["sunset"]
    assert f"/v2/language/examples/{live.shop['id']}/label/{label}>" in headers["link"]
    assert 'rel="next"' in headers["link"]


def test_label_by_position(live, caller):
    """A small number that is not a label id is the label's position, from 0."""
    for position, label in enumerate(live.shop["labelSummary"]["labels"]):
        found = caller.get(f"/v2/language/examples/{live.shop['id']}/label/{position}").ok()["data"]
        assert {item["label"]["id"] for item in found} == {label["id"]}


def test_every_documented_path_is_a_route():
    """The table's language rows, the aliases and the shared calls are all registered."""
    rows = """
    POST /v2/language/datasets/upload; POST /v2/language/datasets/upload/sync
    POST /v2/language/datasets; GET /v2/language/datasets
    GET /v2/language/datasets/{dataset_id}; DELETE /v2/language/datasets/{dataset_id}
    PUT /v2/language/datasets/{dataset_id}/upload
    POST /v2/language/datasets/{dataset_id}/examples
    GET /v2/language/datasets/{dataset_id}/examples; GET /v2/language/examples
    GET /v2/language/examples/{dataset_id}/label/{label_id}; POST /v2/language/feedback
    POST /v2/language/train; POST /v2/language/datasets/train; POST /v2/language/retrain
    POST /v2/language/datasets/retrain; GET /v2/language/train/{model_id}
    GET /v2/language/models/{model_id}; GET /v2/language/models/{model_id}/lc
    GET /v2/language/datasets/{dataset_id}/models; DELETE /v2/language/models/{model_id}
    GET /v2/language/deletion/{deletion_id}; GET /v2/apiusage; POST /v2/language/intent
    POST /v2/language/sentiment; GET /v2/language/datasets/{dataset_id}/receipts
    GET /v2/language/models/{model_id}/card; GET /v2/health; GET /v2/openapi.json; GET /v2/docs
    POST /v2/oauth2/token; POST /oauth2/token; POST /v1/oauth2/token
    DELETE /v2/oauth2/tokens/{token}; DELETE /v2/oauth2/token/{token}
    GET /v2/vision/datasets; POST /v2/vision/datasets; GET /v2/vision/datasets/{dataset_id}
    DELETE /v2/vision/datasets/{dataset_id}; GET /v2/vision/datasets/{dataset_id}/examples
    GET /v2/vision/train/{model_id}; GET /v2/vision/models/{model_id}
    GET /v2/vision/models/{model_id}/lc; DELETE /v2/vision/models/{model_id}
    GET /v2/vision/deletion/{deletion_id}
    """
    for row in (part.strip() for line in rows.split("\n") for part in line.split(";")):
        if row:
            method, path = row.split()
            assert method in module.app.routes[path], row
