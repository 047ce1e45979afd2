"""Intent and sentiment: answers, rate-limit headers, and the allowance to the unit."""

from __future__ import annotations

import pytest

URL = "/v2/language/intent"
MODEL_ID = "7JYVH57NDS3MB7HS76ZPVQQXJA"


@pytest.mark.parametrize("kind", ["intent", "sentiment"])
def test_prediction_carries_the_headers(call, services, kind):
    """The answer is ordered and the headers agree with the count after this call."""
    answer = call.json("POST", f"/v2/language/{kind}", modelId=MODEL_ID, document="where is it")

    assert answer.json == {
        "probabilities": [
            {"label": "delivery", "probability": 0.75},
            {"label": "refund", "probability": 0.25},
        ],
        "object": "predictresponse",
    }
    assert (
        answer.headers["X-RateLimit-Limit"],
        answer.headers["X-RateLimit-Remaining"],
        answer.headers["X-RateLimit-Reset"],
    ) == ("2000", "1989", "2026-12-01 00:00:00.0")
    assert services.calls[-1] == ("predict", (f"text-{kind}", "where is it", None))


def test_multipart_is_read_like_json(call, services):
    """Numbers are decimal strings, a part with a file name is a field all the same."""
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
    assert services.calls[-1] == ("predict", ("text-intent", "  é \n", 1))


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
def test_wrong_fields_are_named(call, services, fields, text):
    """A 400 names field, limit and value, and costs no prediction."""
    answer = call.json("POST", URL, modelId=MODEL_ID, **fields)

    assert answer.status == 400
    assert text in answer.json["message"]
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
    assert services.predictions_used == 10


@pytest.mark.parametrize("model_id", ["x", "A" * 26, "a/b", "", "é", "A" * 500])
def test_unknown_models_are_404_with_headers(call, model_id):
    """Malformed and unknown ids answer alike, with the rate-limit headers."""
    answer = call.json("POST", URL, modelId=model_id, document="a")

    assert (400 if model_id == "" else 404) == answer.status
    assert answer.headers["X-RateLimit-Remaining"] == "1990"


def test_failed_prediction_is_given_back(call, services, storage_down):
    """What was reserved comes back when the work fails, and the headers show it."""
    services.failure = storage_down()

    answer = call.json("POST", URL, modelId=MODEL_ID, document="a")

    assert (answer.headers["X-RateLimit-Remaining"], services.predictions_used) == ("1990", 10)


def test_used_up_allowance_is_429_with_all_headers(call, services):
    """The 429 carries the three headers, Retry-After, and counts nothing."""
    services.predictions_used = 2000

    answer = call.json("POST", URL, modelId=MODEL_ID, document="a")

    assert (answer.status, answer.json["code"]) == (429, "prediction_quota_exceeded")
    assert (answer.headers["X-RateLimit-Remaining"], answer.headers["Retry-After"]) == ("0", "60")
    assert services.predictions_used == 2000


def test_prediction_whose_answer_fails_is_given_back(call, services, monkeypatch):
    """A bug while the answer is written costs no prediction, and the headers say so."""

    def fail(*given):
        raise ValueError

    monkeypatch.setattr("chalicelib.routes.predictions.describe.prediction", fail)
    answer = call.json("POST", "/v2/language/intent", modelId=MODEL_ID, document="a")

    assert (answer.status, services.predictions_used) == (500, 10)
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
