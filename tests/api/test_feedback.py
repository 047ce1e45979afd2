"""Feedback: a misclassified text with its right label."""

from __future__ import annotations

from chalicelib.domain.datasets.example import PictureFile

MODEL_ID = "7JYVH57NDS3MB7HS76ZPVQQXJA"


def test_feedback_is_added(call, services):
    """Text and label reach the service, a sent `name` is ignored."""
    answer = call.json(
        "POST",
        "/v2/language/feedback",
        modelId=MODEL_ID,
        document=" where ",
        expectedLabel="refund",
        name="x",
    )

    assert (answer.status, answer.json["object"]) == (200, "example")
    assert services.calls[-1][1][2:] == (" where ", "refund")


def test_missing_label_is_named(call):
    """`expectedLabel` is required."""
    answer = call.json("POST", "/v2/language/feedback", modelId=MODEL_ID, document="a")

    assert answer.json["message"] == "The 'expectedLabel' parameter is required."


def test_feedback_picture_is_added(call, services):
    """File, names and label reach the service, the file's name without its folders."""
    answer = call.form(
        "POST",
        "/v2/vision/feedback",
        ("modelId", MODEL_ID.encode(), None),
        ("expectedLabel", b" refund ", None),
        ("name", b"mine.png", None),
        ("data", b"picture", "C:\\pictures\\a.png"),
    )

    assert (answer.status, answer.json["object"]) == (200, "example")
    sent = PictureFile(b"picture", "a.png", "mine.png")
    assert services.calls[-1][1][2:] == (sent, "refund")


def test_feedback_picture_needs_its_file(call, services):
    """Without a file the refusal says how to send one, in a form and in JSON."""
    fields = {"modelId": MODEL_ID, "expectedLabel": "refund", "data": "aGk="}
    by_json = call.json("POST", "/v2/vision/feedback", **fields)
    parts = [(name, value.encode(), None) for name, value in fields.items() if name != "data"]
    by_form = call.form("POST", "/v2/vision/feedback", *parts)

    for answer in (by_json, by_form):
        assert answer.status == 400
        assert answer.json["message"].startswith("The 'data' parameter is required: send")
    assert services.calls == []
