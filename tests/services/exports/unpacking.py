"""Exports models and unpacks them, for the tests of what is in them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from chalicelib.domain.models.model import Model
from tests.builders import World


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
