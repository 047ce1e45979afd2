"""Writes a small detector of NanoDet's form as TensorFlow.js files."""

import base64
import json

import numpy as np

TO_LAST, TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
PREFIX = "PartitionedCall/"


class TfjsFile:
    """Collects nodes and weights in the form of the files."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.weights = []
        self.content = b""
        self.count = 0

    def weight(self, value, name=None):
        """Add a weight, integers as int32 and others as float16, and return its name."""
        value = np.asarray(value)
        name = name or f"{PREFIX}weight_{len(self.weights)}"
        described = {"name": name, "shape": list(value.shape), "dtype": "int32"}
        if value.dtype.kind == "f":
            facts = {"dtype": "float16", "original_dtype": "float32"}
            described |= {"dtype": "float32", "quantization": facts}
        self.content += value.astype("<f2" if value.dtype.kind == "f" else "<i4").tobytes()
        self.weights.append(described)
        self.nodes.append({"name": name, "op": "Const"})
        return name

    def node(self, kind, *inputs, name=None, **attributes):
        """Add a node and return its name."""
        self.count += 1
        name = name or f"{PREFIX}{kind}_{self.count}"
        self.nodes.append({"name": name, "op": kind, "input": list(inputs), "attr": attributes})
        return name

    def turn(self, value, order):
        """Transpose."""
        return self.node("Transpose", value, self.weight(np.array(order)))

    def border(self, value):
        """One row and column of zeros on each side."""
        return self.node("Pad", value, self.weight(np.array([[0, 0], [0, 0], [1, 1], [1, 1]])))

    def convolve(self, value, channels, *, size=3, stride=1, padding="VALID"):
        """Convolution with bias, (n, c, h, w) before and behind."""
        inside, outside = channels
        value = self.turn(self.border(value) if size == 3 else value, TO_LAST)
        filters = self.random.normal(0, (2 / inside / size**2) ** 0.5, (size, size, *channels))
        steps = {"list": {"i": ["1", str(stride), str(stride), "1"]}}
        value = self.node(
            "Conv2D",
            value,
            self.weight(filters),
            strides=steps,
            padding={"s": base64.b64encode(padding.encode()).decode()},
            dilations={"list": {"i": ["1"] * 4}},
        )
        value = self.node("Add", value, self.weight(self.random.normal(size=outside)))
        return self.turn(value, TO_FIRST)

    def activate(self, value):
        """Leaky activation."""
        return self.node("LeakyRelu", value, alpha={"f": 0.1})

    def pool(self, value):
        """Greatest of 3 x 3 at every second place."""
        widths = self.weight(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]))
        value = self.node("PadV2", value, widths, self.weight(np.array(-np.inf)))
        two = {"list": {"i": ["1", "2", "2", "1"]}}
        three = {"list": {"i": ["1", "3", "3", "1"]}}
        valid = {"s": base64.b64encode(b"VALID").decode()}
        value = self.turn(value, TO_LAST)
        value = self.node("MaxPool", value, strides=two, ksize=three, padding=valid)
        return self.turn(value, TO_FIRST)

    def resize(self, value, side):
        """Linear interpolation to another side."""
        value = self.node(
            "ResizeBilinear",
            self.turn(value, TO_LAST),
            self.weight(np.array([side, side])),
            half_pixel_centers={"b": True},
        )
        return self.turn(value, TO_FIRST)

    def head(self, value, names):
        """Scores and boxes of a level, flattened."""
        value = self.convolve(value, (128, 124), size=1)
        lengths, axis = self.weight(np.array([80, 44])), self.weight(np.array(1))
        split = self.node("SplitV", value, lengths, axis)
        score = self.node("Sigmoid", split)
        for part, count, name in ((score, 80, names[0]), (f"{split}:1", 44, names[1])):
            nothing = self.node(
                "SparseToDense",
                self.weight(np.zeros((0, 1), np.int64)),
                self.weight(np.array([3])),
                self.weight(np.zeros(0, np.int64)),
                self.weight(np.array(0)),
            )
            shape = self.node("AddV2", self.weight(np.array([1, count, -1])), nothing)
            flat = self.node("Reshape", part, shape)
            self.node("Identity", self.turn(flat, [0, 2, 1]), name=name)

    def save(self, folder):
        """Write `nanodet.json` and `nanodet.bin`; the nodes have no useful order."""
        document = {
            "modelTopology": {"node": self.nodes[::-1]},
            "weightsManifest": [{"paths": ["nanodet.bin"], "weights": self.weights}],
        }
        (folder / "nanodet.json").write_text(json.dumps(document))
        (folder / "nanodet.bin").write_bytes(self.content)


def tiny_detector(file=None, **changes):
    """Make a detector with every kind of node of NanoDet-g, few channels and three levels."""
    file = file or TfjsFile()
    file.node("Placeholder", name="input_1")
    value = file.activate(file.convolve("input_1", (3, 4), stride=2, **changes))
    value = file.pool(value)
    other = file.activate(file.convolve(value, (4, 2)))
    value = file.node("ConcatV2", value, other, file.weight(np.array(1)))
    maps = []
    for _ in range(3):
        value = file.activate(file.convolve(value, (6, 6), stride=2))
        maps.append(file.convolve(value, (6, 128), size=1))
    fused = [f"{PREFIX}onnx_tf_prefix_Add_{number}" for number in (107, 128, 149)]
    file.node("Add", maps[0], file.resize(maps[1], 52), name=fused[0])
    file.node("Add", maps[1], file.resize(fused[0], 26), name=fused[1])
    file.node("Add", maps[2], file.resize(fused[1], 13), name=fused[2])
    for place, value in enumerate(fused):
        score = f"Identity_{place}" if place else "Identity"
        file.head(value, (score, f"Identity_{place + 3}"))
    return file
