"""An exported model is imported into a second installation, with other processes and data."""

from __future__ import annotations

from pathlib import Path

from tests.flows.client import Client, opened
from tests.flows.pictures import fruit_scenes
from tests.flows.world import World
from tests.local_stack import LocalStack

TEXTS = ["is it going to rain?", "how hot is it", "x", "🙂 🙂", "the weather is fine. " * 90]


def export(client: Client, model: str) -> bytes:
    """Export a model and download the archive."""
    path = f"{client.base}/models/{model}/exports"
    made = client.json("POST", path, {}).ok
    is_over = ("SUCCEEDED", "FAILED")
    record = client.wait(f"{path}/{made['id']}", lambda one: one["status"] in is_over, 240)[-1]
    with opened(record["url"]) as answer:
        content: bytes = answer.read()
    return content


def import_model(client: Client, content: bytes) -> str:
    """Import an archive and return the id of the model, which must succeed."""
    path, files = f"{client.base}/models/import", {"data": ("model.zip", content)}
    model = str(client.multipart("POST", path, {"name": "theirs"}, files).ok["modelId"])
    ended = client.wait_model(model)
    assert ended["status"] == "SUCCEEDED", ended
    return model


def test_a_second_installation_answers_equally(
    shipped_stack: LocalStack,
    owner: Client,
    weather_model: str,
    gallery: Client,
    tables_model: str,
    tmp_path: Path,
) -> None:
    """Text and image models give bit-identical probabilities in a second installation."""
    there = World(shipped_stack, tmp_path)
    reader = there.caller("GOLD")
    imported = import_model(reader, export(owner, weather_model))
    for text in TEXTS:
        found = reader.predict(imported, text).ok["probabilities"]
        assert found == owner.predict(weather_model, text).ok["probabilities"], text
    viewer = there.photographer()
    imported = import_model(viewer, export(gallery, tables_model))
    for _, scene, _ in fruit_scenes(3, seed=9):
        found, expected = (
            client.picture(model, scene, "detect").ok["probabilities"]
            for client, model in ((viewer, imported), (gallery, tables_model))
        )
        assert found == expected
    there.close()
