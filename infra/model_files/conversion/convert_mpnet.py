"""Converts all-mpnet-base-v2 from its published weights into an 8-bit graph."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import IO

import numpy as np
import onnx

from chalicelib.domain.common.arrays import Singles
from infra.model_files.conversion import layer_names
from infra.model_files.conversion.quantise import quantise, quantise_by_block
from infra.model_files.conversion.transformer_graph import (
    FFN_OUTPUT,
    MAX_TOKENS,
    Shape,
    build_graph,
)
from infra.model_files.sources.safetensors import open_member, read_tensors

# Files of the packages that together form one zip archive.
SLICES = tuple(f"slice{number}" for number in range(1, 6))
_FOLDER = "all-mpnet-base-v2"
_SHAPE = Shape("mpnet", layers=12, heads=12, width=768, epsilon=1e-5, has_bias=True)
_FIRST_POSITION = 2  # positions count from the id of padding, 1, plus 1
_BUCKETS, _FARTHEST = 32, 128
# Layers with a few very large activations, which one scale for all of them would round away.
_OUTLIERS = range(6, 11)
_LAYER_PARTS = {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "attention_output": "attention.attn.o",
    "attention": "attention.LayerNorm",
    "ffn_input": "intermediate.dense",
    "ffn_output": "output.dense",
    "": "output.LayerNorm",
}


class MpnetWeights:
    """Returns the published weights by their names in the new graph; each can be read only once."""

    def __init__(self, tensors: dict[str, Singles]) -> None:
        # A weight is removed when it is read, because the graph and all weights would fill the
        # memory.
        self._tensors = tensors

    def __call__(self, name: str) -> Singles:
        """Return a weight in the layout of the new graph."""
        if name == "words":
            return self._tensors.pop("embeddings.word_embeddings.weight")
        if name == "positions":
            rows = self._tensors.pop("embeddings.position_embeddings.weight")
            return rows[_FIRST_POSITION : _FIRST_POSITION + MAX_TOKENS]
        if name == "distances":
            return distance_table(self._tensors.pop("encoder.relative_attention_bias.weight"))
        weight = layer_names.parse(name)
        module = weight.module("embeddings.LayerNorm", "encoder.layer.{}.", _LAYER_PARTS)
        return np.ascontiguousarray(self._tensors.pop(f"{module}.{weight.suffix}").T)


def distance_table(buckets: Singles) -> Singles:
    """Return the attention bias for token distances from -127 to 127, float32 (heads, 255).

    Args:
        buckets: bias by bucket of distances, float32 (32, heads).
    """
    distances = range(1 - MAX_TOKENS, MAX_TOKENS)
    return np.ascontiguousarray(buckets[[_bucket(distance) for distance in distances]].T)


def _bucket(distance: int) -> int:
    """Return the bucket of a token distance; large distances share buckets on a log scale."""
    half = _BUCKETS // 2
    side, apart, exact = half * (distance > 0), abs(distance), half // 2
    if apart < exact:
        return side + apart
    fraction = math.log(apart / exact) / math.log(_FARTHEST / exact)
    return side + min(half - 1, exact + int(fraction * (half - exact)))


def build(source: Path) -> onnx.ModelProto:
    """Build the graph in full precision from a folder with the slices of the model's zip archive.

    Raises:
        BrokenFile: the slices do not have the expected content.
    """
    with _open(source, "model.safetensors") as file:
        tensors = {name: values.astype(np.float32) for name, values in read_tensors(file)}
    return build_graph(_SHAPE, MpnetWeights(tensors))


def write_tokenizer(source: Path, target: Path) -> None:
    """Extract `tokenizer.json` from a folder with the slices of the model's zip archive.

    Raises:
        BrokenFile: the slices do not have the expected content.
    """
    with _open(source, "tokenizer.json") as file, (target / "tokenizer.json").open("wb") as output:
        shutil.copyfileobj(file, output)


def _open(source: Path, member: str) -> IO[bytes]:
    return open_member([source / name for name in SLICES], f"{_FOLDER}/{member}")


def write_quantised(model: onnx.ModelProto, target: Path) -> None:
    """Round the graph, in place, to 8 bits and write `model.onnx`."""
    quantise_by_block(model, [FFN_OUTPUT.format(number) for number in _OUTLIERS])
    quantise(model, target / "model.onnx", exclude=["pair_bias"])
