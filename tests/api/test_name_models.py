"""A model trained from label names: explanation, batch, ranking, export, versions."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def encoder_files(world, monkeypatch, tmp_path):
    """Give the encoder's test double a file."""
    (tmp_path / "bge").mkdir()
    (tmp_path / "bge" / "model.onnx").write_bytes(b"not an encoder")
    monkeypatch.setattr(world.container.encoders, "_directory", Path(tmp_path))


@pytest.mark.parametrize("rejects", [False, True])
def test_a_model_from_names_takes_part_everywhere(call, world, rejects):
    """A model trained from label names alone works in every call that reads a model."""
    made = call.json(
        "POST", "/v2/language/datasets", name="n", type="text-intent", labels="refund,late_parcel"
    ).json
    params = {"minimumExamples": 0, **({"outOfDomainRate": 0.05} if rejects else {})}
    body = {"name": "n", "datasetId": made["id"], "trainParams": params, "algorithm": "intent"}
    model = call.json("POST", "/v2/language/train", **body).json["modelId"]
    world.work()
    assert call("GET", f"/v2/language/train/{model}").json["status"] == "SUCCEEDED"

    asked = {"modelId": model, "document": "give my money back", "explain": True}
    answer = call.json("POST", "/v2/language/intent", **asked)
    assert answer.status == 200
    assert answer.json["explanation"]

    texts = "\n".join(f"my parcel {number} is late" for number in range(30))
    file, field = ("data", f"text\n{texts}\n".encode(), "t.csv"), ("modelId", model.encode(), None)
    jobs = [
        call.form("POST", f"/v2/language/{kind}", file, field) for kind in ("batches", "rankings")
    ]
    exported = call.json("POST", f"/v2/language/models/{model}/exports").json
    world.work()
    for made in jobs:
        found = call("GET", f"/v2/language/batches/{made.json['id']}").json
        assert found["status"] == "SUCCEEDED", found
    found = call("GET", f"/v2/language/models/{model}/exports/{exported['id']}").json
    assert found["status"] == "SUCCEEDED", found

    call.json("POST", "/v2/language/retrain", modelId=model, trainParams=params)
    world.work()
    versions = call("GET", f"/v2/language/models/{model}/versions").json["data"]
    assert len(versions) == 2
    assert "accuracy is unknown" in call("GET", f"/v2/language/models/{model}/card").json["limits"]
