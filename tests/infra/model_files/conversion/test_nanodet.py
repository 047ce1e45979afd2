"""The conversion of NanoDet-g, on a detector of its form with few channels."""

import numpy as np
import onnxruntime
import pytest

from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import convert_nanodet
from infra.model_files.sources.tfjs_model import read_model
from tests.infra.model_files.conversion.plain_networks import nanodet_outputs
from tests.infra.model_files.sources.tfjs_files import TfjsFile, tiny_detector


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small detector's files, converted next to them."""
    folder = tmp_path_factory.mktemp("nanodet")
    tiny_detector().save(folder)
    convert_nanodet.convert(folder, folder)
    return folder


def test_graph_computes_the_detector(folder):
    """Two pictures of bytes, RGB, give what TensorFlow's definitions give for each, BGR."""
    model = read_model(folder / "nanodet.json", folder / "nanodet.bin")
    pixels = np.random.default_rng(1).integers(0, 256, (2, 416, 416, 3), np.uint8)
    expected = nanodet_outputs(model, pixels)
    session = onnxruntime.InferenceSession(
        folder / "model.onnx", providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]

    found = dict(zip(names, session.run(names, {"pixels": pixels}), strict=True))

    assert set(found) == set(expected)
    for name, value in found.items():
        assert value.shape == expected[name].shape
        assert np.allclose(value, expected[name], rtol=0, atol=2e-4), name


def test_conversion_repeats_and_moves_nothing_needlessly(folder, tmp_path):
    """The same bytes come again, and only the six flattened outputs are transposed."""
    first = (folder / "model.onnx").read_bytes()

    convert_nanodet.convert(folder, tmp_path)

    assert (tmp_path / "model.onnx").read_bytes() == first
    model = read_model(folder / "nanodet.json", folder / "nanodet.bin")
    kinds = [node.op_type for node in convert_nanodet.build_graph(model).graph.node]
    assert kinds.count("Transpose") == 7
    assert "Pad" not in kinds


def converted(tmp_path, file):
    """Write a file and convert it."""
    file.save(tmp_path)
    return convert_nanodet.convert(tmp_path, tmp_path)


def with_node(kind, *inputs, **attributes):
    """Make a detector's file with one more node."""
    file = tiny_detector()
    file.node(kind, *inputs, **attributes)
    return file


def turned(order):
    """Make a detector's file that transposes in another way."""
    file = tiny_detector()
    file.turn("input_1", order)
    return file


def bordered():
    """Make a detector's file that adds a border for something else than a window."""
    file = tiny_detector()
    file.activate(file.border("input_1"))
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (lambda: with_node("Softmax", "input_1"), "Softmax"),
        (lambda: tiny_detector(padding="SAME"), "Conv2D"),
        (lambda: turned([3, 2, 1, 0]), "Transpose"),
        (lambda: turned([0, 3, 1, 2]), "Transpose"),
        (bordered, "LeakyRelu"),
        (TfjsFile, "lacks Identity"),
        (lambda: with_node("Sigmoid", "nowhere"), "no order"),
    ],
)
def test_another_network_is_refused(tmp_path, file, message):
    """What the conversion would get wrong stops it with the node's name."""
    with pytest.raises(BrokenFile, match=message):
        converted(tmp_path, file())


@pytest.mark.parametrize("change", [-2, 2])
def test_weights_of_another_length_are_refused(folder, tmp_path, change):
    """A binary file that is cut short or does not belong to the graph is named."""
    content = (folder / "nanodet.bin").read_bytes()
    content = content[:change] if change < 0 else content + bytes(change)
    (tmp_path / "nanodet.bin").write_bytes(content)

    with pytest.raises(BrokenFile, match="binary file"):
        read_model(folder / "nanodet.json", tmp_path / "nanodet.bin")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"modelTopology": {"node": [1]}}'])
def test_what_is_not_a_graph_is_refused(tmp_path, text):
    """Another JSON file is an error, not an empty graph."""
    for name in ("nanodet.json", "nanodet.bin"):
        (tmp_path / name).write_text(text)

    with pytest.raises(BrokenFile, match="cannot be read"):
        read_model(tmp_path / "nanodet.json", tmp_path / "nanodet.bin")
