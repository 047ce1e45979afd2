"""The names of the weights of bge in its package's graph."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import convert_bge


def graph():
    """Make some constants and one product of a graph like the package's."""
    layer = "encoder.layer.3.attention.output"
    constants = {
        "embeddings.word_embeddings.weight_quantized": np.array([[3, 128]], np.uint8),
        "embeddings.word_embeddings.weight_zero_point": np.array(128, np.uint8),
        "embeddings.word_embeddings.weight_scale": np.array(0.5, np.float32),
        "product_7_quantized": np.array([[-64, 2]], np.int8),
        "product_7_zero_point": np.array([0, 0], np.int8),
        "product_7_scale": np.array([0.25, 2.0], np.float32),
        f"{layer}.dense.bias": np.array([1.0], np.float32),
        f"{layer}.LayerNorm.weight": np.array([2.0], np.float32),
        "embeddings.LayerNorm.bias": np.array([3.0], np.float32),
    }
    output = "/encoder/layer.3/attention/output/dense/MatMul_output_0_output_quantized"
    product = helper.make_node("MatMulInteger", ["rows", "product_7_quantized"], [output])
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    return helper.make_graph([product], "bge", [], [], tensors)


def test_weights_are_found_and_widened():
    """Bytes become numbers by their zero point and scale, of one or of each column."""
    weights = convert_bge.BgeWeights(graph())

    assert weights("words").tolist() == [[-62.5, 0.0]]
    assert weights("layer3_attention_output_weight").tolist() == [[-16.0, 4.0]]
    assert weights("layer3_attention_output_bias").tolist() == [1.0]
    assert weights("layer3_attention_scale").tolist() == [2.0]
    assert weights("embedding_shift").tolist() == [3.0]


def test_another_graph_is_refused(tmp_path):
    """A file without the weights is named as broken, with what is missing."""
    onnx.save(helper.make_model(graph()), str(tmp_path / "model.onnx"))

    with pytest.raises(BrokenFile, match=r"position_embeddings"):
        convert_bge.build(tmp_path)
