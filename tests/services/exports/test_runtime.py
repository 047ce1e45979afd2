"""The runtime package, in another process, gives the answers of the service.

PRESAGE_RUNTIME_PYTHON names the Python of an environment with the package; by default the tests'
own runs the files of the wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import Model, ServedModel, TrainRequest
from chalicelib.domain.models.prediction import PredictionOptions, as_json
from chalicelib.engines.text.encoding.encoders import WORDS
from chalicelib.engines.text.encoding.profiles import Profile, ProfileRequest
from chalicelib.errors import InvalidParameter
from infra.packaging.reachable import write_runtime
from tests.builders import World, some_rows
from tests.full_size import size
from tests.pictures import label_folders
from tests.services.exports.unpacking import (
    picture_files,
    some_texts,
    unpacked,
    vision_model,
)
from tests.services.training.test_vision_engines import FILES

ROOT = Path(__file__).parents[3]
PYTHON = os.environ.get("PRESAGE_RUNTIME_PYTHON", sys.executable)
TEXTS = [
    "refund please number 7",
    "positive please number 3",
    "",
    "🙂 " * 3,
    "the weather is fine. " * 90,
    *some_texts(size(0, 995)),
]
# Prints what the model answers to each line of the input, and what was imported.
ASK = """
import json, sys
from presage_runtime import load
from presage_runtime.bundle import as_json
model = load(sys.argv[1])
for sample in json.load(sys.stdin):
    print(json.dumps([as_json(one) for one in model.predict(sample)]))
assert not [name for name in sys.modules if name.startswith(("chalicelib", "botocore"))]
assert ("PIL" in sys.modules) == (model.facts["family"] == "vision")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of the runtime package as in its wheel; nothing if it is installed."""
    folder = tmp_path_factory.mktemp("runtime")
    if sys.executable == PYTHON:
        write_runtime(ROOT, ROOT / "deploy/runtime/presage_runtime", folder / "presage_runtime")
    return folder


def run(package: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python where only the runtime and the installed packages can be imported."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    command = [PYTHON, *arguments]
    return subprocess.run(
        command, input=text, cwd=package, env=environment, capture_output=True, text=True
    )


def answered(world: World, model: Model, samples: Sequence[Any]) -> list[list[dict[str, Any]]]:
    """Return what the service answers, as JSON."""
    served = ServedModel(model.model_id, model.type, model.status, model.version)
    options = PredictionOptions(count=1_000)
    if model.family == "language":
        found: Any = world.container.predictions.predict(
            served, samples, dataset_type=model.type, options=options
        )
    else:
        contents = [Sample(content=Path(sample).read_bytes()) for sample in samples]
        found = world.container.picture_predictions.predict(
            served, contents, types=(model.type,), options=options
        )
    return [[as_json(one) for one in prediction.items] for prediction in found]


def check(world: World, package: Path, model: Model, samples: Sequence[Any], folder: Path) -> Path:
    """Verify a model and compare its answers with the service's, bit for bit."""
    place = unpacked(world, model, "bundle", folder)
    verified = run(package, "-m", "presage_runtime.command", "verify", str(place))
    assert verified.returncode == 0, verified.stdout + verified.stderr
    asked = run(package, "-c", ASK, str(place), text=json.dumps(list(map(str, samples))))
    assert asked.returncode == 0, asked.stderr
    found = [json.loads(line) for line in asked.stdout.splitlines()]
    assert found == answered(world, model, samples)
    assert any(found)
    assert answered(world, imported(world, model, folder), samples[:100]) == found[:100]
    return place


def imported(world: World, model: Model, folder: Path) -> Model:
    """Import the archive of an export into another account."""
    other = world.new_account("other@example.com")
    source = UploadSource(content=(folder / "model.zip").read_bytes(), file_name="model.zip")
    made = world.container.imports.request(other, model.family, source, "theirs")
    world.work()
    found = world.container.models.get(other.account_id, made.model_id)
    assert (found.status, found.failure, found.type) == ("SUCCEEDED", "", model.type)
    return found


def text_model(world: World, kind: str, params: dict[str, object] | None) -> Model:
    """Train on texts with the installed encoders."""
    world.container.encoders._encoders.clear()
    names = ("negative", "positive") if kind == "text-sentiment" else ("refund", "delivery")
    rows = [*some_rows(dict.fromkeys(names, 20)), ("words of a long text, again. " * 60, names[0])]
    view = world.dataset(rows, fields=UploadFields("texts", kind))
    model = world.model(view, TrainRequest(epochs=3, params=params))
    assert (model.status, model.failure) == ("SUCCEEDED", "")
    return model


@pytest.mark.parametrize(
    ("kind", "params"),
    [("text-intent", {"outOfDomainRate": 0.05}), ("text-intent", None), ("text-sentiment", None)],
)
def test_texts_are_answered_alike(
    world: World, package: Path, tmp_path: Path, kind: str, params: dict[str, object] | None
) -> None:
    """Short, long and empty texts get equal answers, with and without rejection, for both types."""
    place = check(world, package, text_model(world, kind, params), TEXTS, tmp_path)

    command = ("-m", "presage_runtime.command", "predict", str(place))
    shown = run(package, *command, "-", "--count", "1", text="\ufeffa refund\u2028\r\na delivery\n")
    assert [len(json.loads(line)) <= 1 for line in shown.stdout.splitlines()] == [True, True]
    refused = run(package, *command, str(place / "head.npz"))
    assert (refused.returncode, "no text in UTF-8" in refused.stderr) == (1, True)


def test_a_model_of_spelling_is_answered_alike(
    world: World, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runtime package includes the encoder of spelling, which has no files and no graph."""
    spelled = Profile("fast", ("bge", WORDS))
    monkeypatch.setattr(ProfileRequest, "profile", lambda request, name, reason="": spelled)
    model = text_model(world, "text-intent", {"outOfDomainRate": 0.05})

    place = check(world, package, model, TEXTS, tmp_path)

    assert [path.name for path in (place / "encoders").iterdir()] == ["bge"]
    with pytest.raises(InvalidParameter, match="the spelling of words"):
        unpacked(world, model, "onnx", tmp_path)


@pytest.mark.parametrize("kind", list(FILES))
def test_images_are_answered_alike(world: World, package: Path, tmp_path: Path, kind: str) -> None:
    """PNG and JPEG get equal answers from single-label, multi-label and detection models."""
    model = vision_model(world, kind)
    check(world, package, model, picture_files(tmp_path, size(4, 1_000)), tmp_path)


def test_damage_is_reported(world: World, package: Path, tmp_path: Path) -> None:
    """A changed or missing file is named, and the command exits with status 1."""
    model = world.model(world.pictures(label_folders({"red": 4, "blue": 4})))
    place = unpacked(world, model, "bundle", tmp_path)
    card = place / "card.json"
    card.write_text(card.read_text() + " ")

    changed = run(package, "-m", "presage_runtime.command", "verify", str(place))
    assert (changed.returncode, "card.json was changed" in changed.stderr) == (1, True)
    card.unlink()
    missing = run(package, "-m", "presage_runtime.command", "verify", str(place))
    assert (missing.returncode, "lacks card.json" in missing.stderr) == (1, True)
