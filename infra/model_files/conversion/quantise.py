"""Rounds a transformer's weights to 8 bits.

Most matrix products use integers, with one scale per column of the weights and one scale for all
activations. Where a few activations are very large, this would round small activations to zero.
There, products have a scale for each block of 32 weights, and for each block of 32 activations.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from chalicelib.domain.common.arrays import Pixels, Singles

BLOCK = 32
_MICROSOFT = "com.microsoft"
_MIDDLE = 128  # the byte of zero
_INTEGER_PRODUCTS = 4  # accuracy level at which activations are rounded by block too


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the quantiser's advice to run a preprocessing that these graphs do not need."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        logging.disable(before)


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Make the quantiser write its temporary copy of the graph into a folder."""
    # The copy is as large as the graph in full precision, which may not fit into the system's
    # temporary folder. The space in the model directory has been checked.
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def quantise(model: onnx.ModelProto, target: Path, exclude: Sequence[str] = ()) -> None:
    """Round weights of a graph, in place, to 8 bits with a scale per channel; write it to a file.

    Nodes named in `exclude` keep their precision.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    del model.graph.value_info[:]  # The declared shapes are wrong for the quantised nodes.
    with _quiet(), _temporary_files_in(target.parent):
        quantize_dynamic(
            model,
            str(target),
            weight_type=QuantType.QInt8,
            per_channel=True,
            # Weights have 7 bits: with 8, processors without VNNI saturate and give other vectors.
            reduce_range=True,
            nodes_to_exclude=list(exclude),
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )


def quantise_by_block(model: onnx.ModelProto, products: Sequence[str]) -> None:
    """Replace matrix products by products of 8-bit blocks.

    Args:
        model: a graph in full precision, which is changed.
        products: names of MatMul nodes, whose weights are constants, float32 (in, out).
    """
    constants = {constant.name: constant for constant in model.graph.initializer}
    for node in model.graph.node:
        if node.name in products:
            weight = constants[node.input[1]]
            inputs, outputs = numpy_helper.to_array(weight).shape
            blocks, scales = _blocks(numpy_helper.to_array(weight))
            model.graph.initializer.remove(weight)
            names = [f"{weight.name}_blocks", f"{weight.name}_scales"]
            parts = (
                numpy_helper.from_array(blocks, names[0]),
                numpy_helper.from_array(scales, names[1]),
            )
            model.graph.initializer.extend(parts)
            node.op_type, node.domain = "MatMulNBits", _MICROSOFT
            del node.input[1:]
            node.input.extend(names)
            sizes = {"K": inputs, "N": outputs, "bits": 8, "block_size": BLOCK}
            sizes["accuracy_level"] = _INTEGER_PRODUCTS
            node.attribute.extend(helper.make_attribute(key, size) for key, size in sizes.items())
    model.opset_import.append(helper.make_opsetid(_MICROSOFT, 1))


def _blocks(weight: Singles) -> tuple[Pixels, Singles]:
    """Round weights, float32 (in, out), to uint8 (out, blocks, 32) and scales (out · blocks,)."""
    parts = weight.T.reshape(weight.shape[1], -1, BLOCK)
    scales = np.abs(parts).max(axis=2, keepdims=True) / np.float32(_MIDDLE - 1)
    rounded = np.rint(parts / np.where(scales > 0, scales, 1)) + _MIDDLE
    return rounded.astype(np.uint8), scales.astype(np.float32).reshape(-1)
