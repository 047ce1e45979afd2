"""Exports of models through the gateway."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from chalicelib.domain.jobs.export import MAX_KEPT_MODELS
from tests.api.prepared import BOX_MODEL_ID, DATASET_ID, IMAGE_MODEL_ID, MODEL_ID
from tests.builders import some_rows

URL = f"/v2/language/models/{MODEL_ID}/exports"


@pytest.fixture(autouse=True)
def encoder_files(world, monkeypatch, tmp_path):
    """Give the encoder's test double a file."""
    (tmp_path / "use").mkdir()
    (tmp_path / "use" / "model.onnx").write_bytes(b"a graph")
    monkeypatch.setattr(world.container.encoders, "_directory", Path(tmp_path))


def exported(world, made):
    """Return the archive of an export."""
    [key] = world.objects(f"exports/{made['modelId']}/{made['id']}-")
    return zipfile.ZipFile(io.BytesIO(world.stores.artifacts.get(key)))


def test_an_export_has_all_parts_of_the_model(call, world):
    """An archive has labels, head, encoder and golden answers that equal the service's answers."""
    made = call.json("POST", URL).json
    assert list(made) == [
        "id", "modelId", "modelVersion", "format", "status", "createdAt", "updatedAt",
        "expiresAt", "object",
    ]  # fmt: skip
    assert (made["status"], made["modelVersion"], made["format"]) == ("QUEUED", 1, "bundle")
    world.work()

    found = call("GET", f"{URL}/{made['id']}").json
    assert found["status"] == "SUCCEEDED", found
    assert f"model-{MODEL_ID}-1.zip" in found["url"]
    archive = exported(world, made)
    manifest = json.loads(archive.read("model.json"))
    assert manifest["labels"] == ["refund", "delivery"]
    assert manifest["files"].keys() | {"model.json"} == set(archive.namelist())
    for name, facts in manifest["files"].items():
        content = archive.read(name)
        assert facts == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    for golden in json.loads(archive.read("golden/golden.json"))[:3]:
        body = {"modelId": MODEL_ID, "document": golden["text"], "numResults": 1_000}
        assert call.json("POST", "/v2/language/intent", **body).json["probabilities"] == [
            {"label": one["label"], "probability": pytest.approx(one["probability"], abs=1e-6)}
            for one in golden["answer"]
        ]


def test_an_export_holds_no_data_of_the_dataset(call, world):
    """An export contains no text of the dataset, and its card has no dataset id."""
    made = call.json("POST", URL).json
    world.work()
    archive = exported(world, made)
    texts = [text for text, _ in some_rows({"refund": 6, "delivery": 6})]

    written = b"".join(archive.read(name) for name in archive.namelist()).decode("utf-8", "ignore")
    assert not [text for text in texts if text in written]
    card = json.loads(archive.read("card.json"))
    assert "datasetId" not in card["trainedOn"]


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({"format": "csv"}, 400, "'format'"),
        ({"format": "onnx", "modelVersion": 9}, 404, "Kept versions: 1."),
        ({"modelVersion": 0}, 400, "'modelVersion'"),
        ({"modelVersion": 9}, 404, "Kept versions: 1."),
    ],
)
def test_wrong_exports(call, fields, status, text):
    """An invalid field is a 400 that names it, a deleted version a 404."""
    answer = call.json("POST", URL, **fields)

    assert (answer.status, text in answer.json["message"]) == (status, True), answer.text


def test_a_model_that_never_succeeded(call):
    """Exporting a model before its first successful training is a 409."""
    body = {"name": "new", "datasetId": DATASET_ID}
    made = call.json("POST", "/v2/language/train", **body).json["modelId"]

    for kind in ("bundle", "onnx"):
        answer = call.json("POST", f"/v2/language/models/{made}/exports", format=kind)
        assert (answer.status, made in answer.json["message"]) == (409, True), answer.text


def test_detection_is_no_graph(call):
    """A detection model cannot be exported as onnx; the error names the format that works."""
    url = f"/v2/vision/models/{BOX_MODEL_ID}/exports"
    answer = call.json("POST", url, format="onnx")

    assert (answer.status, "Send 'bundle'" in answer.json["message"]) == (400, True), answer.text


def test_a_network_that_is_no_graph_ends_the_export(call, world):
    """If the installed network cannot be written as onnx, the export fails with the remedy."""
    made = call.json("POST", URL, format="onnx").json
    world.work()
    found = call("GET", f"{URL}/{made['id']}").json

    assert (found["format"], found["status"]) == ("onnx", "FAILED")
    assert "Install them again" in found["failureMsg"]


def test_unknown_exports(call):
    """Unknown ids, exports of other models, and prebuilt models are a 404."""
    made = call.json("POST", URL).json["id"]

    for url in (f"{URL}/{'A' * 26}", f"/v2/vision/models/{IMAGE_MODEL_ID}/exports/{made}"):
        assert call("GET", url).status == 404
    answer = call.json("POST", "/v2/language/models/GlobalIntentModel/exports")
    assert (answer.status, "prebuilt" in answer.json["message"]) == (404, True)


def test_an_account_has_five_exports_of_models(call):
    """The sixth model export is refused until one expires; dataset exports do not count."""
    for _ in range(MAX_KEPT_MODELS):
        assert call.json("POST", URL).status == 200
    answer = call.json("POST", URL)

    assert answer.status == 429
    assert "at most 5 are allowed" in answer.json["message"]


def test_a_version_of_an_export_is_kept_until_it_is_written(call, world):
    """A version cannot be deleted while an unfinished export uses it."""
    call.json("POST", "/v2/language/retrain", modelId=MODEL_ID)
    world.work()
    call.json("POST", URL, modelVersion=1)
    version = f"/v2/language/models/{MODEL_ID}/versions/1"

    answer = call("DELETE", version)
    assert (answer.status, "An export uses version 1" in answer.json["message"]) == (409, True)
    world.work()
    assert call("DELETE", version).status == 200


def test_deletion_of_the_model_ends_its_exports(call, world):
    """Deleting a model deletes its open and finished exports."""
    done = call.json("POST", URL).json
    world.work()
    call.json("POST", URL)
    call("DELETE", f"/v2/language/models/{MODEL_ID}")
    world.work()

    assert call("GET", f"{URL}/{done['id']}").status == 404
    assert world.objects(f"exports/{MODEL_ID}/") == []
    assert world.stores.exports.of_account(world.account.account_id) == []
