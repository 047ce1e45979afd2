"""Records of the vision family equal the contract's examples for the same facts."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest
from msgspec import UNSET

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.dataset import Label
from chalicelib.domain.datasets.example import Example, ExampleView
from chalicelib.domain.documents.picture import PixelBox
from chalicelib.domain.models.model import ModelView, TrainRequest, TrainStats
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.errors import TooLarge, UnsupportedType
from chalicelib.formats.pictures.rules import require_kind
from chalicelib.web.http.paging import Window, list_answer
from chalicelib.web.http.responses import error_response
from chalicelib.web.records import describe, model_records
from tests.spec.test_records import EXAMPLES, INTENT, at, dataset, pairs, same

IMAGE = replace(
    INTENT,
    model_id="W6MKXZXBWEYY5Y3LBXFT7OPE2M",
    name="Two wheelers v1",
    dataset_id=1004301,
    family="vision",
    type="image",
    language="N/A",
    request=TrainRequest(epochs=3, learning_rate=0.0001, params={"trainSplitRatio": 0.9}),
    epochs=3,
)
STATS = TrainStats(2, 118, 41.22, 40.105, 0.31, 0.805, False, 3, 106, 12)


def loaded(name):
    """Read one of the contract's payloads."""
    return json.loads((EXAMPLES / f"{name}.json").read_text())


def test_datasets():
    """An image dataset before and after its archive was read."""
    name = "dataset_uploading_vision"
    view = dataset(name)
    begun = replace(view, dataset=replace(view.dataset, updated_at=view.dataset.created_at))

    same(name, describe.dataset(begun))
    same("dataset_succeeded_vision", describe.dataset(dataset("dataset_succeeded_vision")))


def test_examples():
    """An image example has its file name and a URL."""
    expected = loaded("example_vision")
    label = expected["label"]
    view = ExampleView(
        Example(expected["id"], expected["name"], at(10, 15, 4), label["id"]),
        Label(label["id"], label["datasetId"], label["name"], label["numExamples"]),
        expected["location"],
    )

    same("example_vision", describe.example(view))


def test_trainings():
    """An image training shows epochs and learning rate in every state, and no algorithm."""
    same("training_queued_vision", describe.training(ModelView(IMAGE, 1)))
    running = replace(IMAGE, status="RUNNING", progress=0.66, updated_at=at(10, 20, 30))
    same("training_running_vision", describe.training(ModelView(running)))
    done = replace(IMAGE, status="SUCCEEDED", progress=1.0, updated_at=at(10, 20, 41), stats=STATS)
    same("training_succeeded_vision", describe.training(ModelView(done)))


def test_detection_training():
    """A detection training has an algorithm, 20 epochs and the learning rate 0, never 0.0."""
    model = replace(
        IMAGE,
        model_id="GM4LSNQRAAGBFPVEDPGX5GWYYE",
        name="Shelf v1",
        dataset_id=1004303,
        type="image-detection",
        request=TrainRequest(algorithm="retail-execution"),
        epochs=0,
    )

    same("training_queued_detection", describe.training(ModelView(model, 1)))


def test_models_in_lists():
    """Models in lists omit the members that only a training has; a failed one has its cause."""
    expected = loaded("model_list_vision")["data"]
    failed = replace(
        IMAGE,
        model_id=expected[0]["modelId"],
        name="Two wheelers v0",
        status="FAILED",
        updated_at=at(10, 20, 41),
        failure=expected[0]["failureMsg"],
    )
    done = replace(IMAGE, status="SUCCEEDED", progress=1.0, updated_at=at(10, 20, 41))
    page = list_answer(ListPage((failed, done), 0, has_more=False), describe.model, Window(0, 100))

    same("model_list_vision", page.record)


@pytest.mark.parametrize("kind", ["image", "multilabel", "detection"])
def test_metrics(kind):
    """Metrics are returned as they were stored; only detection names its algorithm."""
    expected = loaded(f"metrics_{kind}")
    name = "image-multi-label" if kind == "multilabel" else "image-detection"
    minutes = {"image": (20, 41), "multilabel": (30, 0), "detection": (40, 0)}[kind]
    model = replace(
        IMAGE,
        model_id=expected["id"],
        type="image" if kind == "image" else name,
        request=TrainRequest(algorithm=expected.get("algorithm")),
    )

    same(f"metrics_{kind}", describe.metrics(model, at(10, *minutes), expected["metricsData"]))


@pytest.mark.parametrize("kind", ["image", "multilabel", "detection"])
def test_curves_fit_their_declaration(kind):
    """Stored curves fit the types declared in the OpenAPI document."""
    for record in loaded(f"learningcurve_{kind}")["data"]:
        read = msgspec.convert(record, model_records.LearningCurveRecord)
        assert msgspec.to_builtins(read) == record


@pytest.mark.parametrize("name", ["predict_image", "predict_multilabel"])
def test_predictions(name):
    """Labels have their probabilities; `sampleId` is present only if it was sent."""
    expected = loaded(name)
    items = [Probability(x["label"], x["probability"]) for x in expected["probabilities"]]

    same(name, describe.prediction(items, expected.get("sampleId", UNSET)))


def test_detections():
    """Boxes have whole pixels: minX, minY, maxX, maxY."""
    items = [
        Detection(x["label"], x["probability"], PixelBox(*x["boundingBox"].values()))
        for x in loaded("detect")["probabilities"]
    ]

    same("detect", describe.detection(items, UNSET))


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("error_413_image", bytes(5 * 1024 * 1024 + 1), TooLarge),
        ("error_415_image", b"GIF89a" + bytes(20), UnsupportedType),
    ],
)
def test_errors(name, content, kind):
    """Messages and codes for refused images are as documented."""
    with pytest.raises(kind) as refusal:
        require_kind(content, 5 * 1024 * 1024)

    expected = (EXAMPLES / f"{name}.json").read_text()
    assert pairs(error_response(refusal.value).body) == pairs(expected)
