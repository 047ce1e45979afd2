"""Trains, exports and unpacks models for tests of the archives, and makes their inputs."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from chalicelib.domain.models.model import Model, TrainRequest
from tests.builders import World
from tests.pictures import draw
from tests.services.training.test_vision_engines import FILES

NAMES = (
    "refund",
    "delivery",
    "invoice",
    "login",
    "address",
    "voucher",
    "size",
    "color",
    "warranty",
)
OTHERS = ("please", "where", "number", "my", "when", "the", "café", "🙂", "not", "today", "yes")


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


def picture_files(folder: Path, count: int) -> list[Path]:
    """Write PNG and JPEG files of several sizes: shapes as those trained on, and noise."""
    draws, files = np.random.default_rng(3), []
    for number in range(count):
        file = folder / f"{number}.{('png', 'jpeg')[number % 2]}"
        width, height = draws.integers(90, 600 if number < 100 else 300, 2).tolist()
        shape, color = ("circle", "square")[number // 2 % 2], ("red", "blue")[number // 4 % 2]
        if number % 3:
            kind = file.suffix[1:].upper()
            file.write_bytes(draw(shape, color, (width, height), salt=number, kind=kind))
        else:
            Image.fromarray(draws.integers(0, 256, (height, width, 3), np.uint8)).save(file)
        files.append(file)
    return files


def some_texts(count: int) -> list[str]:
    """Return short texts: like the training texts, and of other words."""
    draws = random.Random(4)
    words = [*NAMES, *OTHERS]
    texts = []
    for number in range(count):
        if number % 2:
            texts.append(f"{draws.choice(NAMES)} please number {number}")
        else:
            texts.append(" ".join(draws.choices(words, k=draws.randint(1, 12))))
    return texts
