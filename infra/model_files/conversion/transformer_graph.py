"""Builds the graph of a transformer encoder, which turns one text into a unit vector.

The graph takes one text without padding, so it needs no attention mask. Functions that add inner
nodes return the names of their outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import onnx

from chalicelib.domain.common.arrays import Singles
from infra.model_files.conversion.graph import Graph, tensor

# Most tokens of a text, begin and end included; chalicelib.engines.text.encoding.onnx_encoders cuts
# longer texts.
MAX_TOKENS = 128
FFN_OUTPUT = "layer{}_ffn_output"  # name of the product after a layer's activation

# Returns a weight by its name in this module; called once for each name.
Weights = Callable[[str], Singles]


@dataclass(frozen=True)
class Shape:
    """The properties in which transformer encoders differ."""

    name: str
    layers: int
    heads: int
    width: int
    """Length of a token's vector."""
    epsilon: float
    """Small number that is added to variances in normalisations."""
    has_bias: bool = False
    """Whether attention adds a bias for the distance between two tokens."""
    is_first_taken: bool = False
    """Whether the vector is the last state of the first token; otherwise, the mean of all tokens.
    """


class Tokens(NamedTuple):
    """Names of the inputs of a layer, float32 (1, tokens, width)."""

    rows: str
    """States of the tokens that the layer updates."""
    states: str
    """States of all tokens, to which the tokens of `rows` attend."""


def build_graph(shape: Shape, weights: Weights) -> onnx.ModelProto:
    """Build the graph of an encoder.

    The input is `ids`, int64 (tokens,): at most 128 tokens, the begin and end tokens included. The
    output `vector`, float32 (1, width), is the normalised mean of the states of the last layer, or
    the normalised state of the first token, as `shape` says.

    Args:
        shape: sizes of the network.
        weights: `words` (ids, width), `positions` (128, width), `embedding_scale`,
            `embedding_shift`, `distances` (heads, 255) if `shape.has_bias`, and `layer0_...` and so
            on, see `_add_layer`. Matrices are (in, out).
    """
    graph = Graph()
    states = _add_embedding(graph, shape, weights)
    bias = _add_bias(graph, weights) if shape.has_bias else None
    for number in range(shape.layers):
        rows = states
        if shape.is_first_taken and number == shape.layers - 1:
            # Only the last state of the first token is used.
            ends = [graph.integers(0), graph.integers(1), graph.integers(1)]
            rows = graph.add("Slice", [states, *ends], "first_state")
        states = _add_layer(graph, shape, weights, Tokens(rows, states), bias, number)
    _add_pool(graph, states)
    inputs = [tensor("ids", onnx.TensorProto.INT64, ["tokens"])]
    outputs = [tensor("vector", onnx.TensorProto.FLOAT, [1, shape.width])]
    return graph.model(shape.name, inputs, outputs)


def _add_embedding(graph: Graph, shape: Shape, weights: Weights) -> str:
    """Add nodes that sum and normalise word and position embeddings, float32 (1, tokens, width)."""
    words = graph.constant("words", weights("words"))
    positions = graph.constant("positions", weights("positions"))
    batch = graph.add("Unsqueeze", ["ids", graph.integers(0)], "ids_batch")
    rows = graph.add("Gather", [words, batch], "word_rows", axis=0)
    graph.add("Shape", ["ids"], "count")
    places = graph.add("Slice", [positions, graph.integers(0), "count"], "position_rows")
    total = graph.add("Add", [rows, places], "embedding")
    return _add_normalisation(graph, shape, weights, total, "embedding")


def _add_normalisation(graph: Graph, shape: Shape, weights: Weights, rows: str, name: str) -> str:
    parts = [f"{name}_scale", f"{name}_shift"]
    inputs = [rows, *(graph.constant(part, weights(part)) for part in parts)]
    output = f"{name}_normal"
    return graph.add("LayerNormalization", inputs, output, axis=-1, epsilon=shape.epsilon)


def _add_bias(graph: Graph, weights: Weights) -> str:
    """Add nodes that look up biases by token distance: float32 (1, heads, tokens, tokens)."""
    table = graph.constant("distances", weights("distances"))
    zero, one = (graph.constant(f"number_{n}", np.array(n, np.int64)) for n in (0, 1))
    tokens = graph.add("Squeeze", ["count"], "token_count")
    places = graph.add("Range", [zero, tokens, one], "places")
    rows = graph.add("Unsqueeze", [places, graph.integers(1)], "query_places")
    apart = graph.add("Sub", [places, rows], "apart")
    index = graph.add("Add", [apart, graph.integers(MAX_TOKENS - 1)], "distance_index")
    found = graph.add("Gather", [table, index], "pair_bias", axis=1)
    return graph.add("Unsqueeze", [found, graph.integers(0)], "attention_bias")


def _add_dense(graph: Graph, weights: Weights, rows: str, name: str) -> str:
    matrix = graph.constant(f"{name}_weight", weights(f"{name}_weight"))
    shift = graph.constant(f"{name}_bias", weights(f"{name}_bias"))
    product = graph.add("MatMul", [rows, matrix], name)
    return graph.add("Add", [product, shift], f"{name}_shifted")


def _add_layer(
    graph: Graph, shape: Shape, weights: Weights, tokens: Tokens, bias: str | None, number: int
) -> str:
    """Add one layer: attention and two dense layers, each with a residual connection."""
    name = f"layer{number}"
    context = _add_attention(graph, shape, weights, tokens, bias, name)
    mixed = _add_dense(graph, weights, context, f"{name}_attention_output")
    total = graph.add("Add", [mixed, tokens.rows], f"{name}_attention_sum")
    states = _add_normalisation(graph, shape, weights, total, f"{name}_attention")
    inner = _add_dense(graph, weights, states, f"{name}_ffn_input")
    active = _add_gelu(graph, inner, f"{name}_gelu")
    outer = _add_dense(graph, weights, active, FFN_OUTPUT.format(number))
    total = graph.add("Add", [outer, states], f"{name}_sum")
    return _add_normalisation(graph, shape, weights, total, name)


def _add_attention(
    graph: Graph, shape: Shape, weights: Weights, tokens: Tokens, bias: str | None, name: str
) -> str:
    """Add the attention of all heads: float32 (1, tokens, width)."""
    query, key, value = (
        _add_heads(graph, shape, weights, states, f"{name}_{part}")
        for part, states in (
            ("query", tokens.rows),
            ("key", tokens.states),
            ("value", tokens.states),
        )
    )
    turned = graph.add("Transpose", [key], f"{name}_key_turned", perm=[0, 1, 3, 2])
    scores = graph.add("MatMul", [query, turned], f"{name}_scores")
    root = np.array((shape.width // shape.heads) ** 0.5, np.float32)
    scores = graph.add("Div", [scores, graph.constant("head_root", root)], f"{name}_scaled")
    if bias is not None:
        scores = graph.add("Add", [scores, bias], f"{name}_biased")
    shares = graph.add("Softmax", [scores], f"{name}_shares", axis=-1)
    context = graph.add("MatMul", [shares, value], f"{name}_context")
    joined = graph.add("Transpose", [context], f"{name}_context_turned", perm=[0, 2, 1, 3])
    size = graph.integers(1, -1, shape.width)
    return graph.add("Reshape", [joined, size], f"{name}_context_joined")


def _add_heads(graph: Graph, shape: Shape, weights: Weights, states: str, name: str) -> str:
    """Project the states, and split them by head: float32 (1, heads, tokens, width / heads)."""
    rows = _add_dense(graph, weights, states, name)
    size = graph.integers(1, -1, shape.heads, shape.width // shape.heads)
    parted = graph.add("Reshape", [rows, size], f"{name}_parted")
    return graph.add("Transpose", [parted], f"{name}_heads", perm=[0, 2, 1, 3])


def _add_gelu(graph: Graph, rows: str, name: str) -> str:
    """Add x · (1 + erf(x / √2)) / 2, in the form that the runtime fuses into one operation."""
    root, one, half = (
        graph.constant(key, np.array(value, np.float32))
        for key, value in (("root_2", 2**0.5), ("one", 1.0), ("half", 0.5))
    )
    scaled = graph.add("Div", [rows, root], f"{name}_scaled")
    error = graph.add("Erf", [scaled], f"{name}_erf")
    shifted = graph.add("Add", [error, one], f"{name}_shifted")
    return graph.add("Mul", [graph.add("Mul", [rows, shifted], f"{name}_twice"), half], name)


def _add_pool(graph: Graph, states: str) -> None:
    """Add nodes that average the states and normalise the mean to the unit vector `vector`."""
    mean = graph.add("ReduceMean", [states], "mean", axes=[1], keepdims=0)
    norm = graph.add("ReduceL2", [mean], "norm", axes=[-1], keepdims=1)
    graph.add("Div", [mean, norm], "vector")
