"""Feedback: a misclassified text with its right label."""

from __future__ import annotations

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
