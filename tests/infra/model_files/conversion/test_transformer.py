"""The graphs of transformer encoders, on small ones whose right answers are computed plainly."""

import tempfile

import numpy as np
import onnx
import onnxruntime
import pytest

from infra.model_files.conversion.convert_mpnet import MpnetWeights, distance_table
from infra.model_files.conversion.quantise import quantise, quantise_by_block
from infra.model_files.conversion.transformer_graph import FFN_OUTPUT, MAX_TOKENS, build_graph
from tests.infra.model_files.conversion.tiny_transformer import (
    expected_vector,
    random_weights,
    shape,
)


def run(model, ids):
    """Ask a graph for the vector of one text."""
    content = model if isinstance(model, str) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(["vector"], {"ids": np.array(ids, np.int64)})[0]


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("length", [1, 2, 17, MAX_TOKENS])
def test_graph_computes_the_encoder(has_bias, length):
    """The graph gives what the formula gives, from one token to the most, with and without bias."""
    weights = random_weights()
    ids = np.random.default_rng(length).integers(0, 50, length)

    found = run(build_graph(shape(has_bias), weights.__getitem__), ids)

    assert found.shape == (1, 64)
    assert found[0] == pytest.approx(expected_vector(weights, ids, has_bias), abs=2e-5)


@pytest.mark.parametrize("length", [1, 17])
def test_graph_takes_the_first_state_where_it_is_asked_to(length):
    """The last layer works on one token alone, and gives what it would give among all."""
    weights = random_weights()
    ids = np.random.default_rng(length).integers(0, 50, length)

    found = run(build_graph(shape(is_first_taken=True), weights.__getitem__), ids)

    expected = expected_vector(weights, ids, is_first_taken=True)
    assert found[0] == pytest.approx(expected, abs=2e-5)


def test_graph_is_the_same_every_time():
    """Converting twice gives the same bytes, so that the digest names the encoder."""
    first, second = (build_graph(shape(True), random_weights().__getitem__) for _ in range(2))

    assert first.SerializeToString() == second.SerializeToString()


def test_rounded_graph_stays_near(tmp_path):
    """Quantized weights take a quarter of the size, and the vector hardly changes."""
    weights, ids = random_weights(), [0, 7, 9, 30, 2]
    model = build_graph(shape(True), weights.__getitem__)
    before = len(model.SerializeToString())

    quantise_by_block(model, [FFN_OUTPUT.format(1)])
    quantise(model, tmp_path / "model.onnx", exclude=["pair_bias"])

    kinds = [node.op_type for node in onnx.load(tmp_path / "model.onnx").graph.node]
    assert kinds.count("MatMulNBits") == 1
    assert {"MatMulInteger", "DynamicQuantizeMatMul"} & set(kinds)
    assert (tmp_path / "model.onnx").stat().st_size < before / 2
    found = run(str(tmp_path / "model.onnx"), ids)[0]
    assert found @ expected_vector(weights, ids, has_bias=True) > 0.99


def test_rounding_writes_next_to_its_result_only(tmp_path, monkeypatch):
    """Quantization needs no temporary folder and leaves only the graph."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "full"))
    (tmp_path / "result").mkdir()

    model = build_graph(shape(False), random_weights().__getitem__)
    quantise(model, tmp_path / "result/model.onnx")

    assert [path.name for path in (tmp_path / "result").iterdir()] == ["model.onnx"]
    assert tempfile.tempdir == str(tmp_path / "full")


def test_products_by_block_survive_one_large_activation(tmp_path):
    """Block-wise quantization tolerates one large activation, unlike plain 8-bit products."""
    weights, ids = random_weights(), [0, 7, 9, 30, 2]
    weights["layer1_ffn_input_bias"][3] = 400.0
    expected = expected_vector(weights, ids)

    def cosine(products):
        model = build_graph(shape(), weights.__getitem__)
        quantise_by_block(model, products)
        quantise(model, tmp_path / "model.onnx")
        return run(str(tmp_path / "model.onnx"), ids)[0] @ expected

    assert 1 - cosine([FFN_OUTPUT.format(1)]) < (1 - cosine([])) / 2


def test_distances_fall_into_the_buckets_of_the_makers():
    """Distances are assigned to the same relative-position buckets as in the original."""
    buckets = np.arange(64, dtype=np.float32).reshape(32, 2)

    table = distance_table(buckets)

    found = {distance: int(table[0, distance + 127]) // 2 for distance in range(-127, 128)}
    assert table.shape == (2, 255)
    assert [found[-distance] for distance in range(9)] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert [found[distance] for distance in range(1, 9)] == [17, 18, 19, 20, 21, 22, 23, 24]
    assert [found[d] for d in (-11, -12, -16, -22, -23, -32, -63, -64, -90, -91, -127)] == [
        8, 9, 10, 10, 11, 12, 13, 14, 14, 15, 15,
    ]  # fmt: skip
    assert found[127] == 31
    assert (table[1] == table[0] + 1).all()


def test_published_weights_are_found_by_the_names_of_the_graph():
    """Every published weight is used once, transposed and offset as needed."""
    layer = "encoder.layer.3."
    tensors = {
        "embeddings.word_embeddings.weight": np.eye(3, dtype=np.float32),
        "embeddings.position_embeddings.weight": np.arange(514, dtype=np.float32)[:, None],
        "embeddings.LayerNorm.weight": np.full(2, 1.0, np.float32),
        "encoder.relative_attention_bias.weight": np.ones((32, 12), np.float32),
        f"{layer}attention.attn.q.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        f"{layer}attention.LayerNorm.bias": np.full(2, 2.0, np.float32),
        f"{layer}output.LayerNorm.weight": np.full(2, 3.0, np.float32),
        f"{layer}output.dense.bias": np.full(2, 4.0, np.float32),
    }
    weights = MpnetWeights(tensors)

    assert weights("positions")[:, 0].tolist() == list(range(2, 130))
    assert weights("layer3_query_weight").tolist() == [[0, 3], [1, 4], [2, 5]]
    assert weights("embedding_scale")[0] == 1
    assert weights("layer3_attention_shift")[0] == 2
    assert weights("layer3_scale")[0] == 3
    assert weights("layer3_ffn_output_bias")[0] == 4
    assert weights("distances").shape == (12, 255)
    assert list(tensors) == ["embeddings.word_embeddings.weight"]
