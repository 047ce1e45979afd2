"""The conversion of EfficientNet-Lite2, on a network of its form with few channels."""

import numpy as np
import onnx
import onnxruntime
import pytest

from infra.model_files.conversion import convert_lite2
from tests.infra.model_files.conversion.plain_networks import STRIDES, Lite
from tests.infra.model_files.sources import torch_files

WIDTHS = [2, *[3] * 3, *[4] * 3, *[5] * 4, *[6] * 4, *[7] * 5, 8]
KERNELS = [3, *[3] * 3, *[5] * 3, *[3] * 4, *[5] * 4, *[5] * 5, 3]
LABELS = 6


def random_tensors(seed=0):
    """Tensors of the network's names and form."""
    random = np.random.default_rng(seed)
    tensors = {}

    def layer(convolution, norm, shape):
        reach = np.sqrt(2 / np.prod(shape[1:]))
        tensors[f"{convolution}.weight"] = random.normal(0, reach, shape).astype(np.float32)
        for part, low in (
            ("weight", 0.5),
            ("running_var", 0.5),
            ("bias", -1),
            ("running_mean", -1),
        ):
            values = random.uniform(low, 1.5, shape[0])
            tensors[f"{norm}.{part}"] = values.astype(np.float32)
        tensors[f"{norm}.num_batches_tracked"] = np.array(1, np.int64)

    layer("_conv_stem", "_bn0", (3, 3, 3, 3))
    inside = 3
    for number, (width, kernel) in enumerate(zip(WIDTHS, KERNELS, strict=True)):
        block, wide = f"_blocks.{number}", inside * (1 if number == 0 else 2)
        if number:
            layer(f"{block}._expand_conv", f"{block}._bn0", (wide, inside, 1, 1))
        layer(f"{block}._depthwise_conv", f"{block}._bn1", (wide, 1, kernel, kernel))
        layer(f"{block}._project_conv", f"{block}._bn2", (width, wide, 1, 1))
        inside = width
    layer("_conv_head", "_bn1", (10, inside, 1, 1))
    tensors["_fc.weight"] = random.normal(size=(LABELS, 10)).astype(np.float32)
    tensors["_fc.bias"] = random.normal(size=LABELS).astype(np.float32)
    return tensors


@pytest.fixture(scope="module")
def session():
    """The converted network."""
    model = convert_lite2.build_graph(random_tensors()).SerializeToString()
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("shape", [(1, 64, 64), (3, 32, 96)])
def test_graph_computes_the_network(session, shape):
    """Bytes of any number and size give what the plain computation gives, for every output."""
    pixels = np.random.default_rng(1).integers(0, 256, (*shape, 3), np.uint8)
    expected = Lite(random_tensors()).run(pixels)
    names = [output.name for output in session.get_outputs()]

    found = dict(zip(names, session.run(names, {"pixels": pixels}), strict=True))

    assert set(found) == {"logits", "embedding", "tap8", "tap16", "tap32"}
    for name, value in found.items():
        assert value.shape == expected[name].shape
        assert np.allclose(value, expected[name], rtol=0, atol=2e-4), name


def test_taps_lie_behind_the_blocks_named(session):
    """The maps have the widths of blocks 6, 14 and 20 at strides 8, 16 and 32."""
    pixels = np.zeros((1, 96, 64, 3), np.uint8)

    shapes = [value.shape for value in session.run(["tap8", "tap16", "tap32"], {"pixels": pixels})]

    assert shapes == [(1, 4, 12, 8), (1, 6, 6, 4), (1, 8, 3, 2)]
    assert convert_lite2.strides() == STRIDES


def test_normalisations_are_folded_and_bytes_repeat(tmp_path):
    """The file holds no normalisation, and converting twice gives the same digest."""
    torch_files.save(tmp_path / "weights.pth", random_tensors())
    contents = []
    for _ in range(2):
        convert_lite2.convert(tmp_path, tmp_path)
        contents.append((tmp_path / "model.onnx").read_bytes())

    kinds = {node.op_type for node in onnx.load_from_string(contents[0]).graph.node}

    assert "BatchNormalization" not in kinds
    assert contents[0] == contents[1]


def test_a_missing_tensor_is_noticed():
    """A network of another form stops the conversion."""
    tensors = random_tensors()
    del tensors["_blocks.7._depthwise_conv.weight"]

    with pytest.raises(KeyError, match=r"_blocks\.7"):
        convert_lite2.build_graph(tensors)
