"""Converts bge-small-en-v1.5 from the graph of 8-bit weights that its package holds.

The matrices keep the bytes of the package: they lie between -64 and 64, so that every processor's
products are the same, and are rounded anew to what they are. The graph is authored here because
that of the package computes each token's last state, of which only the first is asked for.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from infra.model_files.conversion.quantise import quantise
from infra.model_files.conversion.transformer_graph import MAX_TOKENS, Shape, build_graph
from infra.model_files.errors import BrokenFile

_SHAPE = Shape("bge", layers=12, heads=12, width=384, epsilon=1e-12, is_first_taken=True)
_LAYER_PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attention_output": "attention.output.dense",
    "attention": "attention.output.LayerNorm",
    "ffn_input": "intermediate.dense",
    "ffn_output": "output.dense",
    "": "output.LayerNorm",
}

Floats = npt.NDArray[np.float32]


class BgeWeights:
    """Gives the weights of the package's graph, in full precision, by the names of ours."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._constants = {constant.name: constant for constant in graph.initializer}
        self._matrices = {
            node.output[0]: node.input[1].removesuffix("_quantized")
            for node in graph.node
            if node.op_type == "MatMulInteger"
        }

    def __call__(self, name: str) -> Floats:
        """Return a weight in the form of the graph."""
        if name == "words":
            return self._matrix("embeddings.word_embeddings.weight")
        if name == "positions":
            rows = self._matrix("embeddings.position_embeddings.weight")
            # Every token is of the first type, so its vector goes with the positions'.
            rows[:MAX_TOKENS] += self._matrix("embeddings.token_type_embeddings.weight")[0]
            return rows[:MAX_TOKENS]
        owner, _, kind = name.rpartition("_")
        suffix = "bias" if kind in ("shift", "bias") else "weight"
        if owner == "embedding":
            return self._constant(f"embeddings.LayerNorm.{suffix}")
        layer, _, part = owner.partition("_")
        place = f"layer.{layer.removeprefix('layer')}"
        if kind == "weight":
            module = f"{place}/{_LAYER_PARTS[part].replace('.', '/')}"
            return self._matrix(
                self._matrices[f"/encoder/{module}/MatMul_output_0_output_quantized"]
            )
        return self._constant(f"encoder.{place}.{_LAYER_PARTS[part]}.{suffix}")

    def _matrix(self, name: str) -> Floats:
        steps = self._constant(f"{name}_quantized").astype(np.float32)
        steps -= self._constant(f"{name}_zero_point")
        values: Floats = steps * self._constant(f"{name}_scale")
        return values

    def _constant(self, name: str) -> Floats:
        values: Floats = numpy_helper.to_array(self._constants[name])
        return values


def build(source: Path) -> onnx.ModelProto:
    """Author the graph in full precision from the package's `model.onnx`.

    Raises:
        BrokenFile: it holds another graph.
    """
    try:
        return build_graph(_SHAPE, BgeWeights(onnx.load(str(source / "model.onnx")).graph))
    except KeyError as cause:
        raise BrokenFile(f"model.onnx has no constant or product {cause}.") from cause


def write_tokenizer(source: Path, target: Path) -> None:
    """Take over `tokenizer.json`."""
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")


def write_quantised(model: onnx.ModelProto, target: Path) -> None:
    """Round the graph to 8 bits and write `model.onnx`; the graph is changed."""
    quantise(model, target / "model.onnx")
