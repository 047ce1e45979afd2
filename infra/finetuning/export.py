"""From tuned weights to the file that is committed: rounded to 8 bits, under the graph's names.

Needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from chalicelib.domain.common.arrays import Array, Singles
from infra.model_files.conversion.quantise import quantise

_ZERO_POINT = "_zero_point"


def read_weights(path: Path) -> dict[str, Singles]:
    """Return the constants of a graph in full precision, by name."""
    model = onnx.load(str(path), load_external_data=True)
    return {
        constant.name: numpy_helper.to_array(constant).astype(np.float32)
        for constant in model.graph.initializer
    }


def rounded_layers(path: Path, tuned: Mapping[str, Singles], folder: Path) -> dict[str, Array]:
    """Round the tuned weights as an installation rounds the encoder's own.

    Args:
        path: the encoder's graph in full precision.
        tuned: weights that take the place of its own, by name.
        folder: existing folder for the rounded graph.

    Returns:
        What differs from the installed encoder: constants by name.

    Raises:
        KeyError: the graph lacks a weight.
    """
    model = onnx.load(str(path), load_external_data=True)
    constants = {constant.name: constant for constant in model.graph.initializer}
    for name, value in tuned.items():
        constants[name].CopyFrom(numpy_helper.from_array(value, name))
    quantise(model, folder / "tuned.onnx")
    graph = onnx.load(str(folder / "tuned.onnx")).graph
    # Zero points are zeros, tuned or not: these weights are rounded around 0.
    return {
        constant.name: numpy_helper.to_array(constant)
        for constant in graph.initializer
        if constant.name.startswith(tuple(tuned)) and not constant.name.endswith(_ZERO_POINT)
    }
