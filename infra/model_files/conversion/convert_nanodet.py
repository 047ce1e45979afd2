"""Converts NanoDet-g from its TensorFlow.js graph into an ONNX graph.

The published graph transposes its values around every convolution. Here all values have one order:
image, channel, row, column. A transposition only changes the layout that is recorded for a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx

from infra.downloads.errors import BrokenFile
from infra.model_files.conversion.graph import Attribute, Graph, tensor
from infra.model_files.sources.tfjs_model import Node, TfjsModel, read_model

SIDE = 416  # of the input, in pixels
MEAN = (123.675, 116.28, 103.53)  # of red, green and blue
DEVIATION = (58.395, 57.12, 57.375)
_CHANNELS, _SCORES, _BINS = 128, 80, 44  # of a map, and of each of its cells
_INPUT = "input_1"
_PREFIX = "PartitionedCall/"
# Outputs of the new graph, and the nodes of the published graph that compute them.
OUTPUTS = {
    "scores52": "Identity",
    "scores26": "Identity_1",
    "scores13": "Identity_2",
    "boxes52": "Identity_3",
    "boxes26": "Identity_4",
    "boxes13": "Identity_5",
    "pan52": f"{_PREFIX}onnx_tf_prefix_Add_107",
    "pan26": f"{_PREFIX}onnx_tf_prefix_Add_128",
    "pan13": f"{_PREFIX}onnx_tf_prefix_Add_149",
}
# Layout of a value after a transposition, by its layout before.
_LAYOUTS = {
    ("NCHW", (0, 2, 3, 1)): "NHWC",
    ("NHWC", (0, 3, 1, 2)): "NCHW",
    ("NCL", (0, 2, 1)): "NLC",
}
_SHAPES_ONLY = ("SparseToDense", "AddV2")
_VALID = "VkFMSUQ="  # base64 of VALID, as attributes are written


@dataclass(frozen=True)
class _Value:
    """A value of the published graph, and its name in the new graph."""

    name: str
    layout: str
    """The order of the value's axes in the published graph."""
    side: int = 0
    """Number of rows and of columns (they are equal), without the margin."""
    margin: int = 0
    """Width of the border that the published graph adds. The next new node adds this border."""


class _GraphConversion:
    """Adds the equivalent of each node of the published graph to a new graph."""

    def __init__(self, model: TfjsModel) -> None:
        self.graph = Graph()
        self._weights = model.weights
        self._values: dict[str, _Value] = {}
        self._converters: dict[str, Callable[[Node], _Value]] = {
            "Placeholder": self._input,
            "Pad": self._pad,
            "PadV2": self._pad,
            "Transpose": self._transpose,
            "Conv2D": self._convolve,
            "Add": self._add,
            "LeakyRelu": self._activate,
            "MaxPool": self._pool,
            "ConcatV2": self._concatenate,
            "ResizeBilinear": self._resize,
            "Sigmoid": self._sigmoid,
            "Reshape": self._flatten,
            "Identity": self._first_unpadded,
        }
        for node in model.nodes:
            self._convert(node)

    def value(self, source: str) -> _Value:
        """Return the value of a node of the published graph."""
        try:
            return self._values[source]
        except KeyError as error:
            raise BrokenFile(f"The TensorFlow.js model lacks {source}.") from error

    def _convert(self, node: Node) -> None:
        if node.kind in _SHAPES_ONLY:
            return
        if node.kind == "SplitV":
            self._split(node)
            return
        if node.kind not in self._converters:
            raise BrokenFile(f"The TensorFlow.js model has a {node.kind}, which is not known here.")
        self._values[node.name] = self._converters[node.kind](node)

    def _require(self, node: Node, holds: bool) -> None:
        """Raise BrokenFile unless a node's inputs have the property that its conversion needs."""
        if not holds:
            raise BrokenFile(f"The TensorFlow.js model uses {node.name} in a way not known here.")

    def _first(self, node: Node, layout: str = "") -> _Value:
        """Return a node's first input; raise BrokenFile if it has another layout than `layout`."""
        value = self.value(node.inputs[0])
        self._require(node, value.layout == (layout or value.layout))
        return value

    def _first_unpadded(self, node: Node) -> _Value:
        value = self._first(node)
        self._require(node, value.margin == 0)
        return value

    def _emit(self, node: Node, kind: str, inputs: list[str], **attributes: Attribute) -> str:
        """Add an ONNX node under the name of the original node, and return its output."""
        return self.graph.add(kind, inputs, _short(node.name), **attributes)

    def _input(self, node: Node) -> _Value:
        """Convert bytes (n, 416, 416, 3) into normalised numbers (n, 3, 416, 416)."""
        graph = self.graph
        planes = graph.add("Transpose", ["pixels"], "planes", perm=[0, 3, 1, 2])
        real = graph.add("Cast", [planes], "planes.real", to=onnx.TensorProto.FLOAT)
        mean = graph.constant("mean", np.array(MEAN, np.float32).reshape(3, 1, 1))
        deviation = graph.constant("deviation", np.array(DEVIATION, np.float32).reshape(3, 1, 1))
        centred = graph.add("Sub", [real, mean], "centred")
        return _Value(graph.add("Div", [centred, deviation], _INPUT), "NCHW", SIDE)

    def _pad(self, node: Node) -> _Value:
        value = self._first(node, "NCHW")
        widths = self._weights[node.inputs[1]].tolist()
        margin = int(widths[2][0])
        self._require(node, widths == [[0, 0], [0, 0], [margin] * 2, [margin] * 2])
        return replace(value, margin=margin)

    def _transpose(self, node: Node) -> _Value:
        value = self._first(node)
        order = tuple(int(place) for place in self._weights[node.inputs[1]])
        self._require(node, (value.layout, order) in _LAYOUTS)
        layout = _LAYOUTS[value.layout, order]
        # Only the last transposition, of the outputs, moves numbers.
        if layout != "NLC":
            return replace(value, layout=layout)
        return _Value(self._emit(node, "Transpose", [value.name], perm=list(order)), layout)

    def _slide(
        self, node: Node, kind: str, inputs: list[str], value: _Value, kernel: int
    ) -> _Value:
        """Add a node that slides a square window over a value and the margin around the value."""
        self._require(node, node.attributes["padding"]["s"] == _VALID)
        steps = node.integers("strides")
        self._require(node, steps[0] == steps[3] == 1 and steps[1] == steps[2])
        sizes = {"kernel_shape": [kernel] * 2, "strides": steps[1:3], "pads": [value.margin] * 4}
        side = (value.side + 2 * value.margin - kernel) // steps[1] + 1
        return _Value(self._emit(node, kind, inputs, **sizes), "NHWC", side)

    def _convolve(self, node: Node) -> _Value:
        value = self._first(node, "NHWC")
        weight = self._weights[node.inputs[1]].transpose(3, 2, 0, 1)
        self._require(node, node.integers("dilations") == [1, 1, 1, 1])
        self._require(node, weight.shape[2] == weight.shape[3])
        # The published network takes blue, green, red; the new one takes red, green, blue.
        if value.name == _INPUT:
            weight = weight[:, ::-1]
        name = self.graph.constant(node.inputs[1].removeprefix(_PREFIX), weight)
        return self._slide(node, "Conv", [value.name, name], value, weight.shape[2])

    def _pool(self, node: Node) -> _Value:
        value = self._first(node, "NHWC")
        return self._slide(node, "MaxPool", [value.name], value, node.integers("ksize")[1])

    def _add(self, node: Node) -> _Value:
        """Add a bias to the preceding convolution, or add two values."""
        value = self._first_unpadded(node)
        if node.inputs[1] in self._weights:
            before = next(made for made in self.graph.nodes if value.name in made.output)
            self._require(node, before.op_type == "Conv" and len(before.input) == 2)
            bias = self._weights[node.inputs[1]]
            before.input.append(self.graph.constant(node.inputs[1], bias))
            return value
        other = self.value(node.inputs[1])
        self._require(node, other.margin == 0 and other.layout == value.layout)
        return replace(value, name=self._emit(node, "Add", [value.name, other.name]))

    def _activate(self, node: Node) -> _Value:
        value = self._first_unpadded(node)
        slope = float(node.attributes["alpha"]["f"])
        return replace(value, name=self._emit(node, "LeakyRelu", [value.name], alpha=slope))

    def _concatenate(self, node: Node) -> _Value:
        parts = [self.value(name) for name in node.inputs[:-1]]
        axis = int(self._weights[node.inputs[-1]])
        self._require(node, axis == 1 and all(part.layout == "NCHW" for part in parts))
        self._require(node, all(part.margin == 0 for part in parts))
        names = [part.name for part in parts]
        return replace(parts[0], name=self._emit(node, "Concat", names, axis=1))

    def _resize(self, node: Node) -> _Value:
        value = self._first_unpadded(node)
        side = int(self._weights[node.inputs[1]][0])
        self._require(node, bool(node.attributes["half_pixel_centers"]["b"]))
        factor = side / value.side
        scales = np.array([1, 1, factor, factor], np.float32)
        inputs = [value.name, "", self.graph.constant(f"scales_{factor:g}", scales)]
        half = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        return replace(value, name=self._emit(node, "Resize", inputs, **half), side=side)

    def _split(self, node: Node) -> None:
        value = self._first(node, "NCHW")
        lengths = [int(length) for length in self._weights[node.inputs[1]]]
        self._require(node, int(self._weights[node.inputs[2]]) == 1 and value.margin == 0)
        names = [f"{_short(node.name)}_{place}" for place in range(len(lengths))]
        inputs = [value.name, self.graph.integers(*lengths)]
        self.graph.add_many("Split", inputs, names, axis=1)
        # The published graph names the outputs of one node `name`, `name:1`, `name:2`.
        for place, name in enumerate(names):
            suffix = f":{place}" if place else ""
            self._values[node.name + suffix] = replace(value, name=name)

    def _sigmoid(self, node: Node) -> _Value:
        value = self._first_unpadded(node)
        return replace(value, name=self._emit(node, "Sigmoid", [value.name]))

    def _flatten(self, node: Node) -> _Value:
        value = self._first(node, "NCHW")
        self._require(node, value.margin == 0)
        # The published graph computes this shape from constants: (1, channels, -1).
        inputs = [value.name, self.graph.integers(0, 0, -1)]
        return _Value(self._emit(node, "Reshape", inputs), "NCL")


def _short(name: str) -> str:
    return name.removeprefix(_PREFIX).removeprefix("onnx_tf_prefix_")


def _shape(output: str) -> list[int | str]:
    kind, cells = output[:-2], int(output[-2:])
    if kind == "pan":
        return ["n", _CHANNELS, cells, cells]
    return ["n", cells * cells, _SCORES if kind == "scores" else _BINS]


def build_graph(model: TfjsModel) -> onnx.ModelProto:
    """Build the detector's graph.

    The input is `pixels`, uint8 (n, 416, 416, 3), RGB. The outputs are float32, and exist for grids
    of 52, 26 and 13 cells a side, with rows from the top. `scores52` (n, cells², 80) is between 0
    and 1. `boxes52` (n, cells², 44) has 11 logits for each of the distances to the left, top, right
    and bottom side, in strides. `pan52` (n, 128, cells, cells) has the feature maps before the
    heads.

    Raises:
        BrokenFile: the model is another network.
    """
    conversion = _GraphConversion(model)
    graph = conversion.graph
    described = []
    for output, source in OUTPUTS.items():
        graph.add("Identity", [conversion.value(source).name], output)
        described.append(tensor(output, onnx.TensorProto.FLOAT, _shape(output)))
    pixels = tensor("pixels", onnx.TensorProto.UINT8, ["n", SIDE, SIDE, 3])
    return graph.model("nanodet", [pixels], described)


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx` from `nanodet.json` and `nanodet.bin`."""
    model = build_graph(read_model(source / "nanodet.json", source / "nanodet.bin"))
    (target / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
