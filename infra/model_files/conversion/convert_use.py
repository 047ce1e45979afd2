"""Converts the Universal Sentence Encoder (multilingual, CNN) into a graph and a table.

The embedding table is a separate array file of bytes, which processes map and share in memory. The
graph takes the embedding rows of the tokens of one text. Functions that add inner nodes return the
names of their outputs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx

from infra.model_files.conversion.graph import Graph, tensor
from infra.model_files.sources.sentencepiece_model import parse_model, tokenizer_json

_CHUNKS = 17
_BRANCHES = ((2, 0), (3, 1), (5, 2))  # length of the n-grams, tokens left of the middle one
_WIDTH = 256  # dimensions of one branch
_END = np.iinfo(np.int64).max

Weights = dict[str, npt.NDArray[np.generic]]


def _add_window(graph: Graph, rows: str, length: int, before: int) -> str:
    """For every token, join the rows of a window of `length` tokens; zeros outside the text."""
    pads = graph.integers(before, 0, length - 1 - before, 0)
    padded = graph.add("Pad", [rows, pads], f"{rows}_padded")
    shifted = []
    for shift in range(length):
        end = shift - length + 1 or _END
        bounds = [graph.integers(shift), graph.integers(end), graph.integers(0)]
        shifted.append(graph.add("Slice", [padded, *bounds], f"{rows}_shift{shift}"))
    return graph.add("Concat", shifted, f"{rows}_window", axis=1)


def _add_layer(graph: Graph, weights: Weights, rows: str, order: tuple[int, int], n: int) -> str:
    """Add one residual n-gram layer: relu(window · W + b) + rows."""
    length, left = order
    window = _add_window(graph, rows, length, left)
    weight = graph.constant(f"w{n}_{length}", weights[f"w{n}_{length}"])
    bias = graph.constant(f"b{n}_{length}", weights[f"b{n}_{length}"])
    name = f"layer{n}_{length}"
    product = graph.add("MatMul", [window, weight], f"{name}_product")
    shifted = graph.add("Add", [product, bias], f"{name}_shifted")
    active = graph.add("Relu", [shifted], f"{name}_active")
    return graph.add("Add", [active, rows], name)


def _joined(weights: Weights, prefix: str) -> npt.NDArray[np.generic]:
    return np.concatenate([weights[f"{prefix}{length}"] for length, _ in _BRANCHES], axis=-1)


def _add_branches(graph: Graph, weights: Weights, tokens: str) -> list[str]:
    """Project and normalise all tokens once, then add three branches of two layers each."""
    matrix, shift, scale, bias = (
        graph.constant(f"{name}_joined", _joined(weights, name))
        for name in ("proj", "proj_b", "ln_g", "ln_b")
    )
    product = graph.add("MatMul", [tokens, matrix], "branches_product")
    shifted = graph.add("Add", [product, shift], "branches_shifted")
    rows = _add_normalisation(graph, shifted, scale, bias, float(weights["eps"]))
    outputs = []
    for number, order in enumerate(_BRANCHES):
        bounds = (number * _WIDTH, (number + 1) * _WIDTH, 1)
        limits = [graph.integers(bound) for bound in bounds]
        branch = graph.add("Slice", [rows, *limits], f"branch{order[0]}")
        first = _add_layer(graph, weights, branch, order, 1)
        outputs.append(_add_layer(graph, weights, first, order, 2))
    return outputs


def _add_normalisation(graph: Graph, rows: str, scale: str, bias: str, epsilon: float) -> str:
    inputs = [rows, scale, bias]
    return graph.add("LayerNormalization", inputs, f"{rows}_norm", axis=-1, epsilon=epsilon)


def _add_tokens(graph: Graph, weights: Weights) -> str:
    """Add nodes that dequantise the embeddings: byte · scale + offset of the token's chunk."""
    for name in ("scale", "lo"):
        graph.constant(name, weights[name].reshape(_CHUNKS, 1))
    real = graph.add("Cast", ["rows"], "rows_real", to=onnx.TensorProto.FLOAT)
    scale = graph.add("Gather", ["scale", "chunks"], "row_scale", axis=0)
    offset = graph.add("Gather", ["lo", "chunks"], "row_offset", axis=0)
    return graph.add("Add", [graph.add("Mul", [real, scale], "rows_scaled"), offset], "tokens")


def _add_pool(graph: Graph, weights: Weights, features: str) -> str:
    """Add nodes that project and sum the tokens, and divide by the root of the token count."""
    matrix = graph.constant("cnn_W", weights["cnn_W"])
    product = graph.add("MatMul", [features, matrix], "cnn_product")
    bias = graph.constant("cnn_b", weights["cnn_b"])
    rows = graph.add("Add", [product, bias], "cnn")
    total = graph.add("ReduceSum", [rows, graph.integers(0)], "cnn_sum", keepdims=1)
    count = graph.add("Shape", ["chunks"], "count")
    real = graph.add("Cast", [count], "count_real", to=onnx.TensorProto.FLOAT)
    return graph.add("Div", [total, graph.add("Sqrt", [real], "count_root")], "pooled")


def _add_head(graph: Graph, weights: Weights, pooled: str) -> None:
    """Add the residual layers after the pooling, and normalise the result to a unit `vector`."""
    for name in ("d0", "d1", "d2", "d3", "p1", "p3"):
        graph.constant(name, weights[name])

    def pair(first: str, a: str, second: str, b: str, name: str) -> str:
        left = graph.add("MatMul", [first, a], f"{name}_left")
        return graph.add("Add", [left, graph.add("MatMul", [second, b], f"{name}_right")], name)

    first = graph.add("Relu", [graph.add("MatMul", [pooled, "d0"], "y0_sum")], "y0")
    second = graph.add("Relu", [pair(pooled, "p1", first, "d1", "y1_sum")], "y1")
    third = graph.add("Relu", [graph.add("MatMul", [second, "d2"], "y2_sum")], "y2")
    tanh = graph.add("Tanh", [pair(second, "p3", third, "d3", "z_sum")], "z")
    norm = graph.add("ReduceL2", [tanh], "z_norm", axes=[-1], keepdims=1)
    graph.add("Div", [tanh, norm], "vector")


def build_graph(weights: Weights) -> onnx.ModelProto:
    """Build the encoder's graph.

    The input `rows`, uint8 (tokens, 512), has the rows of the embedding table for the tokens of one
    text. The input `chunks`, int64 (tokens,), has each token's id modulo 17. The output `vector`,
    float32 (1, 512), is a unit vector.
    """
    graph = Graph()
    tokens = _add_tokens(graph, weights)
    branches = _add_branches(graph, weights, tokens)
    features = graph.add("Concat", [tokens, *branches], "features", axis=1)
    scale, bias = (graph.constant(name, weights[name]) for name in ("ln_g", "ln_b"))
    normal = _add_normalisation(graph, features, scale, bias, float(weights["eps"]))
    _add_head(graph, weights, _add_pool(graph, weights, normal))
    width = len(np.atleast_1d(weights["cnn_b"]))
    inputs = [
        tensor("rows", onnx.TensorProto.UINT8, ["tokens", width]),
        tensor("chunks", onnx.TensorProto.INT64, ["tokens"]),
    ]
    return graph.model("use", inputs, [tensor("vector", onnx.TensorProto.FLOAT, [1, width])])


def write_table(weights: Weights, path: Path) -> None:
    """Write the embedding table, uint8 (ids, 512), from its interleaved chunks."""
    rows, width = weights["q1"].shape
    table = np.empty((rows * _CHUNKS, width), np.uint8)
    for chunk in range(_CHUNKS):
        table[chunk::_CHUNKS] = weights.pop(f"q{chunk + 1}")
    np.save(path, table, allow_pickle=False)


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx`, `table.npy` and `tokenizer.json` from `weights.npz` and `sp.model`."""
    with np.load(source / "weights.npz", allow_pickle=False) as archive:
        weights: Weights = {name: archive[name] for name in archive.files}
    write_table(weights, target / "table.npy")
    onnx.save(build_graph(weights), str(target / "model.onnx"))
    pieces = parse_model((source / "sp.model").read_bytes())
    (target / "tokenizer.json").write_text(tokenizer_json(pieces), encoding="utf-8")
