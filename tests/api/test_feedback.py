"""Feedback: a misclassified text or image with its correct label."""

from __future__ import annotations

from tests.api.prepared import (
    ALBUM_ID,
    DATASET_ID,
    IMAGE_MODEL_ID,
    MODEL_ID,
    PICTURE,
    REFUND,
)


def feedback(call, family, dataset_id):
    """List the feedback of a dataset: name and label."""
    items = call("GET", f"/v2/{family}/datasets/{dataset_id}/examples?source=feedback").json["data"]
    return [(item["name"], item["label"]["name"]) for item in items]


def test_feedback_is_added(call):
    """Text and label reach the service; a submitted `name` is ignored."""
    answer = call.json(
        "POST",
        "/v2/language/feedback",
        modelId=MODEL_ID,
        document=" where ",
        expectedLabel="refund",
        name="x",
    )

    assert (answer.status, answer.json["object"]) == (200, "example")
    assert (answer.json["name"], answer.json["label"]["id"]) == (" where ", REFUND)
    assert feedback(call, "language", DATASET_ID) == [(" where ", "refund")]


def test_missing_label_is_named(call):
    """`expectedLabel` is required."""
    answer = call.json("POST", "/v2/language/feedback", modelId=MODEL_ID, document="a")

    assert answer.json["message"] == "The 'expectedLabel' parameter is required."


def test_feedback_picture_is_added(call, world):
    """File, names and label reach the service; folders are cut off the file name."""
    fields = (("modelId", IMAGE_MODEL_ID.encode(), None), ("expectedLabel", b" red ", None))
    name, file = ("name", b"mine.png", None), ("data", PICTURE, "C:\\pictures\\a.png")
    answer = call.form("POST", "/v2/vision/feedback", *fields, name, file)

    assert (answer.status, answer.json["object"]) == (200, "example")
    assert feedback(call, "vision", ALBUM_ID) == [("mine.png", "red")]
    assert PICTURE in world.contents(f"datasets/{ALBUM_ID}/images/")
    world.restore()
    call.form("POST", "/v2/vision/feedback", *fields, file)
    assert feedback(call, "vision", ALBUM_ID) == [("a.png", "red")]


def test_feedback_picture_needs_its_file(call, world):
    """Image feedback without a file is refused; the error explains how to send one."""
    fields = {"modelId": IMAGE_MODEL_ID, "expectedLabel": "red", "data": "aGk="}
    by_json = call.json("POST", "/v2/vision/feedback", **fields)
    parts = [(name, value.encode(), None) for name, value in fields.items() if name != "data"]
    by_form = call.form("POST", "/v2/vision/feedback", *parts)

    for answer in (by_json, by_form):
        assert answer.status == 400
        assert answer.json["message"].startswith("The 'data' parameter is required: send")
    assert feedback(call, "vision", ALBUM_ID) == []
