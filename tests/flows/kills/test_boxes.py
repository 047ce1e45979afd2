"""The training worker is killed during a detection training; the model stays the same."""

from __future__ import annotations

import time

import pytest

from tests.flows.client import OPEN, VISION
from tests.flows.kills.killing import IS_LONG, kill
from tests.pictures import detection_files, make_zip

PATIENCE = 240.0
"""Longest wait for a training that was killed, in seconds."""
EPOCHS = 3
PICTURES = 4


@pytest.fixture(scope="module")
def caller(world):
    """A caller of the calls below /vision."""
    return world.photographer()


def trained(caller):
    """Upload images with boxes and request a training; return the model's id."""
    content = make_zip(detection_files(PICTURES, ("circle",)))
    made = caller.dataset(content, file_name="scenes.zip", type="image-detection")
    return caller.train(made["id"], epochs=EPOCHS)["modelId"]


def watch(caller, model_id, is_over):
    """Poll a training and its curve until a condition holds; neither may go back."""
    deadline, progress, epochs = time.monotonic() + PATIENCE, [], []
    while True:
        state = caller.get(f"{VISION}/train/{model_id}").ok
        progress.append(state["progress"])
        epochs.append(len(caller.items(f"{VISION}/models/{model_id}/lc")))
        assert progress == sorted(progress)
        assert epochs == sorted(epochs)
        if is_over(state, epochs[-1]):
            return state
        assert time.monotonic() < deadline, state
        time.sleep(0.05)


def finished(caller, model_id):
    """Wait for a training's end; return the digest of its model."""
    state = watch(caller, model_id, lambda state, _: state["status"] not in OPEN)
    assert state["status"] == "SUCCEEDED", state
    assert state["trainStats"]["lastEpochDone"] == EPOCHS
    curve = caller.items(f"{VISION}/models/{model_id}/lc")
    assert [record["epoch"] for record in curve] == list(range(1, EPOCHS + 1))
    return caller.get(f"{VISION}/models/{model_id}/card").ok["artifactSha256"]


@pytest.fixture(scope="module")
def reference(caller):
    """Digest of the model of an undisturbed training."""
    return finished(caller, trained(caller))


@pytest.mark.parametrize("epochs", [0, 1] if IS_LONG else [1])
def test_killed_training_is_finished(stack, caller, reference, epochs):
    """Killed before or during its epochs, a training ends with the same model, bit for bit."""
    model_id = trained(caller)
    watch(caller, model_id, lambda s, seen: s["status"] != "QUEUED" and seen >= epochs)
    kill(stack, "train")

    assert finished(caller, model_id) == reference
