"""Exported ONNX models answer as the service, using the code of their README."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import Model, ServedModel, TrainRequest
from chalicelib.domain.models.prediction import PredictionOptions
from chalicelib.errors import InvalidParameter
from chalicelib.services.datasets.datasets import NewDataset
from tests.builders import World, some_rows
from tests.full_size import size
from tests.services.exports.unpacking import (
    NAMES,
    picture_files,
    some_texts,
    unpacked,
    vision_model,
)

TEXT_COUNT, IMAGE_COUNT = size(24, 1_000), size(4, 1_000)

# Prints what the graph answers to each input.
ASK = """
import sys
for sample in json.load(sys.stdin):
    print(json.dumps([one[0].tolist() for one in predict(sample)]))
"""


def exported(world: World, model: Model, folder: Path) -> Path:
    """Export a model as ONNX, unpack it, and check the graph."""
    place = unpacked(world, model, "onnx", folder)
    onnx.checker.check_model(str(place / "model.onnx"), full_check=True)
    return place


def asked(place: Path, samples: Sequence[str]) -> list[list[Any]]:
    """Run the README's code in another process, and return the outputs of the graph."""
    [code] = re.findall(r"```python\n(.*?)```", (place / "README.md").read_text(), re.S)
    found = subprocess.run(
        [sys.executable, "-c", code + ASK],
        input=json.dumps(samples),
        cwd=place,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return [json.loads(line) for line in found.stdout.splitlines()]


def labels_of(place: Path) -> list[str]:
    """Return the labels of an exported model."""
    return list(json.loads((place / "model.json").read_text())["labels"])


def shares_of(items: Sequence[Any], labels: Sequence[str]) -> list[float]:
    """Return probabilities in the order of the labels."""
    found = {one.label: one.probability for one in items}
    return [found[label] for label in labels]


def text_model(
    world: World, params: dict[str, Any] | None, count: int = 12, **fields: Any
) -> Model:
    """Train on `count` texts of each label with the installed encoders."""
    world.container.encoders._encoders.clear()

    def train() -> Model:
        if count:
            rows = some_rows(dict.fromkeys(NAMES, count))
            view = world.dataset(rows, fields=UploadFields("texts", "text-intent", **fields))
        else:
            new = NewDataset("names", "text-intent", fields.get("language"), ",".join(NAMES))
            view = world.container.datasets.create(world.account, "language", new)
        model = world.model(view, TrainRequest(epochs=3, params=params))
        assert (model.status, model.failure) == ("SUCCEEDED", "")
        return model

    return world.once(f"graph {params} {count} {fields}", train)


@pytest.mark.parametrize(
    ("params", "fields"),
    [
        ({"outOfDomainRate": 0.05}, {}),
        ({"profile": "fast"}, {}),
        ({"profile": "balanced"}, {}),
        ({"profile": "fast"}, {"language": "de"}),
        # Trained from the names of the labels.
        ({"minimumExamples": 0}, {"count": 0}),
        ({"minimumExamples": 0, "outOfDomainRate": 0.05}, {"count": 0, "language": "de"}),
        ({"minimumExamples": 2, "outOfDomainRate": 0.05}, {"count": 2}),
        ({"minimumExamples": 4, "profile": "balanced"}, {"count": 4}),
    ],
)
def test_texts_are_answered_alike(
    world: World,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    params: dict[str, Any],
    fields: dict[str, Any],
) -> None:
    """Graph and service agree in probabilities, top label and rejection, with 1 or 2 encoders."""
    model = text_model(world, params, **fields)
    place, texts = exported(world, model, tmp_path), some_texts(TEXT_COUNT)
    labels = labels_of(place)
    served = ServedModel(model.model_id, model.type, model.status, model.version)
    answers = world.container.predictions.predict(
        served, texts, dataset_type=model.type, options=PredictionOptions(count=1_000)
    )
    differences, equal = [], []
    for answer, (shares, is_rejected) in zip(answers, asked(place, texts), strict=True):
        assert is_rejected == (not answer.items)
        if answer.items:
            expected = shares_of(answer.items, labels)
            differences.append(np.abs(np.subtract(shares, expected)).max())
            equal.append(np.argmax(shares) == np.argmax(expected))
    record_property("answers", f"{len(equal)} texts, differ by at most {max(differences):.2g}")
    assert max(differences) < 1e-4
    assert np.mean(equal) >= 0.999


@pytest.mark.parametrize("kind", ["image", "image-multi-label"])
def test_images_are_answered_alike(
    world: World, tmp_path: Path, record_property: Callable[[str, object], None], kind: str
) -> None:
    """Graph and service agree for PNG and JPEG files of several sizes."""
    model = vision_model(world, kind)
    place = exported(world, model, tmp_path)
    labels, files = labels_of(place), picture_files(tmp_path, IMAGE_COUNT)
    served = ServedModel(model.model_id, model.type, model.status, model.version)
    answers = world.container.picture_predictions.predict(
        served,
        [Sample(content=file.read_bytes()) for file in files],
        types=(model.type,),
        options=PredictionOptions(count=1_000),
    )
    found = [shares for [shares] in asked(place, list(map(str, files)))]
    expected = [shares_of(answer.items, labels) for answer in answers]
    largest = np.abs(np.subtract(found, expected)).max()
    record_property("answers", f"{len(found)} images, differ by at most {largest:.2g}")
    assert largest < 1e-4
    assert (np.argmax(found, axis=1) == np.argmax(expected, axis=1)).mean() >= 0.999


def test_models_that_are_no_graph_are_refused(world: World) -> None:
    """Detection and long-text models cannot be exported as ONNX; the error names another format."""
    boxes = vision_model(world, "image-detection")
    long = [(f"{name} is what I ask about. {'Some other words. ' * 60}{n}", name)
            for name in NAMES[:3] for n in range(30)]  # fmt: skip
    texts = world.model(world.dataset(long), TrainRequest(epochs=3))
    for model in (boxes, texts):
        with pytest.raises(InvalidParameter, match="Send 'bundle'"):
            world.container.model_exports.create(model, "onnx")
    assert world.stores.exports.of_account(world.account.account_id) == []


def test_the_archive_names_inputs_and_outputs(world: World, tmp_path: Path) -> None:
    """The manifest describes the graph; golden texts are short, and no other file is included."""
    folder = exported(world, text_model(world, {"profile": "fast"}), tmp_path)
    manifest = json.loads((folder / "model.json").read_text())
    graph = onnx.load(folder / "model.onnx").graph
    assert [one["name"] for one in manifest["graph"]["inputs"]] == [one.name for one in graph.input]
    assert [one["name"] for one in manifest["graph"]["outputs"]] == ["probabilities", "rejected"]
    assert manifest["format"] == "presage-onnx"
    assert {one.name for one in folder.iterdir()} == {
        "model.json", "model.onnx", "tokenizer.json", "golden", "README.md", "card.json",
        "licences",
    }  # fmt: skip
    golden = json.loads((folder / "golden" / "golden.json").read_text())
    assert max(len(one["text"].split()) for one in golden) <= 120
