"""Predict and detect: three ways to send an image, rate-limit headers, and exact counts."""

from __future__ import annotations

import base64

import pytest
from PIL import Image

from tests.api.prepared import BOX_MODEL_ID, IMAGE_MODEL_ID, PICTURE, PREDICTIONS, raising
from tests.pictures import encoded

MODELS = {"predict": IMAGE_MODEL_ID, "detect": BOX_MODEL_ID}
TEXT = base64.b64encode(PICTURE).decode()
LABELS = {
    "probabilities": [
        {"label": "red", "probability": 0.75},
        {"label": "blue", "probability": 0.25},
    ],
    "object": "predictresponse",
}
BOXES = {
    "probabilities": [
        {
            "label": "red",
            "probability": 0.75,
            "boundingBox": {"minX": 0, "minY": 0, "maxX": 36, "maxY": 32},
        }
    ],
    "object": "predictresponse",
}


@pytest.mark.parametrize(("kind", "expected"), [("predict", LABELS), ("detect", BOXES)])
def test_file_in_a_form(call, kind, expected):
    """A file part is the image; the rate-limit headers include this call."""
    answer = call.form(
        "POST",
        f"/v2/vision/{kind}",
        ("modelId", f" {MODELS[kind]} ".encode(), None),
        ("sampleContent", PICTURE, "/a/b.jpg"),
        ("sampleId", b" tag ", None),
    )

    assert answer.json == {**expected, "sampleId": " tag "}
    assert answer.headers["X-RateLimit-Remaining"] == "1989"


def test_address_and_text_in_json(call, world):
    """JSON takes a URL or the file as Base64; numbers may be numbers or strings."""
    url, at = "/v2/vision/predict", world.tricks.url("/picture.png")

    for count in ("1", 1):
        answer = call.json("POST", url, modelId=IMAGE_MODEL_ID, sampleLocation=at, numResults=count)
        assert answer.json["probabilities"] == [{"label": "red", "probability": 1}]
    assert world.tricks.paths[-2:] == ["/picture.png"] * 2
    answer = call.json("POST", url, modelId=IMAGE_MODEL_ID, sampleBase64Content=TEXT)
    assert answer.json == LABELS


def test_long_base64_text_in_a_form(call):
    """An image of 5 MB as Base64 with line breaks fits into a form field."""
    content = encoded(Image.new("RGB", (1320, 1300), "red"), compress_level=0)
    assert len(content) > 256 * 20_000

    answer = call.form(
        "POST",
        "/v2/vision/detect",
        ("modelId", BOX_MODEL_ID.encode(), None),
        ("sampleBase64Content", base64.encodebytes(content), None),
    )

    assert answer.status == 200
    [found] = answer.json["probabilities"]
    assert found["boundingBox"] == {"minX": 0, "minY": 0, "maxX": 1320, "maxY": 1300}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "One of sampleContent, sampleLocation, sampleBase64Content is required."),
        ({"sampleLocation": "https://a.test/x", "sampleBase64Content": "AA=="}, "exactly one of"),
        ({"sampleBase64Content": "no base64!"}, "it is not base64 text"),
        ({"sampleBase64Content": "AA==", "numResults": 0}, "it must be at least 1, got 0."),
        ({"sampleLocation": 5}, "expected a text, got 5."),
    ],
)
def test_wrong_fields_are_named(call, world, fields, text):
    """A 400 names field, value and remedy, and costs no prediction."""
    answer = call.json("POST", "/v2/vision/predict", modelId=IMAGE_MODEL_ID, **fields)

    assert answer.status == 400
    assert text in answer.json["message"]
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
    assert world.used(PREDICTIONS) == 10


def test_order_of_the_checks(call, world):
    """401 comes before 404, 404 before 400, 400 before 409, 409 before 429."""
    world.set_model("RUNNING", IMAGE_MODEL_ID)
    world.use(PREDICTIONS, 2000)
    url = "/v2/vision/predict"

    def status(**fields: object) -> int:
        return call.json("POST", url, **fields).status

    assert call("POST", url, b"{}", "application/json", authorization="").status == 401
    assert status(modelId="A" * 26) == 404
    assert status(modelId=IMAGE_MODEL_ID) == 400
    assert status(modelId=IMAGE_MODEL_ID, sampleBase64Content=TEXT) == 409
    world.set_model("SUCCEEDED", IMAGE_MODEL_ID)
    assert status(modelId=IMAGE_MODEL_ID, sampleBase64Content=TEXT) == 429


def test_failed_work_is_released(call, world, monkeypatch):
    """An image that cannot be predicted costs no prediction."""
    monkeypatch.setattr("tests.tiny_vision.TinyModel.predict", raising(RuntimeError("broken")))

    answer = call.json("POST", "/v2/vision/detect", modelId=BOX_MODEL_ID, sampleBase64Content=TEXT)

    assert answer.status == 500
    assert answer.headers["X-RateLimit-Remaining"] == "1990"
    assert world.used(PREDICTIONS) == 10


def test_explained_picture(call, world):
    """With `explain`, a grid over the image shows the influence of each cell; it counts once."""
    before = world.used(PREDICTIONS)
    parts = ("modelId", IMAGE_MODEL_ID.encode(), None), ("sampleContent", PICTURE, "b.jpg")
    answer = call.form("POST", "/v2/vision/predict", *parts, ("explain", b"true", None))

    assert answer.json["probabilities"] == LABELS["probabilities"]
    assert 1 < len(answer.json["explanation"]) <= 64
    assert {frozenset(cell) for cell in answer.json["explanation"]} == {
        frozenset({"share", "boundingBox"})
    }
    assert world.used(PREDICTIONS) == before + 1
