"""Puts fine-tuned layers, which lie in the project, into the graph of an installed encoder.

The layers are those that `python -m infra.finetuning` writes: already in 8 bits, under the names of
the graph's constants.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from chalicelib.domain.common.arrays import Array, Singles
from chalicelib.engines import artifact
from chalicelib.engines.artifact import ArtifactError
from infra.model_files.emoji import reading_emoji
from infra.model_files.errors import BrokenFile

FOLDER = Path(__file__).with_name("finetuned")
FIGURES_FILE = FOLDER / "sentiment.json"
"""Digest, figures and reference answers of the layers; also decides when to install anew."""
LAYERS_FILE = FOLDER / "sentiment.npz"
KIND, VERSION = "encoder-layers", 1


@dataclass(frozen=True)
class TunedLayers:
    """What was learnt."""

    constants: Mapping[str, Array]
    """Constants of the graph by name."""
    head: Singles
    """Weights for vectors of length 1, float32, shape (dimensions, labels)."""
    biases: Singles
    """Float32, shape (labels,)."""


def dump_layers(layers: TunedLayers) -> bytes:
    """Write layers; the same layers give the same bytes."""
    arrays = {**layers.constants, "head": layers.head, "biases": layers.biases}
    return artifact.dump({"kind": KIND, "version": VERSION}, arrays)


def read_figures(path: Path = FIGURES_FILE) -> dict[str, Any]:
    """Return what is known of the layers.

    Raises:
        BrokenFile: the file is missing or damaged.
    """
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BrokenFile(f"{path} cannot be read: {error}. Check the project out again.") from error
    return figures


def read_layers(path: Path = LAYERS_FILE, figures: Path = FIGURES_FILE) -> TunedLayers:
    """Read the layers and compare their digest.

    Raises:
        BrokenFile: a file is missing, damaged or not the one whose figures are known.
    """
    wanted = read_figures(figures)["sha256"]
    try:
        content = path.read_bytes()
        arrays = artifact.load(content, KIND, VERSION).arrays
    except (OSError, ArtifactError) as error:
        raise BrokenFile(f"{path} cannot be read: {error}. Check the project out again.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        raise BrokenFile(
            f"{path} has the sha256 {found}, not {wanted}. Check the project out again."
        )
    head = arrays.pop("head").astype(np.float32)
    return TunedLayers(arrays, head, arrays.pop("biases").astype(np.float32))


def compose(base: Path, layers: TunedLayers, result: Path) -> None:
    """Write `model.onnx` and `tokenizer.json`.

    Args:
        base: folder of the installed encoder that the layers were tuned on.
        layers: what takes the place of the encoder's own.
        result: existing folder to write to.

    Raises:
        BrokenFile: the encoder has other layers.
    """
    model = onnx.load(str(base / "model.onnx"))
    todo = dict(layers.constants)
    for constant in model.graph.initializer:
        own = todo.pop(constant.name, None)
        if own is None:
            continue
        new = numpy_helper.from_array(own, constant.name)
        if (new.data_type, new.dims) != (constant.data_type, constant.dims):
            raise BrokenFile(f"{constant.name} of {base} has another type or shape than was tuned.")
        constant.CopyFrom(new)
    if todo:
        raise BrokenFile(f"{base} lacks {', '.join(sorted(todo))}, which was tuned.")
    (result / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    tokenizer = json.loads((base / "tokenizer.json").read_text(encoding="utf-8"))
    text = json.dumps(reading_emoji(tokenizer), ensure_ascii=False)
    (result / "tokenizer.json").write_text(text, encoding="utf-8")
