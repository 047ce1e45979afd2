"""Converts NanoDet-g from its TensorFlow.js graph into an ONNX graph.

The source moves channels behind and before the picture's axes around every convolution; here all
values keep the order (picture, channel, row, column) and only the note of what the source would
have changes. Shapes are taken for any number of pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx

from infra.model_files.conversion.graph import Graph, tensor
from infra.model_files.errors import BrokenFile
from infra.model_files.sources.tfjs_model import Node, TfjsModel, read_model

SIDE = 416
"""Pixels of the input's sides."""
MEAN = (123.675, 116.28, 103.53)
"""Taken from red, green and blue."""
DEVIATION = (58.395, 57.12, 57.375)
"""What red, green and blue are divided by then."""
_CHANNELS, _SCORES, _BINS = 128, 80, 44  # of a map, and for each of its cells
_INPUT = "input_1"
_PREFIX = "PartitionedCall/"
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
"""Outputs of the graph and the source's nodes whose values they are."""

_LAYOUTS = {
    ("NCHW", (0, 2, 3, 1)): "NHWC",
    ("NHWC", (0, 3, 1, 2)): "NCHW",
    ("NCL", (0, 2, 1)): "NLC",
}
"""What a transposition of the source makes of a layout."""
_SHAPES_ONLY = ("SparseToDense", "AddV2")
_VALID = "VkFMSUQ="  # base64 of VALID, as attributes are written


@dataclass(frozen=True)
class _Value:
    """A value of the source and where it stands in the graph."""

    name: str
    """In the graph, in the order picture, channel, row, column."""
    layout: str
    """The order in which the source has it."""
    side: int = 0
    """Rows and columns, without the margin."""
    margin: int = 0
    """Width of a border that the source has added and the next node adds here."""


class _Conversion:
    """Walks the source's nodes and adds what each means."""

    def __init__(self, model: TfjsModel) -> None:
        self.graph = Graph()
        self._weights = model.weights
        self._values: dict[str, _Value] = {}
        self._makers: dict[str, Callable[[Node], _Value]] = {
            "Placeholder": self._input,
            "Pad": self._pad,
            "PadV2": self._pad,
            "Transpose": self._transpose,
            "Conv2D": self._convolve,
            "Add": self._add,
            "LeakyRelu": self._leak,
            "MaxPool": self._pool,
            "ConcatV2": self._join,
            "ResizeBilinear": self._resize,
            "Sigmoid": self._sigmoid,
            "Reshape": self._flatten,
            "Identity": self._same,
        }
        for node in model.nodes:
            self._convert(node)

    def value(self, source: str) -> _Value:
        """Return the value of a node of the source.

        Raises:
            BrokenFile: the source has no such node.
        """
        try:
            return self._values[source]
        except KeyError as error:
            raise BrokenFile(f"The TensorFlow.js model lacks {source}.") from error

    def _convert(self, node: Node) -> None:
        """Add what one node means."""
        if node.kind in _SHAPES_ONLY:
            return
        if node.kind == "SplitV":
            self._split(node)
            return
        if node.kind not in self._makers:
            raise BrokenFile(f"The TensorFlow.js model has a {node.kind}, which is not known here.")
        self._values[node.name] = self._makers[node.kind](node)

    def _require(self, node: Node, holds: bool) -> None:
        """Stop at a node whose use is not the one converted here."""
        if not holds:
            raise BrokenFile(f"The TensorFlow.js model uses {node.name} in a way not known here.")

    def _first(self, node: Node, layout: str = "") -> _Value:
        """Return a node's first input, in the layout that it must have."""
        value = self.value(node.inputs[0])
        self._require(node, value.layout == (layout or value.layout))
        return value

    def _bare(self, node: Node) -> _Value:
        """Return a node's first input, which must not wait for a border."""
        value = self._first(node)
        self._require(node, value.margin == 0)
        return value

    def _input(self, node: Node) -> _Value:
        """Turn bytes (n, 416, 416, 3) into normalised numbers; the first filters reverse RGB."""
        graph = self.graph
        planes = graph.add("Transpose", ["pixels"], "planes", perm=[0, 3, 1, 2])
        real = graph.add("Cast", [planes], "planes.real", to=onnx.TensorProto.FLOAT)
        mean = graph.constant("mean", np.array(MEAN, np.float32).reshape(3, 1, 1))
        deviation = graph.constant("deviation", np.array(DEVIATION, np.float32).reshape(3, 1, 1))
        centred = graph.add("Sub", [real, mean], "centred")
        return _Value(graph.add("Div", [centred, deviation], _INPUT), "NCHW", SIDE)

    def _pad(self, node: Node) -> _Value:
        """Note a border around rows and columns."""
        value = self._first(node, "NCHW")
        widths = self._weights[node.inputs[1]].tolist()
        margin = int(widths[2][0])
        self._require(node, widths == [[0, 0], [0, 0], [margin] * 2, [margin] * 2])
        return replace(value, margin=margin)

    def _transpose(self, node: Node) -> _Value:
        """Note another layout; only the outputs' last one moves numbers."""
        value = self._first(node)
        order = tuple(int(place) for place in self._weights[node.inputs[1]])
        self._require(node, (value.layout, order) in _LAYOUTS)
        layout = _LAYOUTS[value.layout, order]
        if layout != "NLC":
            return replace(value, layout=layout)
        name = self.graph.add("Transpose", [value.name], _short(node.name), perm=list(order))
        return _Value(name, layout)

    def _window(self, node: Node, value: _Value, kernel: int) -> tuple[int, int]:
        """Return the stride of a sliding window and the rows and columns it leaves."""
        self._require(node, node.attributes["padding"]["s"] == _VALID)
        steps = node.integers("strides")
        self._require(node, steps[0] == steps[3] == 1 and steps[1] == steps[2])
        return steps[1], (value.side + 2 * value.margin - kernel) // steps[1] + 1

    def _convolve(self, node: Node) -> _Value:
        """Add a convolution with the border noted before it; its bias comes with an Add."""
        value = self._first(node, "NHWC")
        weight = self._weights[node.inputs[1]].transpose(3, 2, 0, 1)
        self._require(node, node.integers("dilations") == [1, 1, 1, 1])
        stride, side = self._window(node, value, weight.shape[2])
        if value.name == _INPUT:
            weight = weight[:, ::-1]  # blue, green, red in the source
        name = self.graph.add(
            "Conv",
            [value.name, self.graph.constant(node.inputs[1].removeprefix(_PREFIX), weight)],
            _short(node.name),
            kernel_shape=list(weight.shape[2:]),
            strides=[stride, stride],
            pads=[value.margin] * 4,
        )
        return _Value(name, "NHWC", side)

    def _add(self, node: Node) -> _Value:
        """Add a bias to a convolution, or two values."""
        value = self._bare(node)
        if node.inputs[1] in self._weights:
            before = next(made for made in self.graph.nodes if value.name in made.output)
            self._require(node, before.op_type == "Conv" and len(before.input) == 2)
            bias = self._weights[node.inputs[1]]
            before.input.append(self.graph.constant(node.inputs[1], bias))
            return value
        other = self.value(node.inputs[1])
        self._require(node, other.margin == 0 and other.layout == value.layout)
        name = self.graph.add("Add", [value.name, other.name], _short(node.name))
        return replace(value, name=name)

    def _leak(self, node: Node) -> _Value:
        """Add the activation, which keeps a tenth of what is below zero."""
        value = self._bare(node)
        slope = float(node.attributes["alpha"]["f"])
        name = self.graph.add("LeakyRelu", [value.name], _short(node.name), alpha=slope)
        return replace(value, name=name)

    def _pool(self, node: Node) -> _Value:
        """Add the greatest value of a window."""
        value = self._first(node, "NHWC")
        kernel = node.integers("ksize")[1]
        stride, side = self._window(node, value, kernel)
        name = self.graph.add(
            "MaxPool",
            [value.name],
            _short(node.name),
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[value.margin] * 4,
        )
        return _Value(name, "NHWC", side)

    def _join(self, node: Node) -> _Value:
        parts = [self.value(name) for name in node.inputs[:-1]]
        axis = int(self._weights[node.inputs[-1]])
        self._require(node, axis == 1 and all(part.layout == "NCHW" for part in parts))
        self._require(node, all(part.margin == 0 for part in parts))
        names = [part.name for part in parts]
        return replace(parts[0], name=self.graph.add("Concat", names, _short(node.name), axis=1))

    def _resize(self, node: Node) -> _Value:
        """Scale rows and columns by linear interpolation between the cells' centres."""
        value = self._bare(node)
        side = int(self._weights[node.inputs[1]][0])
        self._require(node, bool(node.attributes["half_pixel_centers"]["b"]))
        factor = side / value.side
        scales = np.array([1, 1, factor, factor], np.float32)
        name = self.graph.add(
            "Resize",
            [value.name, "", self.graph.constant(f"scales_{factor:g}", scales)],
            _short(node.name),
            mode="linear",
            coordinate_transformation_mode="half_pixel",
        )
        return replace(value, name=name, side=side)

    def _split(self, node: Node) -> None:
        """Cut channels apart; the parts are named as the source names outputs."""
        value = self._first(node, "NCHW")
        lengths = [int(length) for length in self._weights[node.inputs[1]]]
        self._require(node, int(self._weights[node.inputs[2]]) == 1 and value.margin == 0)
        names = [f"{_short(node.name)}_{place}" for place in range(len(lengths))]
        inputs = [value.name, self.graph.integers(*lengths)]
        self.graph.add_many("Split", inputs, names, axis=1)
        for place, name in enumerate(names):
            suffix = f":{place}" if place else ""
            self._values[node.name + suffix] = replace(value, name=name)

    def _sigmoid(self, node: Node) -> _Value:
        value = self._bare(node)
        name = self.graph.add("Sigmoid", [value.name], _short(node.name))
        return replace(value, name=name)

    def _flatten(self, node: Node) -> _Value:
        """Put rows behind one another.

        The source computes the wanted shape from constants that amount to (1, channels, -1).
        """
        value = self._first(node, "NCHW")
        self._require(node, value.margin == 0)
        inputs = [value.name, self.graph.integers(0, 0, -1)]
        return _Value(self.graph.add("Reshape", inputs, _short(node.name)), "NCL")

    def _same(self, node: Node) -> _Value:
        return self._bare(node)


def _short(name: str) -> str:
    return name.removeprefix(_PREFIX).removeprefix("onnx_tf_prefix_")


def _shape(output: str) -> list[int | str]:
    """Return an output's shape; the number of pictures varies."""
    kind, cells = output[:-2], int(output[-2:])
    if kind == "pan":
        return ["n", _CHANNELS, cells, cells]
    return ["n", cells * cells, _SCORES if kind == "scores" else _BINS]


def build_graph(model: TfjsModel) -> onnx.ModelProto:
    """Author the detector's graph.

    Input is `pixels`, uint8 (n, 416, 416, 3), RGB, origin top left. Outputs, float32, for 52, 26
    and 13 cells a side, rows from the top: `scores52`... (n, cells², 80), between 0 and 1;
    `boxes52`... (n, cells², 44), for left, top, right and bottom 11 logits of the distance in
    strides each; `pan52`... (n, 128, cells, cells), the maps before the heads.

    Raises:
        BrokenFile: the source is another network.
    """
    conversion = _Conversion(model)
    graph = conversion.graph
    described = []
    for output, source in OUTPUTS.items():
        graph.add("Identity", [conversion.value(source).name], output)
        described.append(tensor(output, onnx.TensorProto.FLOAT, _shape(output)))
    pixels = tensor("pixels", onnx.TensorProto.UINT8, ["n", SIDE, SIDE, 3])
    return graph.model("nanodet", [pixels], described)


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx`.

    Args:
        source: folder with `nanodet.json` and `nanodet.bin`.
        target: existing folder to write to.
    """
    model = build_graph(read_model(source / "nanodet.json", source / "nanodet.bin"))
    (target / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
