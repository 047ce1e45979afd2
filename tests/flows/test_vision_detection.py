"""Detection models: boxes in training and answers, in pixels of the displayed image."""

from __future__ import annotations

import base64

import pytest

from tests.flows.client import VISION, Client
from tests.flows.pictures import (
    FRUITS,
    fruit_scenes,
    overlap,
    scenes_zip,
    size_of,
    turned,
)
from tests.pictures import a_box, draw, make_zip

SEEN = 0.5
"""Overlap from which a box counts as found."""


@pytest.fixture
def client(world) -> Client:
    """A new caller of the calls below /vision."""
    return world.photographer()


@pytest.fixture(scope="module")
def tables(client_of_module) -> int:
    """A small dataset that the tests of this file may add feedback to."""
    content = scenes_zip(fruit_scenes(4, seed=9))
    return int(client_of_module.dataset(content, file_name="t.zip", type="image-detection")["id"])


@pytest.fixture(scope="module")
def client_of_module(world) -> Client:
    """A caller for all tests of this file."""
    return world.photographer()


def boxes(items):
    """Corners of the boxes with their labels and probabilities."""
    names = ("minX", "minY", "maxX", "maxY")
    return [
        (item["label"], item["probability"], *(item["boundingBox"][name] for name in names))
        for item in items
    ]


def found(items, expected):
    """Count the expected boxes that are in the answer with their label."""
    return sum(
        any(
            item["label"] == box["label"] and overlap(box, item["boundingBox"]) >= SEEN
            for item in items
        )
        for box in expected
    )


def test_training_record(gallery, tables_id, tables_model):
    """Records have learning rate 0 and the algorithm; sizes count images."""
    done = gallery.get(f"{VISION}/train/{tables_model}").ok
    metrics = gallery.get(f"{VISION}/models/{tables_model}").ok
    epochs = gallery.items(f"{VISION}/models/{tables_model}/lc")
    (listed,) = gallery.items(f"{VISION}/datasets/{tables_id}/models")
    card = gallery.get(f"{VISION}/models/{tables_model}/card").ok

    assert (done["learningRate"], done["epochs"], done["algorithm"]) == (0, 8, "object-detection")
    stats = done["trainStats"]
    assert stats["trainSplitSize"] + stats["testSplitSize"] == 6
    assert stats["examples"] == 18
    assert metrics["algorithm"] == listed["algorithm"] == "object-detection"
    assert [record["epoch"] for record in epochs] == list(range(1, 9))
    for record in (metrics, *epochs):
        data = record["metricsData"]
        assert [item["label"] for item in data["labelMetrics"]] == list(FRUITS)
        assert set(data["modelMetrics"]) == {"trainingLoss", "meanAveragePrecision"}
    assert {str(record["epochResults"]) for record in epochs} == {"{}"}
    assert len(card["artifactSha256"]) == 64
    assert len({b["sha256"] for b in card["engine"]["backbones"]}) == 2


def test_fruits_are_found(gallery, tables_model):
    """Boxes of training images are found, most probable first, inside the image."""
    hits = total = 0
    for _, content, expected in fruit_scenes(4):
        items = gallery.picture(tables_model, content, call="detect").ok["probabilities"]
        values = [item["probability"] for item in items]
        assert values == sorted(values, reverse=True)
        assert len(items) <= 100
        for item in items:
            box = item["boundingBox"]
            assert all(isinstance(value, int) for value in box.values())
            assert 0 <= box["minX"] < box["maxX"] <= 256
            assert 0 <= box["minY"] < box["maxY"] <= 192
            assert 0.05 <= item["probability"] <= 1
            assert item["label"] in FRUITS
        hits, total = hits + found(items, expected), total + len(expected)

    assert hits >= 0.6 * total


@pytest.mark.parametrize("orientation", [3, 5, 6, 8])
def test_boxes_turn_with_the_picture(gallery, tables_model, orientation):
    """An image with EXIF orientation gives the boxes of the upright image."""
    _, upright, _ = fruit_scenes(1)[0]
    content = turned(upright, orientation, "JPEG", quality=95)
    stored = size_of(content)
    assert stored == ((192, 256) if orientation >= 5 else (256, 192))

    items = gallery.picture(tables_model, content, call="detect").ok["probabilities"]
    expected = gallery.picture(tables_model, upright, call="detect").ok["probabilities"]

    best = [x for x in expected if x["probability"] >= 0.6 * expected[0]["probability"]]
    assert best
    wanted = [
        a_box(item["label"], b["minX"], b["minY"], b["maxX"] - b["minX"], b["maxY"] - b["minY"])
        for item in best
        for b in [item["boundingBox"]]
    ]
    assert found(items, wanted) == len(wanted)


def test_every_way_to_ask(gallery, tables_model, files):
    """File, URL and Base64 give one answer; numResults is ignored, sampleId is echoed."""
    _, content, _ = fruit_scenes(1)[0]
    path = f"{VISION}/detect"
    url, packed = files.add("table.jpg", content), base64.b64encode(content).decode()
    fields = {"modelId": tables_model, "sampleId": "t-1", "numResults": 1}

    answers = [
        gallery.multipart("POST", path, fields, {"sampleContent": ("x.png", content)}),
        gallery.json("POST", path, {**fields, "sampleLocation": url}),
        gallery.json("POST", path, {**fields, "sampleBase64Content": packed}),
        gallery.multipart("POST", path, {**fields, "sampleBase64Content": packed}),
    ]

    assert [answer.ok for answer in answers] == [answers[0].ok] * 4
    assert answers[0].data["sampleId"] == "t-1"
    assert len(answers[0].data["probabilities"]) > 1
    assert list(answers[0].data) == ["probabilities", "object", "sampleId"]


def test_feedback_in_bulk(client_of_module, tables):
    """An archive of images with correct boxes becomes feedback for the next training.

    Unknown labels and used names cost their rows only; the model predicts meanwhile.
    """
    client = client_of_module
    model_id = client.model(tables, epochs=2)
    before = client.get(f"{VISION}/datasets/{tables}").ok
    scenes = fruit_scenes(2, seed=21, name="feedback")
    given = sum(len(found_boxes) for _, _, found_boxes in scenes)
    used = fruit_scenes(1, seed=9)[0]
    content = scenes_zip([*scenes, used], (scenes[0][0], [a_box("plum", 5, 5, 20, 20)]))
    posted = client.multipart(
        "PUT", f"{VISION}/bulkfeedback", {"modelId": model_id}, {"data": ("f.zip", content)}
    ).ok
    meanwhile = client.picture(model_id, used[1], call="detect")
    done = client.wait_dataset(tables)
    path = f"{VISION}/datasets/{tables}/examples"
    feedback = client.items(path, source="feedback")
    receipt = client.items(f"{VISION}/datasets/{tables}/receipts")[0]

    assert (posted["id"], posted["statusMsg"]) == (tables, "UPLOADING")
    assert meanwhile.status == 200
    assert (done["statusMsg"], done["totalExamples"]) == (
        "SUCCEEDED",
        before["totalExamples"] + given,
    )
    assert len(feedback) == given
    assert {item["name"] for item in feedback} == {name for name, _, _ in scenes}
    assert len(client.items(path)) == before["totalExamples"]
    assert len(client.items(path, source="all")) == done["totalExamples"]
    assert receipt["rejected"] == 1 + len(used[2])
    assert (receipt["kept"], receipt["duplicates"]) == (given, 0)
    assert any("plum" in item["reason"] for item in receipt["rejections"])
    sent = {"modelId": model_id, "epochs": 1, "trainParams": {"withFeedback": True}}
    assert client.json("POST", f"{VISION}/retrain", sent).status == 200
    stats = client.wait_model(model_id)["trainStats"]
    assert stats["examples"] == done["totalExamples"]
    assert stats["trainSplitSize"] + stats["testSplitSize"] == 6


def test_feedback_of_one_picture_is_for_classifiers(gallery, tables_model, shapes_model):
    """Single feedback needs a classifier, bulk feedback a detection model."""
    file = {"data": ("a.png", draw())}
    fields = {"modelId": tables_model, "expectedLabel": "apple"}
    single = gallery.multipart("POST", f"{VISION}/feedback", fields, file)
    archive = {"data": ("a.zip", make_zip({"a.png": draw()}))}
    bulk = gallery.multipart("PUT", f"{VISION}/bulkfeedback", {"modelId": shapes_model}, archive)

    assert (single.status, bulk.status) == (400, 400)


def test_retail_execution(client):
    """The retail-execution algorithm trains on a tiny set, is in its records, and predicts."""
    content = scenes_zip(fruit_scenes(1))
    shelf = client.dataset(content, file_name="shelf.zip", type="image-detection")["id"]
    queued = client.train(shelf, "shelf", epochs=1, algorithm="retail-execution")
    done = client.wait_model(queued["modelId"])
    metrics = client.get(f"{VISION}/models/{queued['modelId']}").ok
    answer = client.picture(queued["modelId"], fruit_scenes(1)[0][1], call="detect")

    assert (done["status"], done["algorithm"]) == ("SUCCEEDED", "retail-execution"), done
    assert queued["algorithm"] == metrics["algorithm"] == "retail-execution"
    assert (queued["learningRate"], queued["epochs"]) == (0, 1)
    assert len(answer.ok["probabilities"]) <= 500


@pytest.mark.parametrize("alias", ["object-detection-v1", "object-detection-v2"])
def test_old_names_of_the_algorithm(client_of_module, tables, stack, alias):
    """Old names mean the default algorithm; a given learning rate is shown."""
    stack.pause_workers()
    try:
        queued = client_of_module.train(tables, algorithm=alias, learningRate=0.002)
    finally:
        stack.resume_workers()
    ended = client_of_module.delete(f"{VISION}/models/{queued['modelId']}")

    assert (queued["algorithm"], queued["learningRate"]) == ("object-detection", 0.002)
    assert queued["epochs"] == 20
    assert ended.status == 409, "a running training is not deleted"


def test_unknown_algorithm(client_of_module, tables):
    """An unknown algorithm is refused with the valid ones."""
    sent = {"name": "m", "datasetId": tables, "algorithm": "magic"}
    answer = client_of_module.json("POST", f"{VISION}/train", sent)

    assert answer.status == 400
    assert "retail-execution" in answer.data["message"]


def test_dataset_without_box_cannot_be_trained(client):
    """A detection dataset without boxes cannot be trained."""
    fields = {"name": "empty", "type": "image-detection", "labels": "apple"}
    made = client.json("POST", f"{VISION}/datasets", fields).ok
    answer = client.json("POST", f"{VISION}/train", {"name": "m", "datasetId": made["id"]})

    assert (answer.status, answer.data["code"]) == (400, "too_few_examples")
    assert "1 box" in answer.data["message"]
