"""Converts EfficientNet-Lite2 from its PyTorch weights into an ONNX graph.

The graph is built node by node: a stem, 21 inverted bottlenecks without
squeeze-and-excitation, and a head. Every batch normalisation is folded into its convolution.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx

from chalicelib.domain.common.arrays import Singles
from infra.model_files.conversion.graph import Graph, tensor
from infra.model_files.sources.torch_stream import read_tensors

Weights = Mapping[str, npt.NDArray[np.generic]]

MEAN, SCALE = 127.0, 1 / 128  # a pixel x, 0 to 255, becomes (x - 127) / 128
# Number of blocks of each stage, and the stride of its first block.
STAGES = ((1, 1), (3, 2), (3, 2), (4, 2), (4, 1), (5, 2), (1, 1))
# The block whose output is taken at stride 8, 16 and 32.
TAPS = {"tap8": 6, "tap16": 14, "tap32": 20}
EPSILON = 1e-3  # of the batch normalisations
_MAX_ACTIVATION = 6.0


def strides() -> list[int]:
    """Return the stride of each block in order."""
    return [stride if place == 0 else 1 for repeats, stride in STAGES for place in range(repeats)]


def fold(weights: Weights, convolution: str, norm: str) -> tuple[Singles, Singles]:
    """Fold a batch normalisation into the convolution before it, in float64.

    Args:
        weights: tensors by name.
        convolution: name of the convolution, whose weight is (out, in, height, width).
        norm: name of the batch normalisation.

    Returns:
        Weight, float32 (out, in, height, width), and bias, float32 (out,).
    """
    scale, shift, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + EPSILON)
    weight = weights[f"{convolution}.weight"].astype(np.float64) * factor[:, None, None, None]
    return weight.astype(np.float32), (shift - mean * factor).astype(np.float32)


def padding(kernel: int, stride: int) -> tuple[int, int]:
    """Return the "same" padding before and after an axis whose size is a multiple of 32."""
    total = kernel - stride
    return total // 2, total - total // 2


def _add_convolution(
    graph: Graph, weights: Weights, names: tuple[str, str], source: str, stride: int = 1
) -> str:
    """Add a convolution with its folded normalisation and return its output's name."""
    weight, bias = fold(weights, *names)
    before, behind = padding(weight.shape[2], stride)
    name = names[0].removeprefix("_").replace("._", ".")
    inputs = [
        source,
        graph.constant(f"{name}.weight", weight),
        graph.constant(f"{name}.bias", bias),
    ]
    # A filter with one input channel, and as many groups as channels, is depthwise.
    group = len(weight) if weight.shape[1] == 1 else 1
    return graph.add(
        "Conv",
        inputs,
        name,
        kernel_shape=list(weight.shape[2:]),
        strides=[stride, stride],
        pads=[before, before, behind, behind],
        group=group,
    )


def _add_activation(graph: Graph, source: str) -> str:
    low = graph.constant("zero", np.array(0, np.float32))
    high = graph.constant("six", np.array(_MAX_ACTIVATION, np.float32))
    return graph.add("Clip", [source, low, high], f"{source}.active")


def _add_block(graph: Graph, weights: Weights, number: int, source: str, stride: int) -> str:
    """Add an inverted bottleneck: widen, filter each channel, narrow, then add the input."""
    block = f"_blocks.{number}"
    value = source
    if f"{block}._expand_conv.weight" in weights:
        names = (f"{block}._expand_conv", f"{block}._bn0")
        value = _add_activation(graph, _add_convolution(graph, weights, names, value))
    names = (f"{block}._depthwise_conv", f"{block}._bn1")
    value = _add_activation(graph, _add_convolution(graph, weights, names, value, stride))
    names = (f"{block}._project_conv", f"{block}._bn2")
    value = _add_convolution(graph, weights, names, value)
    first = weights.get(f"{block}._expand_conv.weight", weights[f"{block}._depthwise_conv.weight"])
    inside = first.shape[1] if f"{block}._expand_conv.weight" in weights else first.shape[0]
    if stride == 1 and inside == weights[f"{block}._project_conv.weight"].shape[0]:
        value = graph.add("Add", [value, source], f"blocks.{number}")
    return value


def _add_input(graph: Graph) -> str:
    """Add nodes that convert bytes (n, height, width, 3) into numbers (n, 3, height, width)."""
    planes = graph.add("Transpose", ["pixels"], "planes", perm=[0, 3, 1, 2])
    real = graph.add("Cast", [planes], "planes.real", to=onnx.TensorProto.FLOAT)
    mean = graph.constant("mean", np.array(MEAN, np.float32))
    scale = graph.constant("scale", np.array(SCALE, np.float32))
    return graph.add("Mul", [graph.add("Sub", [real, mean], "centred"), scale], "scaled")


def _add_head(graph: Graph, weights: Weights, source: str) -> None:
    wide = _add_convolution(graph, weights, ("_conv_head", "_bn1"), source)
    pooled = graph.add("GlobalAveragePool", [_add_activation(graph, wide)], "pooled")
    graph.add("Flatten", [pooled], "embedding", axis=1)
    matrix = graph.constant("fc.weight", weights["_fc.weight"].astype(np.float32))
    bias = graph.constant("fc.bias", weights["_fc.bias"].astype(np.float32))
    graph.add("Gemm", ["embedding", matrix, bias], "logits", transB=1)


def _outputs(weights: Weights) -> list[onnx.ValueInfoProto]:
    real = onnx.TensorProto.FLOAT
    described = [
        tensor("logits", real, ["n", len(weights["_fc.bias"])]),
        tensor("embedding", real, ["n", weights["_fc.weight"].shape[1]]),
    ]
    for name, block in TAPS.items():
        channels = len(weights[f"_blocks.{block}._project_conv.weight"])
        stride = name.removeprefix("tap")
        described.append(tensor(name, real, ["n", channels, f"h/{stride}", f"w/{stride}"]))
    return described


def build_graph(weights: Weights) -> onnx.ModelProto:
    """Build the network's graph.

    The input is `pixels`, uint8 (n, h, w, 3), RGB, with h and w multiples of 32. The outputs are
    float32: `logits` (n, labels); `embedding` (n, channels), which is the mean of the last feature
    map; and the feature maps `tap8` (n, channels, h/8, w/8), `tap16` and `tap32`.
    """
    graph = Graph()
    stem = _add_convolution(graph, weights, ("_conv_stem", "_bn0"), _add_input(graph), 2)
    value = _add_activation(graph, stem)
    taps = {block: name for name, block in TAPS.items()}
    for number, stride in enumerate(strides()):
        value = _add_block(graph, weights, number, value, stride)
        if number in taps:
            value = graph.add("Identity", [value], taps[number])
    _add_head(graph, weights, value)
    pixels = tensor("pixels", onnx.TensorProto.UINT8, ["n", "h", "w", 3])
    return graph.model("lite2", [pixels], _outputs(weights))


def convert(source: Path, target: Path) -> None:
    """Write `model.onnx` from `weights.pth`."""
    model = build_graph(read_tensors(source / "weights.pth"))
    (target / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
