"""Trainings: parameters with proper types, algorithms, aliases."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chalicelib.domain.models.model import ALGORITHM_ALIASES, ALGORITHMS
from tests.api.prepared import (
    ALBUM_ID,
    BOX_MODEL_ID,
    DATASET_ID,
    IMAGE_MODEL_ID,
    MODEL_ID,
    SCENES_ID,
)

KNOWN = [*(name for names in ALGORITHMS.values() for name in names), *ALGORITHM_ALIASES]
# A dataset of each type, and a model that was trained on it.
KINDS = {
    "text-intent": (DATASET_ID, MODEL_ID),
    "image": (ALBUM_ID, IMAGE_MODEL_ID),
    "image-detection": (SCENES_ID, BOX_MODEL_ID),
}
# Every address that takes a training, and the types that it trains.
TRAIN_URLS = [
    (f"{version}/{folder}{call}", kind)
    for folder, kinds in (
        ("language", ("text-intent",)),
        ("language/datasets", ("text-intent",)),
        ("vision", ("image", "image-detection")),
    )
    for kind in kinds
    for call in ("/train", "/retrain")
    for version in ("/v2", *(("/v1",) if folder == "vision" else ()))
]


@pytest.mark.parametrize("url", ["/v2/language/train", "/v2/language/datasets/train"])
def test_training_is_queued(call, world, url):
    """Both paths queue a training; decimal strings become numbers, unknown members are dropped."""
    params = json.dumps(
        {"trainSplitRatio": "0.7", "withFeedback": "true", "profile": "fast", "other": [1]}
    )

    answer = call.form(
        "POST",
        url,
        ("name", b"Shop", None),
        ("datasetId", str(DATASET_ID).encode(), None),
        ("epochs", b"3", None),
        ("learningRate", b"0.001", None),
        ("algorithm", b"multilingual-intent", None),
        ("trainParams", params.encode(), "params.json"),
    )

    [job] = world.sent()
    assert job.model_id == answer.json["modelId"]
    model = world.container.models.get(world.account.account_id, job.model_id)
    request = model.request
    assert (request.epochs, request.learning_rate, request.algorithm) == (
        3,
        0.001,
        "multilingual-intent",
    )
    assert dict(request.params) == {"trainSplitRatio": 0.7, "withFeedback": True, "profile": "fast"}
    assert (
        answer.status,
        answer.json["status"],
        answer.json["progress"],
        answer.json["queuePosition"],
    ) == (200, "QUEUED", 0, 1)
    assert request.params == answer.json["trainParams"]


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"trainSplitRatio": 0}, "'trainParams.trainSplitRatio' parameter is not valid"),
        ({"trainSplitRatio": 1}, "it must be less than 1, got 1."),
        ({"trainSplitRatio": "x"}, "expected a number, got 'x'."),
        ({"outOfDomainRate": "nan"}, "it must be more than 0"),
        ({"withFeedback": "maybe"}, "expected true or false"),
        ({"withGlobalDatasetId": [1, 2]}, "expected a whole number, got a list."),
        ({"withGlobalDatasetId": True}, "expected a whole number, got true."),
        ({"profile": "best"}, "'best' is not one of"),
        ({"skipSmallLabels": "some"}, "expected true or false"),
        ({"minimumExamples": 6}, "it must be at most 5, got 6"),
        ({"minimumExamples": -1}, "got -1"),
        ({"unlabelled": 987_654}, "unlabelled 987654 is not an available language dataset"),
        ({"unlabelled": "987654"}, "unlabelled 987654 is not an available language dataset"),
        ({"unlabelled": 0}, "trainParams.unlabelled"),
        ({"unlabelled": [1]}, "got a list"),
        ({"unlabelled": "http://there/a.csv"}, "neither the id of a language dataset nor the path"),
        ({"unlabelled": "presage:upload/x"}, "No upload 'presage:upload/x'"),
        ({"unlabelled": f"presage:upload/{'A' * 26}"}, "get one with POST /v2/uploads"),
        ("[1]", "expected a JSON object."),
        ("{", "it is not valid JSON text."),
        ([1], "got a list."),
        ("[" * 100_000, "the JSON text is nested too deeply."),
    ],
)
def test_wrong_parameters_are_named(call, params, text):
    """Each invalid parameter is named with its expected and its received value."""
    answer = call.json(
        "POST", "/v2/language/train", name="n", datasetId=DATASET_ID, trainParams=params
    )

    assert answer.status == 400
    assert text in answer.json["message"]


@pytest.mark.parametrize(("sent", "echo"), [(None, None), ("null", None), ({}, {}), ("{}", {})])
def test_absent_parameters_are_null(call, sent, echo):
    """`trainParams` is null when it was not sent."""
    answer = call.json(
        "POST", "/v2/language/train", name="n", datasetId=DATASET_ID, trainParams=sent
    )

    assert echo == answer.json["trainParams"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epochs", 0),
        ("epochs", 1001),
        ("learningRate", 0.00009),
        ("learningRate", "inf"),
        ("learningRate", "nan"),
    ],
)
def test_ranges_are_kept(call, field, value):
    """Epochs and learning rates outside their ranges are refused."""
    answer = call.json(
        "POST", "/v2/language/train", name="n", datasetId=DATASET_ID, **{field: value}
    )

    assert (answer.status, answer.json["code"]) == (400, "invalid_parameter")


@pytest.mark.parametrize(
    ("value", "status"), [(9, 404), ("abc", 400), (2**70, 404), (True, 400), (None, 400), (-1, 404)]
)
def test_dataset_of_the_body_is_located(call, value, status):
    """An unknown dataset number is a 404, any other value a 400."""
    assert status == call.json("POST", "/v2/language/train", name="n", datasetId=value).status


@pytest.mark.parametrize("url", ["/v2/language/retrain", "/v2/language/datasets/retrain"])
def test_retraining_keeps_the_model(call, world, url):
    """Both paths queue a retraining of the model in the body."""
    answer = call.json("POST", url, modelId=MODEL_ID, epochs="5")

    request = world.container.models.get(world.account.account_id, MODEL_ID).request
    assert (answer.json["modelId"], request.epochs) == (MODEL_ID, 5)
    assert request.algorithm == "multilingual-intent"


@pytest.mark.parametrize(("url", "kind"), TRAIN_URLS)
def test_algorithm_of_every_address(call, world, url, kind, monkeypatch):
    """An algorithm of the type is used, one of another type ignored, an unknown one refused."""
    many = replace(world.settings, max_open_trainings=2 * len(KNOWN))
    monkeypatch.setattr(world.container.training, "_settings", many)
    dataset, model = KINDS[kind]
    named = {"modelId": model} if "retrain" in url else {"name": "m", "datasetId": dataset}
    own = ALGORITHMS.get(kind, ())
    before = world.container.models.get(world.account.account_id, model).request.algorithm
    default = before if "retrain" in url else next(iter(own), None)

    for sent in KNOWN:
        world.set_model("SUCCEEDED", model)
        answer = call.json("POST", url, **named, algorithm=sent)
        real = ALGORITHM_ALIASES.get(sent, sent)
        made = world.container.models.get(world.account.account_id, answer.json["modelId"])
        assert made.request.algorithm == (real if real in own else default), sent
        if "retrain" in url:
            default = made.request.algorithm
    for sent in ("magic", "Intent", "object-detection-v3"):
        refused = call.json("POST", url, **named, algorithm=sent)
        assert (refused.status, refused.json["code"]) == (400, "invalid_parameter"), sent
        assert f"'{sent}' is not one of intent, " in refused.json["message"]


@pytest.mark.parametrize("kind", ["image", "image-detection"])
@pytest.mark.parametrize("value", [True, False])
def test_small_labels_of_images_are_no_choice(call, kind, value):
    """`skipSmallLabels` is refused for images, whose labels have no minimum."""
    dataset_id, model_id = KINDS[kind]
    for url, fields in (
        ("/v2/vision/train", {"name": "n", "datasetId": dataset_id}),
        ("/v2/vision/retrain", {"modelId": model_id}),
    ):
        answer = call.json("POST", url, **fields, trainParams={"skipSmallLabels": value})
        assert (answer.status, answer.json["code"]) == (400, "invalid_parameter")
        assert "skipSmallLabels is for texts" in answer.json["message"]


def test_skipping_small_labels_is_echoed(call):
    """`skipSmallLabels` is echoed as a boolean, also when sent by a form."""
    answer = call.form(
        "POST",
        "/v2/language/train",
        ("name", b"n", None),
        ("datasetId", str(DATASET_ID).encode(), None),
        ("trainParams", b'{"skipSmallLabels": "true"}', None),
    )

    assert answer.json["trainParams"] == {"skipSmallLabels": True}
