"""Shipped classifiers: answers, cards, and exact counts."""

from __future__ import annotations

import base64
import threading

import pytest

from tests.flows.client import VISION, Client
from tests.flows.crowd import run_crowd
from tests.flows.pictures import shape
from tests.pictures import draw

LABELS = {
    "GeneralImageClassifier": 1000,
    "FoodImageClassifier": 46,
    "SceneClassifier": 61,
    "MultiLabelImageClassifier": 80,
}
"""Prebuilt models with their numbers of labels."""
PICTURE = draw("circle", "red", (128, 96))
LIMIT, REMAINING = "x-ratelimit-limit", "x-ratelimit-remaining"


@pytest.fixture
def client(world) -> Client:
    """A new caller of the calls below /vision."""
    return world.photographer()


def usage(client):
    """Return the predictions of the month: used and remaining."""
    record = client.get("/v2/apiusage").ok["data"][0]
    return record["predictionsUsed"], record["predictionsRemaining"]


@pytest.mark.parametrize(("model_id", "labels"), LABELS.items())
def test_prebuilt_classifier(client, model_id, labels):
    """The answer has five labels, numResults, or all of a multi-label model, in order.

    The card says what it was trained on and where its limits lie.
    """
    few = client.picture(model_id, PICTURE).ok["probabilities"]
    most = client.picture(model_id, PICTURE, numResults=5000).ok["probabilities"]
    card = client.get(f"{VISION}/models/{model_id}/card").ok

    is_multi = model_id == "MultiLabelImageClassifier"
    assert len(few) == (80 if is_multi else 5)
    assert len(most) == labels
    assert len({item["label"] for item in most}) == labels
    assert most[: len(few)] == few
    values = [item["probability"] for item in most]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)
    assert is_multi or sum(values) == pytest.approx(1, abs=2e-3)
    assert card["modelId"] == model_id
    assert card["object"] == "card"
    assert len(card["artifactSha256"]) == 64
    assert all(len(b["sha256"]) == 64 for b in card["engine"]["backbones"])
    assert card["trainedOn"]["labels"] == labels
    assert card["limits"]


def test_prebuilt_models_belong_to_no_account(client):
    """An account cannot read, delete or train a prebuilt model, or give it feedback."""
    model_id = "GeneralImageClassifier"

    assert client.get(f"{VISION}/train/{model_id}").status == 404
    assert client.delete(f"{VISION}/models/{model_id}").status == 404
    assert client.json("POST", f"{VISION}/retrain", {"modelId": model_id}).status == 404
    fields = {"modelId": model_id, "expectedLabel": "cat"}
    file = {"data": ("a.png", PICTURE)}
    assert client.multipart("POST", f"{VISION}/feedback", fields, file).status == 404
    assert client.multipart("PUT", f"{VISION}/bulkfeedback", fields, file).status == 404
    assert client.picture(model_id, PICTURE).status == 200


def test_model_that_is_not_installed(client):
    """A known model without its file is refused with how to install it."""
    answer = client.json(
        "POST",
        f"{VISION}/predict",
        {"modelId": "tabulatev2", "sampleBase64Content": base64.b64encode(PICTURE).decode()},
    )

    assert answer.status in (400, 404)
    assert "tabulatev2" in answer.data["message"]


def test_every_way_to_send_a_picture(client, files):
    """File, URL and Base64, as form and as JSON, give the same answer."""
    model_id, path = "GeneralImageClassifier", f"{VISION}/predict"
    url, packed = files.add("circle.png", PICTURE), base64.b64encode(PICTURE).decode()
    fields = {"modelId": model_id, "sampleId": " my sample ", "numResults": "3"}

    answers = [
        client.multipart("POST", path, fields, {"sampleContent": ("a.gif", PICTURE)}),
        client.multipart("POST", path, {**fields, "sampleLocation": url}),
        client.multipart("POST", path, {**fields, "sampleBase64Content": packed}),
        client.json("POST", path, {**fields, "sampleLocation": url, "numResults": 3}),
        client.json("POST", path, {**fields, "sampleBase64Content": packed}),
        client.json(
            "POST", path, {**fields, "sampleBase64Content": f"data:image/png;base64,{packed}"}
        ),
    ]

    assert [answer.ok for answer in answers] == [answers[0].ok] * len(answers)
    assert answers[0].data["sampleId"] == " my sample "
    assert len(answers[0].data["probabilities"]) == 3
    plain = client.picture(model_id, PICTURE).ok
    assert list(plain) == ["probabilities", "object"]
    assert plain["object"] == "predictresponse"


def test_predictions_are_counted_exactly(client, tables_model):
    """Each answer counts one, refusals none; the headers equal the usage."""
    begin = usage(client)
    total = sum(begin)
    for number in range(1, 6):
        answer = client.picture("GeneralImageClassifier", shape("circle", "red", number))
        assert answer.status == 200
        assert answer.headers[LIMIT] == str(total)
        assert answer.headers[REMAINING] == str(total - number)
        assert answer.headers["x-ratelimit-reset"].endswith("-01 00:00:00.0")
    refused = [
        client.picture("GeneralImageClassifier", b"GIF89a"),
        client.picture("GeneralImageClassifier", PICTURE[:-9]),
        client.picture("GeneralImageClassifier", PICTURE, call="detect"),
        client.picture(tables_model, PICTURE, call="detect"),
        client.json("POST", f"{VISION}/predict", {"modelId": "GeneralImageClassifier"}),
    ]

    assert [answer.status for answer in refused] == [415, 400, 400, 404, 400]
    assert {answer.headers[REMAINING] for answer in refused} == {str(total - 5)}
    assert usage(client) == (5, total - 5)


def test_detections_count_like_predictions(gallery, tables_model):
    """Predict and detect share one quota."""
    used, remaining = usage(gallery)

    found = gallery.picture(tables_model, PICTURE, call="detect")
    label = gallery.picture("SceneClassifier", PICTURE)

    assert (found.status, label.status) == (200, 200)
    assert found.headers[REMAINING] == str(remaining - 1)
    assert label.headers[REMAINING] == str(remaining - 2)
    assert usage(gallery) == (used + 2, remaining - 2)


def test_allowance_ends_to_the_unit(world):
    """Of 24 callers that share ten remaining predictions, exactly ten are answered."""
    caller = world.photographer("STARTER")
    limit = sum(usage(caller))
    world.set_used(caller, limit - 10)
    statuses, lock = [], threading.Lock()

    def ask(clients, number):
        """Make one prediction."""
        mine = clients.setdefault(0, caller.clone())
        answer = mine.picture("FoodImageClassifier", shape("circle", "red", number))
        with lock:
            statuses.append(answer.status)
        if answer.status == 429:
            assert answer.headers[REMAINING] == "0"
            assert int(answer.headers["retry-after"]) > 0
            assert str(limit) in answer.data["message"].replace(",", "")

    assert run_crowd(8, 24, ask) == []
    assert (statuses.count(200), statuses.count(429)) == (10, 14)
    assert usage(caller) == (limit, 0)
    assert caller.picture("FoodImageClassifier", b"GIF89a").status == 415, "400s before the 429"
