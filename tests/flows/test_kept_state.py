"""This version opens the data of earlier versions and restores their backups.

How the archives were made, and how to make another: tests/flows/kept_state.py. `make test-update`
names one that version 0.2.0 has just written by PRESAGE_KEPT_STATE; it is opened and restored.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.client import Client
from tests.flows.kept_state import ANSWERS, DUMP, KEY_FILE, STATE, lasting, sign_in
from tests.local_stack import LocalStack

TOLERANCE = 1e-6
"""Largest difference of two probabilities that are the same."""

GIVEN = os.environ.get("PRESAGE_KEPT_STATE")
ARCHIVES = (
    [(Path(GIVEN), STATE), (Path(GIVEN), DUMP)]
    if GIVEN
    else [
        (path, STATE)
        for path in sorted((Path(__file__).parents[1] / "data").glob("state_of_*.zip"))
    ]
)
"""Each archive with the folder that is opened: the state itself, or a backup."""
ENVIRONMENT = {"PRESAGE_SWEEP_SECONDS": "1", "PRESAGE_NICENESS": "0"}
USAGE = "/v2/apiusage"


class Kept:
    """A stack of this version on the data of an earlier one."""

    def __init__(self, stack: LocalStack, archive: Path) -> None:
        self.stack = stack
        with zipfile.ZipFile(archive) as packed:
            self.answers: dict[str, Any] = json.loads(packed.read(ANSWERS))
            private_pem = packed.read(KEY_FILE).decode("ascii")
        self.client: Client = sign_in(stack.url, private_pem)


@pytest.fixture(
    scope="module", params=ARCHIVES, ids=[f"{path.stem}-{folder}" for path, folder in ARCHIVES]
)
def kept(request: pytest.FixtureRequest, closed_network: None) -> Iterator[Kept]:
    """A stack started on an archived state folder, or restored from its backup."""
    archive, folder = request.param
    stack = LocalStack(arguments=("--bare",), environment=ENVIRONMENT)
    assert stack.state.folder.name == STATE
    with zipfile.ZipFile(archive) as packed:
        inside = [name for name in packed.namelist() if name.startswith(f"{folder}/")]
        packed.extractall(stack.state.folder.parent, inside)
    with stack:
        if folder == DUMP:
            command = [sys.executable, "-m", "infra.backup", "restore"]
            place = str(stack.state.folder.parent / DUMP)
            subprocess.run([*command, place], env=stack.given, check=True)
        made = Kept(stack, archive)
        yield made
        made.client.close()


def differing(kept: Kept) -> dict[str, tuple[Any, Any]]:
    """Return records that differ from the recorded ones, with both values."""
    recorded = {path: was for path, was in kept.answers["paths"].items() if path != USAGE}
    now = {path: lasting(kept.client.get(path)) for path in recorded}
    return {
        path: (recorded[path], answer)
        for path, answer in now.items()
        if without_new_members(answer, recorded[path]) != recorded[path]
    }


def without_new_members(answer: Any, recorded: Any) -> Any:
    """Remove the members that were added to records since the recording."""
    if isinstance(answer, dict) and isinstance(recorded, dict):
        known = answer.keys() & recorded.keys()
        return {name: without_new_members(answer[name], recorded[name]) for name in known}
    if isinstance(answer, list) and isinstance(recorded, list) and len(answer) == len(recorded):
        return [*map(without_new_members, answer, recorded)]
    return answer


def nearly_equal(answer: Any, recorded: Any) -> bool:
    """Return whether two JSON values are equal, with fractions to six digits."""
    if isinstance(answer, dict) and isinstance(recorded, dict):
        same = answer.keys() == recorded.keys()
        return same and all(nearly_equal(answer[key], recorded[key]) for key in answer)
    if isinstance(answer, list) and isinstance(recorded, list):
        same = len(answer) == len(recorded)
        return same and all(map(nearly_equal, answer, recorded))
    if isinstance(answer, float) and isinstance(recorded, float):
        return abs(answer - recorded) <= TOLERANCE
    return bool(answer == recorded)


def test_every_record_is_the_same(kept: Kept) -> None:
    """Records of datasets, examples, trainings, metrics and deletions equal the recorded ones.

    A deletion runs once more after data was brought back, so its record is waited for.
    """
    kept.client.wait_deletion(kept.answers["deletion"])

    assert differing(kept) == {}


def test_models_predict_the_same(kept: Kept) -> None:
    """Predictions equal the recorded ones, up to rounding by the processor."""
    for prediction in kept.answers["predictions"]:
        answer = kept.client.json("POST", prediction["path"], prediction["fields"])

        assert nearly_equal(lasting(answer), prediction["answer"])


def test_usage_is_counted_on(kept: Kept) -> None:
    """Predictions recorded in a month are still counted for it."""
    said = kept.answers["paths"][USAGE]["data"]["data"][0]
    period = f"predictions#{said['startsAt'][:7]}"
    table = f"{kept.stack.settings.name}-quotas"
    key = {"account_id": {"S": said["organizationId"]}, "period": {"S": period}}

    row = kept.stack.client("dynamodb").get_item(TableName=table, Key=key)["Item"]

    assert int(row["used"]["N"]) >= said["predictionsUsed"] > 0


def test_models_are_trained_again(kept: Kept) -> None:
    """Retraining on the stored examples and feedback gives the same answers.

    Texts are trained with the encoders of today and multi-label heads on both vectors, so their
    probabilities differ; detectors from proposals, whose boxes after three scenes may be others.
    """
    models = [training["fields"]["modelId"] for training in kept.answers["trainings"]]
    for training in kept.answers["trainings"]:
        assert kept.client.json("POST", training["path"], training["fields"]).ok
    for model in models:
        assert kept.client.wait_model(model)["status"] == "SUCCEEDED"

    for prediction in kept.answers["predictions"]:
        answer = lasting(kept.client.json("POST", prediction["path"], prediction["fields"]))
        training = f"/v2/vision/train/{prediction['fields']['modelId']}"
        kind = kept.client.get(training).ok["modelType"]
        if kind == "image":
            assert nearly_equal(answer, prediction["answer"])
        elif kind == "image-detection":
            assert answer["status"] == 200
        else:
            assert first_label(answer) == first_label(prediction["answer"])


def first_label(answer: Any) -> str:
    """Return the most probable label of an answer."""
    return str(answer["data"]["probabilities"][0]["label"])
