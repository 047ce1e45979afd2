"""Trains, exports and unpacks models for tests of the archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

from chalicelib.domain.models.model import Model, TrainRequest
from tests.builders import World
from tests.services.training.test_vision_engines import FILES


def vision_model(world: World, kind: str) -> Model:
    """Train on drawn images; an empty world gets a copy of a model trained before."""

    def train() -> Model:
        return world.model(world.pictures(FILES[kind](), kind), TrainRequest(epochs=2))

    return world.once(f"exported {kind}", train)


def unpacked(world: World, model: Model, kind: str, folder: Path) -> Path:
    """Export a model as `bundle` or `onnx`, and return the folder with its files."""
    made = world.container.model_exports.create(model, kind)
    world.work()
    export = world.container.model_exports.get(model, made.export_id)
    assert (export.status, export.message) == ("SUCCEEDED", "")
    [key] = world.objects(f"exports/{model.model_id}/")
    archive = folder / "model.zip"
    archive.write_bytes(world.stores.artifacts.get(key) or b"")
    with zipfile.ZipFile(archive) as found:
        found.extractall(folder / "model")
    return folder / "model"
