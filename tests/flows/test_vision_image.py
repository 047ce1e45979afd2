"""Image models: training, learning curve, ways to predict, feedback and retraining."""

from __future__ import annotations

import base64
import time

import pytest

from infra import provision
from tests.conversions import with_raw_exif
from tests.flows.client import OPEN, VISION, Client
from tests.flows.pictures import (
    LABELS,
    folders_zip,
    fruit_scenes,
    lossless,
    scenes_zip,
    shape,
    turned,
)
from tests.pictures import draw

MANY_EPOCHS = 300
"""Enough to be seen before they are all done, also where a read takes half a second."""


@pytest.fixture
def client(world) -> Client:
    """A new caller of the calls below /vision."""
    return world.photographer()


def curve(client, model_id):
    """Return the learning curve from its first epoch."""
    return client.items(f"{VISION}/models/{model_id}/lc")


def probability(client, model_id, content, label):
    """Return the probability of a label of an image."""
    items = client.picture(model_id, content).ok["probabilities"]
    return {item["label"]: item["probability"] for item in items}[label]


def best(client, model_id, content):
    """Return the most probable label of an image."""
    return client.picture(model_id, content).ok["probabilities"][0]["label"]


def watched(client, dataset_id):
    """Train a model; return first and last state, curve lengths and progress values."""
    fields = {"epochs": MANY_EPOCHS, "trainParams": {"trainSplitRatio": 0.7}}
    queued = client.train(dataset_id, "watched", **fields)
    path, lengths, progress = f"{VISION}/train/{queued['modelId']}", [], []
    deadline = time.monotonic() + 240  # a guard against hanging, for machines of any speed
    while (state := client.get(path).ok)["status"] in OPEN:
        if sum(0 < length < MANY_EPOCHS for length in lengths) < 2:  # a whole curve costs much
            lengths.append(len(curve(client, queued["modelId"])))
        progress.append(state["progress"])
        assert time.monotonic() < deadline, state
        time.sleep(0.1)
    return queued, state, lengths, progress


@pytest.mark.timeout(300)
def test_training_is_watched(client):
    """The learning curve grows during the training; afterwards all figures agree."""
    dataset = client.dataset(folders_zip(), file_name="shapes.zip")
    for _ in range(5):  # a training can end unseen while this process gets no processor
        queued, state, lengths, progress = watched(client, dataset["id"])
        if any(0 < length < MANY_EPOCHS for length in lengths):
            break
    epochs = curve(client, queued["modelId"])

    assert (queued["status"], queued["epochs"], queued["learningRate"]) == (
        "QUEUED",
        MANY_EPOCHS,
        0.001,
    )
    assert "algorithm" not in queued
    assert any(0 < length < MANY_EPOCHS for length in lengths), lengths
    assert lengths == sorted(lengths)
    assert progress == sorted(progress)
    assert (state["status"], state["progress"]) == ("SUCCEEDED", 1)
    stats = state["trainStats"]
    assert (stats["labels"], stats["examples"], stats["lastEpochDone"]) == (2, 20, MANY_EPOCHS)
    assert stats["trainSplitSize"] + stats["testSplitSize"] == 20
    assert stats["testSplitSize"] == 6
    assert [record["epoch"] for record in epochs] == list(range(1, MANY_EPOCHS + 1))
    check_records(epochs, stats["testSplitSize"])


def check_records(epochs, tested):
    """Check that each epoch lists the same held-out images."""
    names = [item["exampleName"] for item in epochs[0]["epochResults"]]
    assert len(set(names)) == tested
    for record in epochs:
        data = record["metricsData"]
        assert data["labels"] == list(LABELS)
        assert sum(map(sum, data["confusionMatrix"])) == tested
        assert [item["exampleName"] for item in record["epochResults"]] == names
        right = sum(i["expectedLabel"] == i["predictedLabel"] for i in record["epochResults"])
        assert data["testAccuracy"] == pytest.approx(right / tested, abs=1e-5)
    losses = [record["metricsData"]["trainingLoss"] for record in epochs]
    assert losses[-1] < losses[0]
    for item in epochs[0]["epochResults"]:
        assert item["exampleName"].endswith(f".png-{item['expectedLabel']}")


def test_metrics_and_card(gallery, shapes_id, shapes_model):
    """Metrics name the labels in order; the card describes data, engine and calibration."""
    metrics = gallery.get(f"{VISION}/models/{shapes_model}").ok
    card = gallery.get(f"{VISION}/models/{shapes_model}/card").ok
    (listed,) = gallery.items(f"{VISION}/datasets/{shapes_id}/models")

    data = metrics["metricsData"]
    assert data["labels"] == list(LABELS)
    assert len(data["f1"]) == len(data["confusionMatrix"]) == 2
    assert metrics["language"] == "N/A"
    assert "algorithm" not in metrics
    assert (listed["modelId"], listed["modelType"]) == (shapes_model, "image")
    assert card["modelId"] == shapes_model
    assert len(card["artifactSha256"]) == 64
    assert card["dataReport"]
    assert "calibrationError" in str(card)


def test_labels_of_new_pictures(gallery, shapes_model):
    """Unseen images get their label, and all probabilities."""
    for label, look in LABELS.items():
        items = gallery.picture(shapes_model, shape(*look, 77)).ok["probabilities"]
        assert items[0]["label"] == label
        assert {item["label"] for item in items} == set(LABELS)
        assert sum(item["probability"] for item in items) == pytest.approx(1, abs=1e-3)


def test_every_way_to_ask(gallery, shapes_model, files):
    """File, URL and Base64 give one answer; numResults and sampleId are honoured."""
    content, path = shape("square", "blue", 55), f"{VISION}/predict"
    fields = {"modelId": shapes_model, "numResults": 1, "sampleId": "s 1"}
    url, packed = files.add("box.png", content), base64.b64encode(content).decode()

    answers = [
        gallery.picture(shapes_model, content, numResults=1, sampleId="s 1"),
        gallery.json("POST", path, {**fields, "sampleLocation": url}),
        gallery.json("POST", path, {**fields, "sampleBase64Content": packed}),
        gallery.multipart("POST", path, {**fields, "sampleLocation": url}),
    ]

    assert [answer.ok for answer in answers] == [answers[0].ok] * 4
    assert [item["label"] for item in answers[0].data["probabilities"]] == ["box"]
    assert answers[0].data["sampleId"] == "s 1"


@pytest.mark.parametrize("orientation", [2, 3, 6, 8])
def test_turned_picture_is_read_as_displayed(gallery, shapes_model, orientation):
    """An image with EXIF orientation, sent as file or text, is predicted like the upright one."""
    upright = draw("triangle", "red", (96, 48), at=(4, 6, 30, 36))
    content = turned(upright, orientation)
    raw = with_raw_exif(lossless(content), orientation)

    answers = [gallery.picture(shapes_model, image).ok for image in (upright, content, raw)]
    assert answers == [answers[0]] * 3


def test_feedback_corrects_a_model(client, stack):
    """A retraining with feedback corrects the label of a wrong answer.

    The model's id stays, and while it is trained again it predicts as before.
    """
    dataset = client.dataset(folders_zip(), file_name="shapes.zip")
    model_id = client.model(dataset["id"], epochs=20)
    odd = [shape("circle", "red", number, (80, 60)) for number in range(30, 38)]
    before = probability(client, model_id, odd[0], "box")
    for number, content in enumerate(odd[1:]):
        fields = {"modelId": model_id, "expectedLabel": "box"}
        file = {"data": (f"odd-{number}.png", content)}
        client.multipart("POST", f"{VISION}/feedback", fields, file).ok  # noqa: B018 - must be 200
    card = client.get(f"{VISION}/models/{model_id}/card").ok
    sent = {"modelId": model_id, "epochs": 40, "trainParams": {"withFeedback": True}}
    with stack.workers_paused():
        queued = client.json("POST", f"{VISION}/retrain", sent).ok
        meanwhile = [probability(client, model_id, odd[0], "box")]
        busy = client.json("POST", f"{VISION}/retrain", sent)
    while client.get(f"{VISION}/train/{model_id}").ok["status"] in OPEN:
        meanwhile.append(probability(client, model_id, odd[0], "box"))
        time.sleep(0.2)
    done = client.get(f"{VISION}/train/{model_id}").ok

    assert before < 0.5
    assert (queued["modelId"], queued["status"], queued["progress"]) == (model_id, "QUEUED", 0)
    assert busy.status == 409
    assert meanwhile[0] == before
    assert (done["status"], done["trainStats"]["examples"]) == ("SUCCEEDED", 27)
    assert done["trainParams"] == {"withFeedback": True}
    assert probability(client, model_id, odd[0], "box") > before + 0.2
    assert best(client, model_id, shape("square", "blue", 41)) == "box"
    after = client.get(f"{VISION}/models/{model_id}/card").ok
    assert after["artifactSha256"] != card["artifactSha256"]
    assert len(curve(client, model_id)) == 40


def test_augmented_training(client):
    """Training with augmentData uses more views and lists each image once."""
    dataset = client.dataset(folders_zip(count=5), file_name="shapes.zip")
    model_id = client.model(
        dataset["id"], epochs=5, trainParams={"augmentData": True, "trainSplitRatio": 0.6}
    )
    done = client.get(f"{VISION}/train/{model_id}").ok

    assert done["trainParams"] == {"augmentData": True, "trainSplitRatio": 0.6}
    assert done["trainStats"]["examples"] == 10
    assert done["trainStats"]["trainSplitSize"] + done["trainStats"]["testSplitSize"] == 10


def test_global_dataset_adds_its_labels(client, world, monkeypatch):
    """A training with a global dataset also knows its labels; the dataset is unchanged."""
    monkeypatch.setattr(provision, "FAMILY_TYPES", {"vision": ("image",)})
    provision.install_globals(world.settings)
    (weather,) = client.get(f"{VISION}/datasets", **{"global": "true"}).ok["data"]
    dataset = client.dataset(folders_zip(count=4), file_name="shapes.zip")
    model_id = client.model(
        dataset["id"], epochs=5, trainParams={"withGlobalDatasetId": weather["id"]}
    )
    added = [item["name"] for item in weather["labelSummary"]["labels"]]

    metrics = client.get(f"{VISION}/models/{model_id}").ok["metricsData"]
    items = client.picture(model_id, shape("circle", "red", 3), numResults=50).ok["probabilities"]

    assert metrics["labels"] == [*LABELS, *added]
    assert {item["label"] for item in items} == {*LABELS, *added}
    assert client.get(f"{VISION}/datasets/{dataset['id']}").ok["totalLabels"] == 2
    assert client.get(f"{VISION}/datasets/{weather['id']}").status == 404
    boxes = client.dataset(scenes_zip(fruit_scenes(1)), file_name="t.zip", type="image-detection")
    params = {"withGlobalDatasetId": weather["id"]}
    sent = {"name": "m", "datasetId": boxes["id"], "trainParams": params}
    assert client.json("POST", f"{VISION}/train", sent).status == 400, "types must match"


def test_too_few_labels(client):
    """A dataset with one label cannot be trained; the error says what is missing."""
    dataset = client.dataset(folders_zip(labels={"ball": LABELS["ball"]}), file_name="x.zip")
    refused = client.json("POST", f"{VISION}/train", {"name": "m", "datasetId": dataset["id"]})

    assert (refused.status, refused.data["code"]) == (400, "too_few_examples")
    assert "2 labels" in refused.data["message"]


@pytest.mark.parametrize(
    "fields",
    [
        {"algorithm": "object-recognition"},
        {"epochs": 0},
        {"epochs": 1001},
        {"learningRate": 0.5},
        {"trainParams": {"trainSplitRatio": 1}},
    ],
)
def test_wrong_parameters(gallery, shapes_id, fields):
    """Parameters out of range or of another type are a 400 that names them."""
    sent = {"name": "m", "datasetId": shapes_id, **fields}
    answer = gallery.json("POST", f"{VISION}/train", sent)

    assert answer.status == 400
    assert next(iter(fields)) in answer.data["message"]
