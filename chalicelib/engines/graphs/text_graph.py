"""Writes a text model as one graph, from the tokens of a text to probabilities.

The graph uses the same operations and number types as `TrainedText.answer`, so its probabilities
differ by less than 1e-4. Like the service, it takes one text per run, because the vector that an
8-bit encoder computes for a text depends on the other texts in the run. Functions that add inner
nodes return the names of the nodes' outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.graphs.graph import JoinedGraph, Port
from chalicelib.engines.graphs.protobuf import map_file
from chalicelib.engines.text.encoding.onnx_encoders import USE_CHUNKS
from chalicelib.engines.text.head.anchors import ANCHOR_STEPS, smallest_integers
from chalicelib.engines.text.head.domain_score import FARTHEST, LINE_CEILING, LINE_WEIGHT
from chalicelib.engines.text.head.neighbours import ABSENT, COMPARED_LABELS, NearestTexts

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.text.classifier import TextParameters
    from chalicelib.engines.text.head.domain_score import DomainScale
    from chalicelib.engines.text.head.rejector import Rejector

# Features are multiples of 1 / this number, see `GridArithmetic.features`.
_FEATURE_STEPS = 2.0**13
_SMALLEST = 1e-9


def write_text_graph(parameters: TextParameters, folder: Callable[[str], Path]) -> JoinedGraph:
    """Return the graph of a text model.

    Args:
        parameters: the model.
        folder: returns the folder of an encoder's files, given the encoder's name.
    """
    graph = JoinedGraph()
    names = [use.name for use in parameters.encoders]
    vectors = [_encode(graph, name, folder(name), len(names) > 1) for name in names]
    joined = vectors[0] if len(vectors) == 1 else graph.add("Concat", *vectors, axis=1)
    TextHead(graph, parameters).answer(joined)
    return graph


def _encode(graph: JoinedGraph, name: str, folder: Path, has_prefix: bool) -> str:
    """Add an encoder and its inputs; return the name of the text's vector, shape (1, dims)."""
    prefix = f"{name}_" if has_prefix else ""
    shape = (1, f"{prefix}tokens")
    ids = graph.input(
        Port(f"{prefix}input_ids", "int64", shape, f"token ids of one text by {name}'s tokenizer")
    )
    mask = graph.input(
        Port(f"{prefix}attention_mask", "int64", shape, "1 for a token, 0 for padding")
    )
    # The encoders have no padding, so it is removed.
    flat = graph.add("Reshape", ids, graph.integers(-1))
    is_token = graph.cast(graph.add("Reshape", mask, graph.integers(-1)), "bool")
    ids = graph.add("Compress", flat, is_token, axis=0)
    content = map_file(folder / "model.onnx")
    if name == "use":
        table = np.load(folder / "table.npy", mmap_mode="r", allow_pickle=False)
        rows = graph.add("Gather", graph.constant(table), ids, axis=0)
        chunks = graph.add("Mod", ids, graph.constant(USE_CHUNKS, "int64"))
        return graph.include(content, name, {"rows": rows, "chunks": chunks}, ["vector"])[0]
    if name != "minilm":
        return graph.include(content, name, {"ids": ids}, ["vector"])[0]
    row = graph.add("Unsqueeze", ids, graph.integers(0))
    zeros = graph.add("Sub", row, row)
    ones = graph.add("Add", zeros, graph.constant(1, "int64"))
    inputs = {"input_ids": row, "attention_mask": ones, "token_type_ids": zeros}
    [states] = graph.include(content, name, inputs, ["last_hidden_state"])
    mean = graph.add("ReduceMean", states, graph.integers(1), keepdims=0)
    return graph.add("Div", mean, graph.add("ReduceL2", mean, graph.integers(1)))


class TextHead:
    """Adds the nodes that compute a prediction from the vectors of the encoders."""

    def __init__(self, graph: JoinedGraph, parameters: TextParameters) -> None:
        self._graph = graph
        self._own = parameters
        dims = [use.dims for use in parameters.encoders]
        self._scales = np.repeat(np.asarray(parameters.norms, np.float32), dims)

    def answer(self, vectors: str) -> None:
        """Add the outputs of the graph. `vectors` names a value, float32, shape (1, dims)."""
        graph, own, labels = self._graph, self._own, len(self._own.labels)
        alone = self._head_logits(vectors)
        features = graph.add("Sub", vectors, graph.constant(own.means))
        features = graph.add("Div", features, graph.constant(self._scales))
        logits = alone
        if own.neighbours is not None:
            logits = self._add_nearness(own.neighbours, alone, features)
        shares = graph.add("Softmax", logits, axis=1)
        if own.rejector is None:
            rejected = graph.add(
                "Less", self._energy(logits), graph.constant(own.threshold, "float32")
            )
        else:
            signals = self._signals(own.rejector, alone, logits, features)
            shares = self._cautious(own.rejector, shares, signals)
            rejected = self._rejected(own.rejector, signals)
        shape = (1, labels)
        graph.output(Port("probabilities", "float32", shape, "by label, with sum 1"), shares)
        rejected = graph.add("Reshape", rejected, graph.integers(1))
        port = Port("rejected", "bool", (1,), "whether the service answers with an empty list")
        graph.output(port, rejected)

    def _head_logits(self, vectors: str) -> str:
        own = self._own
        # Centring, scaling and temperature are folded into the matrix, as in `TrainedText`.
        matrix = own.weights.astype(np.float32)
        matrix /= self._scales[:, None] * np.float32(own.temperature)
        offsets = own.biases / np.float32(own.temperature)
        offsets -= own.means @ matrix
        product = self._graph.add("MatMul", vectors, self._graph.constant(matrix))
        return self._graph.add("Add", product, self._graph.constant(offsets))

    def _directions(self, features: str, centre: Array) -> str:
        """Add nodes that centre features and scale them to unit length. The result is float64."""
        graph = self._graph
        moved = graph.add("Sub", graph.cast(features, "float64"), graph.constant(centre, "float64"))
        squares = graph.add("ReduceSum", graph.add("Mul", moved, moved), graph.integers(1))
        smallest = graph.constant(_SMALLEST, "float64")
        units = graph.add("Div", moved, graph.add("Max", graph.add("Sqrt", squares), smallest))
        steps = graph.constant(_FEATURE_STEPS, "float64")
        return graph.add("Div", graph.add("Round", graph.add("Mul", units, steps)), steps)

    def _cosines(self, units: str, anchors: Array) -> str:
        """Add nodes that compute cosines, float32, (1, anchors), of a text to all stored texts."""
        graph = self._graph
        stored = graph.cast(graph.constant(smallest_integers(anchors.T)), "float32")
        product = graph.add("MatMul", graph.cast(units, "float32"), stored)
        return graph.add("Div", product, graph.constant(ANCHOR_STEPS, "float32"))

    def _add_nearness(self, nearest: NearestTexts, alone: str, features: str) -> str:
        """Add nodes that raise the logits of labels with nearby training texts.

        The nodes compute the same as `NearestTexts.add_to`: float32, shape (1, labels).
        """
        graph, labels = self._graph, len(nearest.ends)
        units = self._directions(features, np.zeros(len(self._scales)))
        absent = graph.constant(np.full((1, 1), ABSENT, np.float32))
        cosines = graph.add("Concat", self._cosines(units, nearest.anchors), absent, axis=1)
        # A row of anchor indexes for each label, padded with the index of the missing anchor.
        counts = np.diff(nearest.ends, prepend=0)
        places = np.full((labels, max(1, counts.max())), len(nearest.anchors), np.int64)
        for label, (end, count) in enumerate(zip(nearest.ends, counts, strict=True)):
            places[label, :count] = np.arange(end - count, end)
        rows = graph.add("Gather", cosines, graph.constant(places), axis=1)
        nearness = graph.add("ReduceMax", rows, graph.integers(2), keepdims=0)
        if labels > COMPARED_LABELS:
            nearness = self._likely_only(nearness, alone)
        is_found = graph.add("Greater", nearness, graph.constant(ABSENT, "float32"))
        one = graph.constant(1.0, "float32")
        found = graph.add("Where", is_found, nearness, one)
        farthest = graph.add("ReduceMin", found, graph.integers(1))
        bonus = graph.add("Max", nearness, graph.add("Min", farthest, one))
        weight = graph.constant(nearest.weight / self._own.temperature, "float32")
        return graph.add("Add", alone, graph.add("Mul", bonus, weight))

    def _likely_only(self, nearness: str, alone: str) -> str:
        """Add nodes that replace the values of unlikely labels in `nearness` by ABSENT.

        Likely labels are the COMPARED_LABELS labels with the highest logits in `alone`.
        """
        graph = self._graph
        best = graph.largest(alone, COMPARED_LABELS, axis=1)
        least = graph.add("ReduceMin", best, graph.integers(1))
        is_likely = graph.add("GreaterOrEqual", alone, least)
        return graph.add("Where", is_likely, nearness, graph.constant(ABSENT, "float32"))

    def _energy(self, logits: str) -> str:
        return self._graph.add("ReduceLogSumExp", logits, self._graph.integers(1))

    def _signals(self, rejector: Rejector, alone: str, logits: str, features: str) -> str:
        """Add nodes that compute three numbers that show whether a text is in the domain.

        The nodes compute the same as `Rejector.signals`: float64, shape (1, 3).
        """
        graph, domain, scale = self._graph, rejector.domain, rejector.scale
        axis = graph.integers(1)
        support = self._support(scale, *(graph.cast(one, "float64") for one in (alone, logits)))
        units = self._directions(features, domain.centre)
        cosines = self._cosines(units, domain.anchors)
        near = graph.cast(graph.add("ReduceMax", cosines, axis), "float64")
        if scale.usual is not None:
            answer = graph.add("ArgMax", logits, axis=1)
            usual = graph.add("Gather", graph.constant(scale.usual), answer, axis=0)
            near = graph.add("Sub", near, graph.cast(usual, "float64"))
        line = graph.add("MatMul", units, graph.constant(domain.direction[:, None], "float64"))
        line = graph.add("Add", line, graph.constant(domain.offset, "float64"))
        parts = (support, near, line)
        signals = graph.add("Concat", *parts, axis=1)
        signals = graph.add("Sub", signals, graph.constant(scale.means, "float64"))
        signals = graph.add("Div", signals, graph.constant(scale.deviations, "float64"))
        bounds = [graph.constant(bound, "float64") for bound in (-FARTHEST, FARTHEST)]
        return graph.add("Clip", signals, *bounds)

    def _support(self, scale: DomainScale, alone: str, logits: str) -> str:
        """Add nodes that compute the same as `DomainScale.support`: float64, shape (1, 1)."""
        graph, axis = self._graph, self._graph.integers(1)
        heat = graph.constant(scale.heat, "float64")
        alone, logits = graph.add("Mul", alone, heat), graph.add("Mul", logits, heat)
        if scale.usual is None:
            return self._energy(alone)
        found = graph.add("ReduceMax", alone, axis)
        # The entropy is the energy minus the mean of the logits.
        shares = graph.add("Softmax", logits, axis=1)
        mean = graph.add("ReduceSum", graph.add("Mul", shares, logits), axis)
        entropy = graph.add("Sub", self._energy(logits), mean)
        doubt = graph.add("Mul", entropy, graph.constant(scale.doubt, "float64"))
        return graph.add("Sub", found, doubt)

    def _cautious(self, rejector: Rejector, shares: str, signals: str) -> str:
        """Add nodes that make label probabilities more equal if a text may be out of the domain.

        The nodes compute the same as `DomainScale.cautious`: float32, shape (1, labels).
        """
        graph, trust = self._graph, np.array(rejector.scale.trust)
        odds = graph.add("MatMul", signals, graph.constant(trust[:-1, None], "float64"))
        odds = graph.add("Add", odds, graph.constant(trust[-1], "float64"))
        certainty = graph.cast(graph.add("Sigmoid", odds), "float32")
        doubt = graph.add("Sub", graph.constant(1.0, "float32"), certainty)
        even = graph.add("Div", doubt, graph.constant(len(self._own.labels), "float32"))
        return graph.add("Add", graph.add("Mul", shares, certainty), even)

    def _rejected(self, rejector: Rejector, signals: str) -> str:
        """Add nodes that test whether the domain score is below the threshold."""
        graph = self._graph
        # The distance from the boundary is limited to a maximum.
        ceilings = np.array([np.inf, np.inf, LINE_CEILING])
        capped = graph.add("Min", signals, graph.constant(ceilings))
        weights = np.array([[1.0], [1.0], [LINE_WEIGHT]])
        score = graph.add("MatMul", capped, graph.constant(weights))
        return graph.add("Less", score, graph.constant(rejector.threshold, "float64"))
