"""A training of minutes yields to one of seconds; long, run by `make turns`."""

from __future__ import annotations

import time

from tests.flows.client import VISION
from tests.flows.pictures import fruit_scenes, scenes_zip
from tests.flows.world import World, csv_file, made_rows


def test_short_training_does_not_wait_for_a_long_detection(world: World) -> None:
    """A short training ends in 45 s although a long detection training runs, which continues."""
    patient, hasty = world.photographer(), world.caller("GOLD")
    scenes = patient.dataset(
        scenes_zip(fruit_scenes(40, seed=3)), file_name="s.zip", type="image-detection"
    )
    texts = hasty.dataset(csv_file(made_rows(2_000)))
    long = patient.train(scenes["id"], epochs=200)["modelId"]
    patient.wait(f"{VISION}/train/{long}", lambda t: t["status"] == "RUNNING", 60)
    began = time.monotonic()
    assert hasty.wait_model(hasty.train(texts["id"])["modelId"])["status"] == "SUCCEEDED"

    assert time.monotonic() - began <= 45
    assert patient.get(f"{VISION}/train/{long}").ok["status"] == "RUNNING"
    assert patient.wait_model(long, 2_400)["status"] == "SUCCEEDED"
