"""Converts bge-small-en-v1.5 from its package, which has a graph with 8-bit weights.

After rounding, the matrices have the same bytes as in the package. Their values are between -64 and
64, so the products are the same on every processor. The package's graph computes the last layer for
every token. The graph built here computes it only for the first token, because no other state is
used.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
from onnx import numpy_helper

from chalicelib.domain.common.arrays import Singles
from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import layer_names
from infra.model_files.conversion.quantise import quantise
from infra.model_files.conversion.transformer_graph import MAX_TOKENS, Shape, build_graph

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


class BgeWeights:
    """Returns the package's weights in full precision, by their names in the new graph."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._constants = {constant.name: constant for constant in graph.initializer}
        self._matrices = {
            node.output[0]: node.input[1].removesuffix("_quantized")
            for node in graph.node
            if node.op_type == "MatMulInteger"
        }

    def __call__(self, name: str) -> Singles:
        """Return a weight in the layout of the new graph."""
        if name == "words":
            return self._matrix("embeddings.word_embeddings.weight")
        if name == "positions":
            rows = self._matrix("embeddings.position_embeddings.weight")
            # Every token has the first type, so its vector can be added to all positions.
            rows[:MAX_TOKENS] += self._matrix("embeddings.token_type_embeddings.weight")[0]
            return rows[:MAX_TOKENS]
        weight = layer_names.parse(name)
        module = weight.module("embeddings.LayerNorm", "encoder.layer.{}.", _LAYER_PARTS)
        if weight.is_matrix:
            # Exported constants of matrices have no names: their products do.
            layer, _, part = module.removeprefix("encoder.layer.").partition(".")
            place = f"/encoder/layer.{layer}/{part.replace('.', '/')}"
            return self._matrix(self._matrices[f"{place}/MatMul_output_0_output_quantized"])
        return self._constant(f"{module}.{weight.suffix}")

    def _matrix(self, name: str) -> Singles:
        steps = self._constant(f"{name}_quantized").astype("float32")
        steps -= self._constant(f"{name}_zero_point")
        values: Singles = steps * self._constant(f"{name}_scale")
        return values

    def _constant(self, name: str) -> Singles:
        values: Singles = numpy_helper.to_array(self._constants[name])
        return values


def build(source: Path) -> onnx.ModelProto:
    """Build the graph in full precision from the package's `model.onnx`.

    Raises:
        BrokenFile: the file has another graph.
    """
    try:
        return build_graph(_SHAPE, BgeWeights(onnx.load(str(source / "model.onnx")).graph))
    except KeyError as cause:
        raise BrokenFile(f"model.onnx has no constant or product {cause}.") from cause


def write_tokenizer(source: Path, target: Path) -> None:
    """Copy `tokenizer.json`."""
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")


def write_quantised(model: onnx.ModelProto, target: Path) -> None:
    """Round the graph, in place, to 8 bits and write `model.onnx`."""
    quantise(model, target / "model.onnx")
