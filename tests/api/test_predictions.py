"""Intent and sentiment: answers, rate-limit headers, and exact counts."""

from __future__ import annotations

import json

import pytest

from tests.api.prepared import MODEL_ID, PREDICTIONS, USED, raising

URL = "/v2/language/intent"


@pytest.mark.parametrize("kind", ["intent", "sentiment"])
def test_prediction_carries_the_headers(call, world, kind):
    """Labels are in order, and the rate-limit headers include this call."""
    label = {"intent": "delivery", "sentiment": "positive"}[kind]
    model_id = MODEL_ID if kind == "intent" else world.mood()
    answer = call.json("POST", f"/v2/language/{kind}", modelId=model_id, document=f"{label} please")

    found = answer.json["probabilities"]
    assert [set(item) for item in found] == [{"label", "probability"}] * len(found)
    assert found[0]["label"] == label
    assert found[0]["probability"] > found[1]["probability"]
    assert answer.json["object"] == "predictresponse"
    assert (
        answer.headers["X-RateLimit-Limit"],
        answer.headers["X-RateLimit-Remaining"],
        answer.headers["X-RateLimit-Reset"],
    ) == ("2000", "1989", "2026-12-01 00:00:00.0")
    assert world.used(PREDICTIONS) == 11


def test_multipart_is_read_like_json(call, world, monkeypatch):
    """Numbers may be decimal strings, and a part with a file name may be a field."""
    read, vectors = [], world.container.encoders.vectors
    monkeypatch.setattr(
        world.container.encoders,
        "vectors",
        lambda names, text: read.append(text) or vectors(names, text),
    )
    answer = call.form(
        "POST",
        URL,
        ("modelId", f" {MODEL_ID} ".encode(), "C:\\x\\model.txt"),
        ("document", "  é \n".encode(), None),
        ("numResults", b" 1 ", None),
        ("sampleId", b" tag ", None),
    )

    assert len(answer.json["probabilities"]) == 1
    assert answer.json["sampleId"] == " tag "
    assert read == ["  é \n"]


@pytest.mark.parametrize(("sent", "echoed"), [("", ""), (" ", " "), (None, None)])
def test_sample_id_is_echoed_as_sent(call, sent, echoed):
    """An empty `sampleId` in JSON is echoed; null means absent."""
    answer = call.json("POST", URL, modelId=MODEL_ID, document="é", sampleId=sent)

    assert answer.json.get("sampleId") == echoed


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "compress"])
def test_compressed_request_is_a_415(call, world, coding):
    """A compressed request is a 415 that names the encoding, after the 401, and costs nothing."""
    body = json.dumps({"modelId": MODEL_ID, "document": "a"}).encode()
    answer = call("POST", URL, body, "application/json", content_encoding=coding)
    refused = call("POST", URL, body, "application/json", content_encoding=coding, authorization="")

    assert (answer.status, answer.json["code"]) == (415, "unsupported_type")
    assert coding in answer.json["message"]
    assert (answer.headers["Accept-Encoding"], refused.status) == ("identity", 401)
    assert world.used(PREDICTIONS) == USED


def test_encoding_of_an_unused_body_is_ignored(call):
    """GET and DELETE ignore the encoding of a body."""
    url = "/v2/language/datasets/1"
    for method in ("GET", "DELETE"):
        answer = call(method, url, b"\x1f\x8b", "application/json", content_encoding="gzip")
        assert answer.status == 404
    assert call("GET", "/v2/apiusage", content_encoding="br").status == 200


def test_empty_part_is_no_sample_id(call):
    """An empty `sampleId` part in a form counts as absent."""
    parts = (
        ("modelId", MODEL_ID.encode(), None),
        ("document", b"a", None),
        ("sampleId", b"", None),
    )

    assert "sampleId" not in call.form("POST", URL, *parts).json


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "The 'document' parameter is required."),
        ({"document": None}, "The 'document' parameter is required."),
        ({"document": " \t\n"}, "must hold more than spaces"),
        ({"document": "x" * 20_001}, "it has 20001 characters, the limit is 20000; shorten it."),
        ({"document": 5}, "'document' parameter is not valid: expected a text, got 5."),
        ({"document": "a", "numResults": 0}, "it must be at least 1, got 0."),
        ({"document": "a", "numResults": "x"}, "expected a whole number, got 'x'."),
        ({"document": "a", "numResults": True}, "expected a whole number, got true."),
        ({"document": "a", "numResults": 1.5}, "expected a whole number, got 1.5."),
        ({"document": "a", "numResults": [1]}, "expected a whole number, got a list."),
        ({"document": "a", "sampleId": {}}, "expected a text, got an object."),
    ],
)
def test_wrong_fields_are_named(call, world, fields, text):
    """A 400 names field, limit and value, and costs no prediction."""
    answer = call.json("POST", URL, modelId=MODEL_ID, **fields)

    assert answer.status == 400
    assert text in answer.json["message"]
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
    assert world.used(PREDICTIONS) == 10


@pytest.mark.parametrize("model_id", ["x", "A" * 26, "a/b", "", "é", "A" * 500])
def test_unknown_models_are_404_with_headers(call, model_id):
    """Malformed and unknown ids give the same 404, with the rate-limit headers."""
    answer = call.json("POST", URL, modelId=model_id, document="a")

    assert (400 if model_id == "" else 404) == answer.status
    assert answer.headers["X-RateLimit-Remaining"] == "1990"


def test_failed_prediction_is_released(call, world, storage_down, monkeypatch):
    """If prediction fails, its reservation is released, and the headers show it."""
    monkeypatch.setattr(world.container.encoders, "vectors", raising(storage_down()))

    answer = call.json("POST", URL, modelId=MODEL_ID, document="a")

    assert (answer.headers["X-RateLimit-Remaining"], world.used(PREDICTIONS)) == ("1990", 10)


def test_used_up_allowance_is_429_with_all_headers(call, world):
    """When the quota is used up, the 429 has three headers and Retry-After, and counts nothing."""
    world.use(PREDICTIONS, 2000)

    answer = call.json("POST", URL, modelId=MODEL_ID, document="a")

    assert (answer.status, answer.json["code"]) == (429, "prediction_quota_exceeded")
    assert (answer.headers["X-RateLimit-Remaining"], answer.headers["Retry-After"]) == ("0", "60")
    assert world.used(PREDICTIONS) == 2000


def test_prediction_without_an_answer_is_released(call, world, monkeypatch):
    """An internal error while encoding the answer costs no prediction; the headers show it."""

    def fail(*given):
        raise ValueError

    monkeypatch.setattr("chalicelib.routes.predictions.texts.describe.prediction", fail)
    answer = call.json("POST", "/v2/language/intent", modelId=MODEL_ID, document="a")

    assert (answer.status, world.used(PREDICTIONS)) == (500, 10)
    assert answer.headers["X-RateLimit-Remaining"] == "1990"


def test_explained_prediction(call, world):
    """With `explain` the answer shows each word's influence on the top label; it counts once."""
    asked = {"modelId": MODEL_ID, "document": "a delivery please"}
    plain = call.json("POST", URL, **asked)
    answer = call.json("POST", URL, **asked, explain=True)

    assert "explanation" not in plain.json
    assert answer.json["probabilities"] == plain.json["probabilities"]
    parts = answer.json["explanation"]
    assert [(part["text"], part["start"], part["end"]) for part in parts] == [
        ("a", 0, 1),
        ("delivery", 2, 10),
        ("please", 11, 17),
    ]
    assert max(parts, key=lambda part: part["share"])["text"] == "delivery"
    assert sum(abs(part["share"]) for part in parts) == pytest.approx(1, abs=1e-5)
    assert world.used(PREDICTIONS) == 12
