"""Predict and detect: the three ways to send a picture, headers, and the allowance to the unit."""

from __future__ import annotations

import base64

import pytest

from chalicelib.domain.documents.sample import Sample

MODEL_ID = "7JYVH57NDS3MB7HS76ZPVQQXJA"
BYTES = bytes(range(256))
LABELS = {
    "probabilities": [
        {"label": "delivery", "probability": 0.75},
        {"label": "refund", "probability": 0.25},
    ],
    "object": "predictresponse",
}
BOXES = {
    "probabilities": [
        {
            "label": "bear",
            "probability": 0.875,
            "boundingBox": {"minX": 1, "minY": 2, "maxX": 30, "maxY": 40},
        }
    ],
    "object": "predictresponse",
}


@pytest.mark.parametrize(("kind", "expected"), [("predict", LABELS), ("detect", BOXES)])
def test_file_in_a_form(call, services, kind, expected):
    """A file part is the picture; the answer carries the rate-limit headers after this call."""
    answer = call.form(
        "POST",
        f"/v2/vision/{kind}",
        ("modelId", f" {MODEL_ID} ".encode(), None),
        ("sampleContent", BYTES, "/a/b.jpg"),
        ("sampleId", b" tag ", None),
    )

    assert answer.json == {**expected, "sampleId": " tag "}
    assert answer.headers["X-RateLimit-Remaining"] == "1989"
    (name, (sample, *_)) = services.calls[-1]
    assert (name, sample) == (kind, Sample(content=BYTES))


def test_address_and_text_in_json(call, services):
    """JSON carries an address or the file's bytes as base64, and numbers as either kind."""
    url, text = "https://example.test/cat.png", base64.b64encode(BYTES).decode()

    call.json("POST", "/v2/vision/predict", modelId=MODEL_ID, sampleLocation=url, numResults="3")
    assert services.calls[-1] == ("predict", (Sample(location=url, account_id="2"), 3))
    answer = call.json("POST", "/v2/vision/predict", modelId=MODEL_ID, sampleBase64Content=text)
    assert answer.json == LABELS
    assert services.calls[-1] == ("predict", (Sample(content=BYTES), None))


def test_long_base64_text_in_a_form(call, services):
    """A picture of 5 MB as base64 with line breaks fits into a form's field."""
    content = BYTES * 20_000
    text = base64.encodebytes(content)

    answer = call.form(
        "POST",
        "/v2/vision/detect",
        ("modelId", MODEL_ID.encode(), None),
        ("sampleBase64Content", text, None),
    )

    assert answer.status == 200
    assert services.calls[-1] == ("detect", (Sample(content=content),))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "One of sampleContent, sampleLocation, sampleBase64Content is required."),
        ({"sampleLocation": "https://a.test/x", "sampleBase64Content": "AA=="}, "exactly one of"),
        ({"sampleBase64Content": "no base64!"}, "it is no base64 text"),
        ({"sampleBase64Content": "AA==", "numResults": 0}, "it must be at least 1, got 0."),
        ({"sampleLocation": 5}, "expected a text, got 5."),
    ],
)
def test_wrong_fields_are_named(call, services, fields, text):
    """A 400 names field, value and remedy, and costs no prediction."""
    answer = call.json("POST", "/v2/vision/predict", modelId=MODEL_ID, **fields)

    assert answer.status == 400
    assert text in answer.json["message"]
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
    assert services.predictions_used == 10


def test_order_of_the_checks(call, services):
    """401 comes before 404, 404 before 400, 400 before 409, 409 before 429."""
    services.model_status, services.predictions_used = "RUNNING", 2000
    url, sample = "/v2/vision/predict", base64.b64encode(BYTES).decode()

    def status(**fields: object) -> int:
        return call.json("POST", url, **fields).status

    assert call("POST", url, b"{}", "application/json", authorization="").status == 401
    assert status(modelId="A" * 26) == 404
    assert status(modelId=MODEL_ID) == 400
    assert status(modelId=MODEL_ID, sampleBase64Content=sample) == 409
    services.model_status = "SUCCEEDED"
    assert status(modelId=MODEL_ID, sampleBase64Content=sample) == 429


def test_failed_work_is_given_back(call, services):
    """A picture that cannot be answered costs no prediction."""
    services.failure = RuntimeError("broken")

    answer = call.json("POST", "/v2/vision/detect", modelId=MODEL_ID, sampleBase64Content="AAAA")

    assert answer.status == 500
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
