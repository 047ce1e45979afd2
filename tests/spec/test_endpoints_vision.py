"""Every row of the contract's table of endpoints with a vision form answers as documented.

The members of each answer, their order and kinds are compared with the contract's examples.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest

import app as module
from tests.live import Caller
from tests.pictures import a_box, annotations, draw, make_zip
from tests.spec.test_endpoints import EXAMPLES, example, same_shape

VISION = "/v2/vision"
PICTURE = draw(salt=99)
FOLDERS = make_zip({f"{label}/{n}.png": draw(label, salt=n) for label in ("circle", "square")
                    for n in range(4)})  # fmt: skip
PER_LABEL = ("confusionMatrices", "epochResults")


@pytest.fixture(scope="module")
def caller(live) -> Caller:
    """The account that owns the shared images and models; tests must not change them."""
    return live.studio.caller


@pytest.fixture(scope="module")
def own(live) -> Caller:
    """A separate account for calls that change data."""
    return live.caller("vision-endpoints")


@pytest.fixture(scope="module")
def own_dataset(own) -> dict[str, Any]:
    """A dataset that calls may change."""
    return dict(own.upload(FOLDERS, "image", "two.zip", f"{VISION}/datasets/upload/sync").ok())


def like(got, name, **changes):
    """Compare the shape of an answer with an example that has other labels."""
    expected = example(name) | changes
    same_shape(renamed(got), renamed(expected))


def renamed(value: Any) -> Any:
    """Replace label names by their position, so that different label sets can be compared."""
    if isinstance(value, list):
        return [renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, item in value.items():
        if name in PER_LABEL and isinstance(item, dict):
            item = {str(place): renamed(each) for place, each in enumerate(item.values())}
        found[name] = renamed(item)
    return found


GETS = [
    ("/datasets", "dataset_list"),
    ("/datasets?global=true", "dataset_list_global"),
    ("/datasets/{dataset}", "dataset_succeeded_vision"),
    ("/datasets/{dataset}/examples", "example_list_vision"),
    ("/examples?labelId={label}", "example_list_vision"),
    ("/examples/{dataset}/label/{label}", "example_list_vision"),
    ("/datasets/{dataset}/receipts", "receipt_list"),
]


@pytest.mark.parametrize("kind", ["signs", "baskets", "scenes"])
@pytest.mark.parametrize(("path", "name"), GETS)
def test_get_of_datasets(live, caller, path, name, kind):
    """A GET of a dataset of each type answers 200 with the documented record."""
    dataset = getattr(live.studio, kind)
    label = dataset["labelSummary"]["labels"][0]["id"]
    answer = caller.get(VISION + path.format(dataset=dataset["id"], label=label))

    same_shape(answer.ok(), example(name))
    assert answer.headers["content-type"] == "application/json"


MODELS = [
    ("classifier", "image"),
    ("tagger", "multilabel"),
    ("finder", "detection"),
]


@pytest.mark.parametrize(("model", "kind"), MODELS)
def test_get_of_models(live, caller, model, kind):
    """Training, metrics, curve and list entry of a model of each type are as documented."""
    model_id = getattr(live.studio, model)
    is_detection = kind == "detection"
    named = {"algorithm": "object-detection"} if is_detection else {}
    done = caller.get(f"{VISION}/train/{model_id}").ok()
    metrics = caller.get(f"{VISION}/models/{model_id}").ok()
    curve = caller.get(f"{VISION}/models/{model_id}/lc").ok()
    listed = caller.get(f"{VISION}/datasets/{done['datasetId']}/models").ok()

    expected = example("training_succeeded_vision")
    if is_detection:
        queued = example("training_queued_detection")
        order = [name for name in queued if name != "queuePosition"]
        expected = {name: (expected | named)[name] for name in order}
    same_shape(done, expected)
    like(metrics, f"metrics_{kind}")
    like(curve, f"learningcurve_{kind}")
    [record] = [item for item in listed["data"] if item["modelId"] == model_id]
    plain = example("model_list_vision")["data"][1]
    assert [name for name in record if name != "algorithm"] == list(plain)
    assert record.get("algorithm") == named.get("algorithm")
    assert len(curve["data"]) == done["epochs"] == done["trainStats"]["lastEpochDone"]


def intervals(metrics: Any) -> list[tuple[float, float, float]]:
    """Return the confidence intervals in a card's metrics, at any depth."""
    if not isinstance(metrics, dict):
        return []
    if "low" in metrics:
        return [(metrics["low"], metrics["value"], metrics["high"])]
    return [found for item in metrics.values() for found in intervals(item)]


@pytest.mark.parametrize("model", ["classifier", "tagger", "finder"])
def test_card(live, caller, model):
    """The card of each type has the documented members."""
    card = caller.get(f"{VISION}/models/{getattr(live.studio, model)}/card").ok()
    expected, is_of_boxes = example("card_intent"), model == "finder"

    optional = {"calibrationError"} if is_of_boxes else {"algorithm"}
    assert set(expected) - set(card) <= optional
    assert card.get("algorithm") == ("object-detection" if is_of_boxes else None)
    assert set(card["trainedOn"]) >= set(expected["trainedOn"])
    documented = set(expected["dataReport"]) - ({"confusedLabels"} if is_of_boxes else set())
    assert set(card["dataReport"]) >= documented
    assert len(card["artifactSha256"]) == 64
    assert isinstance(card["engine"]["seed"], int)
    for backbone in card["engine"]["backbones"]:
        assert len(backbone["sha256"]) == 64
    assert is_of_boxes or intervals(card["metrics"]), card["metrics"]
    targets = {one["precision"] for one in card.get("thresholds", ())}
    assert targets == (set() if is_of_boxes else {0.9, 0.95, 0.99})
    assert ("advice" in card) != is_of_boxes
    for low, value, high in intervals(card["metrics"]):
        assert low <= value <= high


@pytest.mark.parametrize("call", ["upload", "upload/sync"])
@pytest.mark.parametrize("kind", ["image", "image-multi-label", "image-detection"])
def test_upload(live, own, call, kind):
    """POST upload and upload/sync: a Dataset, UPLOADING or finished."""
    table = annotations([("a.png", [a_box("cat", 1, 1, 9, 9)])])
    archive = make_zip({"a.png": PICTURE, "annotations.csv": table})
    content = archive if kind == "image-detection" else FOLDERS
    with live.paused():
        answer = own.upload(content, kind, "/abs/two.zip", f"{VISION}/datasets/{call}")
    record = answer.ok()
    own.wait(f"{VISION}/datasets/{record['id']}", "statusMsg", "UPLOADING")

    state = "uploading" if call == "upload" else "succeeded"
    same_shape(record, example(f"dataset_{state}_vision"))
    assert (record["name"], record["type"], record["language"]) == ("two", kind, "N/A")


def test_upload_without_type_is_of_images(own):
    """Below /vision, `type` is optional and defaults to `image`."""
    path = f"{VISION}/datasets/upload/sync"
    record = own.form("POST", path, ("data", FOLDERS, "two.zip"), ("name", b" x ", None)).ok()

    assert (record["type"], record["name"]) == ("image", "x")


def test_contract_s_annotations(own):
    """The contract's own annotation file is accepted: its three boxes become examples."""
    files = {f"shelf{n}.jpg": draw("square", size=(240, 190), salt=n, kind="JPEG") for n in (1, 2)}
    table = (EXAMPLES / "upload_annotations.csv").read_bytes()
    archive = make_zip({**files, "annotations.csv": table})
    path = f"{VISION}/datasets/upload/sync"

    record = own.upload(archive, "image-detection", "shelf.zip", path).ok()

    labels = [(x["name"], x["numExamples"]) for x in record["labelSummary"]["labels"]]
    assert labels == [("soda", 2), ("chips", 1)]


def test_put_upload(own, own_dataset):
    """PUT upload: the Dataset, UPLOADING, with its previous counts."""
    path = f"{VISION}/datasets/{own_dataset['id']}"
    record = own.form("PUT", f"{path}/upload", ("data", FOLDERS, "again.zip")).ok()

    same_shape(record, example("dataset_succeeded_vision"))
    assert (record["statusMsg"], record["totalExamples"]) == ("UPLOADING", 8)
    assert own.wait(path, "statusMsg", "UPLOADING")["numOfDuplicates"] == 8


@pytest.mark.parametrize("by", ["labelId", "label"])
def test_add_example(own, own_dataset, by):
    """POST examples: an Example with the file's name and an address."""
    label = own_dataset["labelSummary"]["labels"][0]
    value = str(label["id"] if by == "labelId" else label["name"]).encode()
    path = f"{VISION}/datasets/{own_dataset['id']}/examples"

    record = own.form(
        "POST", path, (by, value, None), ("data", draw(salt=len(by)), f"/a/{by}.png")
    ).ok()

    same_shape(record, example("example_vision"))
    assert (record["name"], record["label"]["id"]) == (f"{by}.png", label["id"])


def test_train_and_feedback(live, own, own_dataset):
    """POST train, retrain and feedback of an image model: QUEUED, and an Example."""
    fields = {"name": "m", "datasetId": own_dataset["id"], "epochs": "2", "learningRate": "0.002"}
    with live.paused():
        record = own.fields("POST", f"{VISION}/train", **fields).ok()
    model_id = record["modelId"]
    assert own.trained(model_id)["status"] == "SUCCEEDED"
    scalars = [("modelId", model_id.encode(), None), ("expectedLabel", b"circle", None)]
    feedback = own.form("POST", f"{VISION}/feedback", *scalars, ("data", PICTURE, "odd.png")).ok()
    with live.paused():
        again = own.fields("POST", f"{VISION}/retrain", modelId=model_id, epochs=1).ok()
    own.trained(model_id)

    same_shape(record, example("training_queued_vision"))
    same_shape(again, example("training_queued_vision"))
    assert (record["epochs"], record["learningRate"], again["modelId"]) == (2, 0.002, model_id)
    same_shape(feedback, example("example_vision"))
    assert (feedback["name"], feedback["label"]["name"]) == ("odd.png", "circle")


def test_detection_and_bulk_feedback(live, own):
    """POST train of boxes shows its algorithm; PUT bulkfeedback is a Dataset, UPLOADING."""
    box = a_box("cat", 8, 8, 16, 16)
    names = [f"{n}.png" for n in range(2)]
    files = {name: draw(salt=place) for place, name in enumerate(names)}
    archive = make_zip({**files, "annotations.csv": annotations((n, [box]) for n in names)})
    path = f"{VISION}/datasets/upload/sync"
    dataset = own.upload(archive, "image-detection", "t.zip", path).ok()["id"]
    fields = {"name": "m", "datasetId": dataset, "epochs": 1}
    with live.paused():
        queued = own.json("POST", f"{VISION}/train", fields).ok()
        own.delete(f"{VISION}/models/{queued['modelId']}").refused(409)
    same_shape(queued, example("training_queued_detection"))
    assert (queued["algorithm"], queued["learningRate"]) == ("object-detection", 0)
    more = make_zip({"z.png": PICTURE, "annotations.csv": annotations([("z.png", [box])])})
    model = ("modelId", queued["modelId"].encode(), None)
    given = own.form("PUT", f"{VISION}/bulkfeedback", model, ("data", more, "f.zip")).ok()
    done = own.wait(f"{VISION}/datasets/{dataset}", "statusMsg", "UPLOADING")

    same_shape(given, example("dataset_succeeded_vision"))
    assert (given["id"], given["statusMsg"]) == (dataset, "UPLOADING")
    assert (done["statusMsg"], done["totalExamples"]) == ("SUCCEEDED", 3)


@pytest.mark.parametrize(
    ("model", "name"), [("classifier", "predict_image"), ("tagger", "predict_multilabel")]
)
def test_predict(live, caller, model, name):
    """POST predict: labels by probability; the contract's own request works with a real file."""
    model_id = getattr(live.studio, model)
    sample = base64.b64encode(PICTURE).decode()
    fields = example("request_predict_base64") | {
        "modelId": model_id,
        "sampleBase64Content": sample,
    }
    if "sampleId" in example(name):
        fields["sampleId"] = "cam-4"

    record = caller.json("POST", f"{VISION}/predict", fields).ok()

    same_shape(record, example(name))
    values = [item["probability"] for item in record["probabilities"]]
    assert values == sorted(values, reverse=True)


def test_detect(live, caller):
    """POST detect: labels, probabilities and boxes."""
    content = draw("circle", size=(96, 96), at=(4, 8, 30, 30))
    finder = ("modelId", live.studio.finder.encode(), None)
    sample = ("sampleContent", content, "a.png")

    record = caller.form("POST", f"{VISION}/detect", finder, sample).ok()

    expected = example("detect")
    if not record["probabilities"]:
        expected["probabilities"] = []
    same_shape(record, expected)


def test_every_documented_path_is_a_route():
    """The table's vision rows are all registered."""
    rows = """
    POST datasets/upload; POST datasets/upload/sync; POST datasets; GET datasets
    GET datasets/{dataset_id}; DELETE datasets/{dataset_id}; PUT datasets/{dataset_id}/upload
    POST datasets/{dataset_id}/examples; GET datasets/{dataset_id}/examples; GET examples
    GET examples/{dataset_id}/label/{label_id}; POST feedback; PUT bulkfeedback; POST train
    POST retrain; GET train/{model_id}; GET models/{model_id}; GET models/{model_id}/lc
    GET datasets/{dataset_id}/models; DELETE models/{model_id}; GET deletion/{deletion_id}
    POST predict; POST detect; GET datasets/{dataset_id}/receipts; GET models/{model_id}/card
    """
    for row in (part.strip() for line in rows.split("\n") for part in line.split(";")):
        if row:
            method, path = row.split()
            assert method in module.app.routes[f"{VISION}/{path}"], row
