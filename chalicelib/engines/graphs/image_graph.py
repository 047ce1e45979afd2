"""Writes an image model as one graph, from the pixels of scaled images to probabilities.

The graph computes the same as `TrainedImage` and `TrainedMultiLabel`. The caller must scale images,
because no ONNX operator resizes like Pillow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.graphs.graph import JoinedGraph, Port
from chalicelib.engines.graphs.protobuf import map_file
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET
from chalicelib.engines.vision.classification.extractor import WHOLE
from chalicelib.engines.vision.multi_label.extractor import (
    LARGEST_CELLS,
    LITE2_OUTPUTS,
    LITE2_SIDE,
    MOST,
    NANODET_OUTPUTS,
    NANODET_SIDE,
)
from chalicelib.engines.vision.multi_label.standardizing import (
    BLOCK_NAMES,
    EMBEDDING,
    POOLED,
)
from chalicelib.engines.vision.multi_label.standardizing import MOST as MOST_SPREAD
from chalicelib.engines.vision.similarity.vectors import GRID

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.artifact import Artifact

_SMALLEST = 1e-12
_CHANNELS = 3


def write_image_graph(parts: Artifact, folder: Callable[[str], Path]) -> JoinedGraph:
    """Return the graph of a model of type image.

    Args:
        parts: header and arrays of the model.
        folder: returns the folder of a backbone's files, given the backbone's name.
    """
    graph, arrays = JoinedGraph(), parts.arrays
    content = map_file(folder(LITE2) / "model.onnx")
    vectors = []
    for share, side in _looks(parts.header):
        shown = _pixels(graph, side, share)
        vectors += graph.include(content, LITE2, {"pixels": shown}, ["embedding"])
    total = vectors[0]
    for vector in vectors[1:]:
        total = graph.add("Add", total, vector)
    mean = graph.add("Div", total, graph.constant(len(vectors), "float32"))
    roots = graph.cast(_unit_roots(graph, graph.cast(mean, "float16")), "float32")
    centred = graph.add("Sub", roots, graph.constant(arrays["mean"], "float32"))
    whitening = graph.cast(graph.constant(arrays["whitening"], "int16"), "float32")
    whitened = _unit_rows(graph, graph.add("MatMul", centred, whitening), "float32")
    logits = graph.add("MatMul", whitened, graph.constant(arrays["weights"], "float32"))
    logits = graph.add("Add", logits, graph.constant(arrays["biases"], "float32"))
    temperature = graph.constant(parts.header["temperature"], "float64")
    logits = graph.add("Div", graph.cast(logits, "float64"), temperature)
    shares = graph.cast(graph.add("Softmax", logits, axis=1), "float32")
    _answer(graph, shares, arrays["present"], len(parts.header["labels"]), "by label, with sum 1")
    return graph


def write_multi_label_graph(parts: Artifact, folder: Callable[[str], Path]) -> JoinedGraph:
    """Return the graph of a model of type image-multi-label.

    Args:
        parts: header and arrays of the model.
        folder: returns the folder of a backbone's files, given the backbone's name.
    """
    graph, arrays = JoinedGraph(), parts.arrays
    block = BLOCK_NAMES.index(parts.header["features"])
    columns = graph.add(
        "Sub", _columns(graph, block, folder), graph.constant(arrays["mean"], "float64")
    )
    columns = graph.add("Mul", columns, graph.constant(arrays["scale"], "float64"))
    bounds = [graph.constant(bound, "float64") for bound in (-MOST_SPREAD, MOST_SPREAD)]
    vector = graph.cast(graph.add("Clip", columns, *bounds), "float32")
    values = arrays["values"].astype(np.float32)
    logits = graph.add("MatMul", vector, graph.constant(values[:-1]))
    logits = graph.cast(graph.add("Add", logits, graph.constant(values[-1])), "float64")
    logits = graph.add("Sub", logits, graph.constant(arrays["shifts"], "float64"))
    logits = graph.add("Div", logits, graph.constant(parts.header["temperature"], "float64"))
    shares = graph.cast(graph.add("Sigmoid", logits), "float32")
    _answer(graph, shares, arrays["present"], len(parts.header["labels"]), "of each label")
    return graph


def _looks(header: Mapping[str, Any]) -> Sequence[tuple[float, int]]:
    """Return the parts of an image that the model uses.

    Each part has two numbers: its length as a fraction of the image's length, and its length in
    pixels after scaling.
    """
    seen = header["preprocessing"].get("looks")
    # Models of the first version saw only the whole image.
    return [(WHOLE.share, WHOLE.side)] if seen is None else [(float(a), int(b)) for a, b in seen]


def _pixels(graph: JoinedGraph, side: int, share: float = 1.0) -> str:
    """Add an input for images of one size; return the name of a uint8 tensor, channels last."""
    part = "the whole image" if share == 1 else f"the middle {share:g} of width and height"
    meaning = f"{part} as RGB, whole numbers from 0 to 255"
    port = Port(f"pixels_{side}", "float32", ("images", _CHANNELS, side, side), meaning)
    pixels = graph.cast(graph.add("Round", graph.input(port)), "uint8")
    # A transposition needs a list as attribute, so the channels are sliced and put last.
    parts = [graph.add("Gather", pixels, graph.constant(c, "int64"), axis=1) for c in range(3)]
    last = [graph.add("Unsqueeze", part, graph.integers(3)) for part in parts]
    return graph.add("Concat", *last, axis=3)


def _columns(graph: JoinedGraph, block: int, folder: Callable[[str], Path]) -> str:
    """Add nodes that compute the head's input features, float64, shape (images, dims).

    `block` selects the embedding, the pooled feature maps, or both.
    """
    outputs = LITE2_OUTPUTS if block != EMBEDDING else LITE2_OUTPUTS[:1]
    content = map_file(folder(LITE2) / "model.onnx")
    inputs = {"pixels": _pixels(graph, LITE2_SIDE)}
    embedding, *maps = graph.include(content, LITE2, inputs, outputs)
    if block == EMBEDDING:
        return _unit_roots(graph, _halves(graph, embedding))
    content = map_file(folder(NANODET) / "model.onnx")
    inputs = {"pixels": _pixels(graph, NANODET_SIDE)}
    maps += graph.include(content, NANODET, inputs, NANODET_OUTPUTS)
    pooled = graph.add("Concat", *(part for one in maps for part in _pooled(graph, one)), axis=1)
    pooled = graph.cast(_halves(graph, pooled), "float64")
    if block == POOLED:
        return pooled
    return graph.add("Concat", _unit_roots(graph, _halves(graph, embedding)), pooled, axis=1)


def _pooled(graph: JoinedGraph, values: str) -> tuple[str, str]:
    """Add nodes that average the cells of each channel of a feature map, in two ways.

    Returns:
        The names of the mean over all cells, and of the mean over the cells with the largest
        values. Both have the shape (images, channels).
    """
    cells = graph.add("Reshape", values, graph.integers(0, 0, -1))
    largest = graph.largest(cells, LARGEST_CELLS, axis=2)
    axis = graph.integers(2)
    return (
        graph.add("ReduceMean", cells, axis, keepdims=0),
        graph.add("ReduceMean", largest, axis, keepdims=0),
    )


def _halves(graph: JoinedGraph, values: str) -> str:
    bounds = [graph.constant(bound, "float32") for bound in (-MOST, MOST)]
    return graph.cast(graph.add("Clip", values, *bounds), "float16")


def _unit_roots(graph: JoinedGraph, embedding: str) -> str:
    """Add nodes that take square roots of embeddings and scale each row to unit length.

    The result, float64, shape (images, dims), equals the result of the function `unit_roots`.
    """
    positive = graph.add("Max", graph.cast(embedding, "float64"), graph.constant(0.0, "float64"))
    units = _unit_rows(graph, graph.add("Sqrt", positive), "float64")
    steps = graph.constant(GRID, "float64")
    return graph.add("Div", graph.add("Round", graph.add("Mul", units, steps)), steps)


def _unit_rows(graph: JoinedGraph, rows: str, dtype: str) -> str:
    squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.integers(1))
    smallest = graph.constant(_SMALLEST, dtype)
    return graph.add("Div", rows, graph.add("Max", graph.add("Sqrt", squares), smallest))


def _answer(graph: JoinedGraph, shares: str, known: Array, labels: int, meaning: str) -> None:
    """Add the output of the graph: label probabilities, 0 for labels unknown to the head."""
    zero = graph.constant(np.zeros((1, 1), np.float32))
    first = graph.add("Gather", shares, graph.integers(0), axis=1)
    joined = graph.add("Concat", shares, graph.add("Mul", first, zero), axis=1)
    places = np.full(labels, len(known), np.int64)
    places[known.astype(np.int64)] = np.arange(len(known))
    answer = graph.add("Gather", joined, graph.constant(places), axis=1)
    port = Port("probabilities", "float32", ("images", labels), f"probabilities {meaning}")
    graph.output(port, answer)
