"""Imports of models through the gateway."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

from tests.api.prepared import MODEL_ID
from tests.flows.client import encode_multipart

URL = "/v2/language/models/import"


@pytest.fixture
def content(call, world, monkeypatch, tmp_path):
    """The archive of an export."""
    (tmp_path / "use").mkdir()
    (tmp_path / "use" / "model.onnx").write_bytes(b"a graph")
    monkeypatch.setattr(world.container.encoders, "_directory", Path(tmp_path))
    call.json("POST", f"/v2/language/models/{MODEL_ID}/exports")
    world.work()
    [key] = world.objects(f"exports/{MODEL_ID}/")
    return world.stores.artifacts.get(key)


def sent(call, content, url=URL, **more):
    """Send an archive."""
    kind, body = encode_multipart([("name", "theirs")], {"data": ("model.zip", content)})
    return call("POST", url, body, kind, **more)


def test_an_imported_model_predicts(call, world, content):
    """An imported model predicts and counts as a training; other calls say what is missing."""
    made = sent(call, content).json
    assert (made["object"], made["status"], made["datasetId"]) == ("model", "QUEUED", 0)
    assert made["modelType"] == "text-unknown"
    world.work()

    model = made["modelId"]
    found = call("GET", f"/v2/language/train/{model}").json
    assert (found["status"], found["datasetVersionId"]) == ("SUCCEEDED", 0), found
    assert found["modelType"] == "text-intent"
    ask = {"document": "refund please number 7"}
    assert (
        call.json("POST", "/v2/language/intent", modelId=model, **ask).json["probabilities"]
        == call.json("POST", "/v2/language/intent", modelId=MODEL_ID, **ask).json["probabilities"]
    )
    assert call("GET", f"/v2/language/models/{model}/evaluation").json["data"] == []
    assert "sha256" in call("GET", f"/v2/language/models/{model}/card").json["imported"]
    assert call("GET", f"/v2/language/models/{model}").json["metricsData"]["labels"]
    for url, fields in (
        ("/v2/language/retrain", {"modelId": model}),
        ("/v2/language/feedback", {"modelId": model, "expectedLabel": "refund", **ask}),
        (f"/v2/language/models/{model}/adjust", {"path": "https://example.com/a.csv"}),
        (f"/v2/language/models/{model}/compare", {"versions": [1, 2]}),
    ):
        answer = call.json("POST", url, **fields)
        assert (answer.status, "was imported" in answer.json["message"]) == (409, True), url
    assert call("DELETE", f"/v2/language/models/{model}").status == 200
    world.work()
    assert world.objects(f"models/{model}/") == []


def test_a_repeated_import_makes_one_model(call, world, content):
    """Repeating an import with the same idempotency key returns the same model."""
    first, second = (sent(call, content, idempotency_key="k-1") for _ in range(2))
    assert first.json["modelId"] == second.json["modelId"]
    assert second.headers["Idempotency-Replayed"] == "true"


def test_wrong_imports(call, content):
    """Missing fields are refused; a worker refuses invalid files and models of the other family."""
    text = sent(call, b"text,label")
    assert (text.status, "not a zip archive" in text.json["message"]) == (415, True)
    assert call.json("POST", URL, name="a").status == 400
    assert call.json("POST", URL, path="https://example.com/a.zip").status == 400


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("intent", {"document": "hello"}),
        ("sentiment", {"document": "hello"}),
        ("feedback", {"document": "hello", "expectedLabel": "a"}),
        ("batches", {"path": "https://example.com/a.csv"}),
        ("rankings", {"path": "https://example.com/a.csv", "count": 5}),
    ],
)
def test_calls_before_the_archive_is_read_are_conflicts(call, content, path, fields):
    """Until the archive is read, calls are a 409 and do not complain about the model's type."""
    made = sent(call, content).json
    answer = call.json("POST", f"/v2/language/{path}", modelId=made["modelId"], **fields)
    assert answer.status == 409, answer.json


def test_an_import_that_would_exceed_the_storage_is_refused(call, world, content, monkeypatch):
    """An import above the storage limit is a 413 that names a version to delete."""

    def send(limit: int):
        monkeypatch.setattr(world.stores.capacity, "_max_stored_bytes", limit)
        return sent(call, content)

    call.json("POST", "/v2/language/retrain", modelId=MODEL_ID)
    world.work()
    before = world.objects()
    refused = send(1)
    assert refused.status == 413
    stored, more = map(int, re.findall(r"(?:stores|adds about) (\d+)", refused.json["message"]))
    assert more == len(content)
    assert f"Delete version 1 of model {MODEL_ID}" in refused.json["message"]
    assert send(stored + more - 1).status == 413
    assert world.objects() == before
    assert send(stored + more).status == 200


def test_the_other_family_is_named(call, world, content):
    """A text model imported below /vision fails with the path that accepts it."""
    made = sent(call, content, "/v2/vision/models/import").json
    world.work()
    found = call("GET", f"/v2/vision/train/{made['modelId']}").json
    assert found["status"] == "FAILED"
    assert "Import it by /v2/language/models/import" in found["failureMsg"]


def test_an_empty_archive_fails(call, world):
    """An import of an archive without model files is FAILED with its cause."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", b"")
    made = sent(call, stream.getvalue()).json
    world.work()
    found = call("GET", f"/v2/language/train/{made['modelId']}").json
    assert (found["status"], "a.txt is not a file" in found["failureMsg"]) == ("FAILED", True)
