"""Cuts an installed encoder after given layers, to use the token states of these layers.

The last layers of an encoder represent the topic of a text, the middle layers also its style. The
resulting graph is small, because its matrices stay in the encoder's file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx

from infra.downloads.errors import BrokenFile
from infra.model_files.conversion.graph import Graph, tensor

WEIGHTS_FILE = "weights.onnx"
"""The encoder's file of weights: a hard link if the file system allows it, or a copy."""
_STATES = "layer{}_normal"
# Constants above this many bytes stay in the encoder's file, so that the new graph is small.
_LARGE = 20_000


def write_early_states(base: Path, layers: Sequence[int], result: Path) -> None:
    """Write `model.onnx`, and a file that contains the matrices of the encoder.

    The input is `ids`, as for the encoder. The output is `vector`, float32 (1, layers x width), of
    length 1: the normalised means of the token states of each layer, concatenated.

    Args:
        base: folder of an installed encoder whose graph is made by transformer_graph.py.
        layers: numbers of its layers, from 0.
        result: existing folder to write to.

    Raises:
        BrokenFile: the encoder's graph has no such layers.
    """
    path = base / "model.onnx"
    content = path.read_bytes()
    source = onnx.load_model_from_string(content).graph
    cut = Graph()
    cut.nodes = _leading_to(source, [_STATES.format(number) for number in layers])
    means = [_add_mean(cut, number) for number in layers]
    root = len(layers) ** 0.5
    joined = cut.add("Concat", means, "joined", axis=-1)
    cut.add("Div", [joined, cut.constant("layers_root", np.array(root, np.float32))], "vector")
    asked = {name for node in cut.nodes for name in node.input}
    cut.constants |= {each.name: each for each in source.initializer if each.name in asked}
    width = cut.constants["embedding_scale"].dims[0]
    outputs = [tensor("vector", onnx.TensorProto.FLOAT, [1, len(layers) * width])]
    model = cut.model(f"{source.name}-early", list(source.input), outputs)
    for constant in model.graph.initializer:
        _keep_outside(constant, content)
    _link(path, result / WEIGHTS_FILE)
    (result / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))


def _leading_to(source: onnx.GraphProto, names: Sequence[str]) -> list[onnx.NodeProto]:
    """Return the nodes that are needed to compute the named outputs, in order."""
    wanted, found = set(names), []
    for node in reversed(source.node):
        if wanted.intersection(node.output):
            wanted.difference_update(node.output)
            wanted.update(node.input)
            found.append(node)
    if missing := wanted.intersection(names):
        raise BrokenFile(f"model.onnx has no {', '.join(sorted(missing))}.")
    return found[::-1]


def _add_mean(cut: Graph, number: int) -> str:
    """Add the mean of a layer's tokens, scaled to length 1: float32 (1, width)."""
    mean = cut.add("ReduceMean", [_STATES.format(number)], f"mean{number}", axes=[1], keepdims=0)
    norm = cut.add("ReduceL2", [mean], f"norm{number}", axes=[-1], keepdims=1)
    return cut.add("Div", [mean, norm], f"unit{number}")


def _keep_outside(constant: onnx.TensorProto, content: bytes) -> None:
    """Replace the content of a large constant by a reference to the encoder's file."""
    data = constant.raw_data
    if len(data) < _LARGE:
        return
    constant.ClearField("raw_data")
    constant.data_location = onnx.TensorProto.EXTERNAL
    place = {"location": WEIGHTS_FILE, "offset": content.index(data), "length": len(data)}
    for key, value in place.items():
        constant.external_data.add(key=key, value=str(value))


def _link(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except OSError:
        shutil.copyfile(path, place)
