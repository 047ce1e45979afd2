"""The vision networks written down plainly in numpy, float64, from the sources' files.

Slow and simple on purpose: nothing is folded, layouts are those of the sources. The conversions
are compared with it, and the outputs in infra/model_files/verification/vision_references.json were
made with it: `python -m tests.infra.model_files.conversion.plain_networks`, with the arguments
WEIGHTS_PTH NANODET_JSON NANODET_BIN.
"""

import json
import sys
from pathlib import Path

import numpy as np

from infra.model_files.sources.tfjs_model import read_model
from infra.model_files.sources.torch_stream import read_tensors
from infra.model_files.verification import vision_references

STRIDES = [1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1]
TAPS = {6: "tap8", 14: "tap16", 20: "tap32"}


def windows(maps, size, stride):
    """Cut (n, h, w, c) into windows: (n, rows, columns, size, size, c)."""
    cut = np.lib.stride_tricks.sliding_window_view(maps, (size, size), (1, 2))
    return cut[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def convolve(maps, weight, stride):
    """Slide filters (h, w, in, out) over maps (n, h, w, in) without a border."""
    size = weight.shape[0]
    rows = windows(maps, size, stride)
    filters = weight.reshape(-1, weight.shape[3])
    return (rows.reshape(-1, len(filters)) @ filters).reshape(*rows.shape[:3], -1)


def filter_each(maps, weight, stride):
    """Slide one filter (h, w) of (h, w, c) over each channel."""
    return np.einsum("nrcxyk,xyk->nrck", windows(maps, weight.shape[0], stride), weight)


class Lite:
    """EfficientNet-Lite from its tensors by name."""

    def __init__(self, tensors):
        self.tensors = {name: value.astype(np.float64) for name, value in tensors.items()}

    def layer(self, maps, convolution, norm, stride=1, *, active=True):
        """Convolution, batch normalisation and, unless it narrows, min(max(x, 0), 6)."""
        weight = self.tensors[f"{convolution}.weight"].transpose(2, 3, 1, 0)
        size = weight.shape[0]
        if size > 1:
            before = {(3, 1): 1, (3, 2): 0, (5, 1): 2, (5, 2): 1}[size, stride]
            behind = {(3, 1): 1, (3, 2): 1, (5, 1): 2, (5, 2): 2}[size, stride]
            maps = np.pad(maps, ((0, 0), (before, behind), (before, behind), (0, 0)))
        if weight.shape[2] == 1:
            maps = filter_each(maps, weight[:, :, 0], stride)
        else:
            maps = convolve(maps, weight, stride)
        parts = ("running_mean", "running_var", "weight", "bias")
        mean, variance, scale, shift = (self.tensors[f"{norm}.{part}"] for part in parts)
        maps = (maps - mean) / np.sqrt(variance + 1e-3) * scale + shift
        return np.clip(maps, 0, 6) if active else maps

    def run(self, pixels):
        """Return the outputs for pixels (n, h, w, 3) by name, maps as (n, c, h, w)."""
        maps = self.layer((pixels - 127.0) / 128.0, "_conv_stem", "_bn0", 2)
        outputs = {}
        for number, stride in enumerate(STRIDES):
            block, inside = f"_blocks.{number}", maps
            if f"{block}._expand_conv.weight" in self.tensors:
                maps = self.layer(maps, f"{block}._expand_conv", f"{block}._bn0")
            maps = self.layer(maps, f"{block}._depthwise_conv", f"{block}._bn1", stride)
            maps = self.layer(maps, f"{block}._project_conv", f"{block}._bn2", active=False)
            if maps.shape == inside.shape:
                maps = maps + inside
            if number in TAPS:
                outputs[TAPS[number]] = maps.transpose(0, 3, 1, 2)
        embedding = self.layer(maps, "_conv_head", "_bn1").mean((1, 2))
        logits = embedding @ self.tensors["_fc.weight"].T + self.tensors["_fc.bias"]
        return {"logits": logits, "embedding": embedding, **outputs}


def interpolate(maps, sides):
    """Resize (n, h, w, c) linearly between the cells' centres."""
    for axis, side in ((1, sides[0]), (2, sides[1])):
        length = maps.shape[axis]
        places = np.clip((np.arange(side) + 0.5) * length / side - 0.5, 0, length - 1)
        low = np.floor(places).astype(int)
        high = np.minimum(low + 1, length - 1)
        shape = [1] * 4
        shape[axis] = side
        part = (places - low).reshape(shape)
        maps = maps.take(low, axis) * (1 - part) + maps.take(high, axis) * part
    return maps


class Tfjs:
    """A TensorFlow.js graph, node by node as TensorFlow defines them."""

    def __init__(self, model):
        self.model = model

    def run(self, maps):
        """Return the value of every node for an input (n, 3, h, w)."""
        values = dict(self.model.weights)
        values = {
            name: value.astype(np.float64) if value.dtype == np.float32 else value
            for name, value in values.items()
        }
        for node in self.model.nodes:
            inputs = [values[name] for name in node.inputs]
            result = maps if node.kind == "Placeholder" else KINDS[node.kind](node, inputs)
            if node.kind == "SplitV":
                values[node.name], values[f"{node.name}:1"] = result
            else:
                values[node.name] = result
        return values


def pool(node, inputs):
    """Return the greatest value of every window."""
    size, stride = node.integers("ksize")[1], node.integers("strides")[1]
    return windows(inputs[0], size, stride).max((3, 4))


def leak(node, inputs):
    """Return what is above zero, and a part of what is below."""
    return np.where(inputs[0] > 0, inputs[0], inputs[0] * node.attributes["alpha"]["f"])


KINDS = {
    "Pad": lambda _, inputs: np.pad(*inputs),
    "PadV2": lambda _, inputs: np.pad(*inputs[:2], constant_values=float(inputs[2])),
    "Transpose": lambda _, inputs: inputs[0].transpose(inputs[1]),
    "Conv2D": lambda node, inputs: convolve(*inputs, node.integers("strides")[1]),
    "MaxPool": pool,
    "Add": lambda _, inputs: inputs[0] + inputs[1],
    "AddV2": lambda _, inputs: inputs[0] + inputs[1],
    "LeakyRelu": leak,
    "ConcatV2": lambda _, inputs: np.concatenate(inputs[:-1], int(inputs[-1])),
    "SplitV": lambda _, inputs: np.split(inputs[0], np.cumsum(inputs[1])[:-1], int(inputs[2])),
    "Sigmoid": lambda _, inputs: 1 / (1 + np.exp(-inputs[0])),
    "ResizeBilinear": lambda _, inputs: interpolate(*inputs),
    "SparseToDense": lambda _, inputs: np.zeros(inputs[1], np.int64),
    "Reshape": lambda _, inputs: inputs[0].reshape(len(inputs[0]), *inputs[1][1:]),
    "Identity": lambda _, inputs: inputs[0],
}
"""What TensorFlow's operations compute from a node and its inputs."""


def nanodet_outputs(model, pixels):
    """Return NanoDet's outputs for pixels (n, 416, 416, 3), RGB, by name."""
    colours = pixels[..., ::-1].astype(np.float64)
    normal = (colours - [103.53, 116.28, 123.675]) / [57.375, 57.12, 58.395]
    values = Tfjs(model).run(normal.transpose(0, 3, 1, 2))
    outputs = {}
    for cells, score, box, fused in ((52, 0, 3, 107), (26, 1, 4, 128), (13, 2, 5, 149)):
        outputs[f"scores{cells}"] = values[f"Identity_{score}" if score else "Identity"]
        outputs[f"boxes{cells}"] = values[f"Identity_{box}"]
        outputs[f"pan{cells}"] = values[f"PartitionedCall/onnx_tf_prefix_Add_{fused}"]
    return outputs


def main(weights, description, content):
    """Write the reference outputs again from the sources' files."""
    lite = Lite(read_tensors(Path(weights)))
    model = read_model(Path(description), Path(content))
    pictures = {
        name: vision_references.draw(side) for name, side in vision_references.SIDES.items()
    }
    packed = {
        "lite2": vision_references.pack(lite.run(pictures["lite2"])),
        "nanodet": vision_references.pack(nanodet_outputs(model, pictures["nanodet"])),
    }
    text = json.dumps(packed, indent=1) + "\n"
    vision_references.FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
