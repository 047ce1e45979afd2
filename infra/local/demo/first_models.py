"""Trains and asks the demo's two models, by the public interface alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.local.client import CallFailed, Service
from infra.local.environment import ROOT

SAMPLES = ROOT / "chalicelib" / "assets" / "samples"
QUESTION = "When will my parcel arrive?"
PICTURE = SAMPLES / "stop_sign.jpg"
UPLOAD_SECONDS, TRAINING_SECONDS = 120.0, 300.0
"""Longest waits for a sample and for its model, in seconds."""


@dataclass(frozen=True)
class DemoSample:
    """A shipped file to learn from."""

    family: str
    """`language` or `vision`."""
    type: str
    """Dataset type."""
    file: Path
    """What is uploaded."""
    question: str
    """What the model is asked, for people."""


TEXTS = DemoSample("language", "text-intent", SAMPLES / "shop_intents.csv", f'"{QUESTION}"')
PICTURES = DemoSample("vision", "image", SAMPLES / "road_signs.zip", PICTURE.name)


@dataclass(frozen=True)
class Trained:
    """A model of the demo."""

    dataset_id: str
    """Its data set."""
    model_id: str
    """The model."""


def train_first(service: Service, sample: DemoSample, progress: Callable[[str], None]) -> Trained:
    """Upload a sample and train it, unless a former start has, and ask the model.

    Raises:
        CallFailed: a call was refused or took too long.
    """
    base = f"/v2/{sample.family}"
    dataset_id = _former_dataset(service, base, sample) or _upload(service, base, sample, progress)
    model_id = _former_model(service, base, dataset_id) or _train(service, base, dataset_id, sample)
    progress(f"model {model_id}: trained")
    best = _ask(service, sample, model_id)["probabilities"][0]
    progress(f"{sample.question} is {best['label']} with probability {best['probability']:.3f}")
    return Trained(dataset_id, model_id)


def _former_dataset(service: Service, base: str, sample: DemoSample) -> str | None:
    found = service.get(f"{base}/datasets")["data"]
    wanted = (sample.file.stem, sample.type, True)
    same = (d for d in found if (d["name"], d["type"], d["available"]) == wanted)
    return next((str(dataset["id"]) for dataset in same), None)


def _former_model(service: Service, base: str, dataset_id: str) -> str | None:
    found = service.get(f"{base}/datasets/{dataset_id}/models")["data"]
    return next((str(m["modelId"]) for m in found if m["status"] == "SUCCEEDED"), None)


def _upload(
    service: Service, base: str, sample: DemoSample, progress: Callable[[str], None]
) -> str:
    """Upload a sample and return its data set."""
    fields = {"type": sample.type, "name": sample.file.stem}
    dataset_id = str(service.post(f"{base}/datasets/upload", fields, sample.file)["id"])
    dataset = service.wait(f"{base}/datasets/{dataset_id}", _is_uploaded, UPLOAD_SECONDS)
    if dataset["statusMsg"] != "SUCCEEDED":
        raise CallFailed(f"the upload of {sample.file.name}: {dataset['statusMsg']}")
    progress(f"data set {dataset_id}: {dataset['totalExamples']} examples of {sample.file.name}")
    return dataset_id


def _train(service: Service, base: str, dataset_id: str, sample: DemoSample) -> str:
    """Train a data set and return the model."""
    request = {"name": sample.file.stem, "datasetId": dataset_id}
    model_id = str(service.post(f"{base}/train", request)["modelId"])
    status = service.wait(f"{base}/train/{model_id}", _is_trained, TRAINING_SECONDS)
    if status["status"] != "SUCCEEDED":
        raise CallFailed(f"the training: {status.get('failureMsg', status['status'])}")
    return model_id


def _ask(service: Service, sample: DemoSample, model_id: str) -> dict[str, Any]:
    fields = {"modelId": model_id}
    if sample.family == "vision":
        return service.post("/v2/vision/predict", fields, PICTURE, part="sampleContent")
    return service.post("/v2/language/intent", {**fields, "document": QUESTION})


def _is_uploaded(dataset: dict[str, Any]) -> bool:
    return str(dataset["statusMsg"]) != "UPLOADING"


def _is_trained(status: dict[str, Any]) -> bool:
    return status["status"] not in ("QUEUED", "RUNNING")
