"""Rounding tuned weights as an installation rounds an encoder's own."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from infra.finetuning.export import read_weights, rounded_layers

TUNED = "model.layers.2.attn.q_proj.MatMul.weight"
FROZEN = "model.layers.0.attn.q_proj.MatMul.weight"
BIAS = "model.layers.2.attn.q_proj.Add.bias"


@pytest.fixture
def graph(tmp_path):
    """A graph of two products and a bias in full precision."""
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=(8, 8)).astype(np.float32) for name in (TUNED, FROZEN)}
    weights[BIAS] = random.normal(size=8).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", FROZEN], ["a"], name="first"),
        helper.make_node("MatMul", ["a", TUNED], ["b"], name="second"),
        helper.make_node("Add", ["b", BIAS], ["y"], name="third"),
    ]
    sides = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 8]) for name in ("x", "y")
    ]
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    body = helper.make_graph(nodes, "tiny", sides[:1], sides[1:], constants)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(body, opset_imports=opset, ir_version=8), tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_rounded_layers_hold_the_tuned_weights_and_no_other(graph, tmp_path):
    """Tuned products come as bytes with scales, tuned biases as they are, frozen ones not."""
    tuned = {TUNED: np.eye(8, dtype=np.float32) * 3, BIAS: np.arange(8, dtype=np.float32)}

    layers = rounded_layers(graph, tuned, tmp_path)

    assert set(layers) == {f"{TUNED}_quantized", f"{TUNED}_scale", BIAS}
    values = layers[f"{TUNED}_quantized"] * layers[f"{TUNED}_scale"]
    assert values == pytest.approx(tuned[TUNED], abs=0.03)
    assert layers[f"{TUNED}_quantized"].dtype == np.int8
    assert np.abs(layers[f"{TUNED}_quantized"].astype(int)).max() <= 64
    assert layers[BIAS].tolist() == tuned[BIAS].tolist()


def test_a_weight_that_the_graph_lacks_is_refused(graph, tmp_path):
    """A wrong name is noticed before anything is written."""
    with pytest.raises(KeyError, match="unknown"):
        rounded_layers(graph, {"unknown": np.zeros((8, 8), np.float32)}, tmp_path)


def test_read_weights_by_name(graph):
    """Every constant of the graph is read in full precision."""
    weights = read_weights(graph)

    assert set(weights) == {TUNED, FROZEN, BIAS}
    assert weights[BIAS].dtype == np.float32
