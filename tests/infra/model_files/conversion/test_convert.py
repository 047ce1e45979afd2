"""The conversions, on small models whose right answers are computed here by other means."""

import struct

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from tokenizers import Tokenizer

from infra.model_files.conversion import convert_use, text_encoders
from infra.model_files.description import WrongVectors
from infra.model_files.sources.sentencepiece_model import parse_model, tokenizer_json
from infra.model_files.verification import text_references

ORDERS = ((2, 0), (3, 1), (5, 2))


def random_weights(seed=0):
    """Weights of the encoder's shapes with a vocabulary of 51 ids."""
    random = np.random.default_rng(seed)

    def normal(*shape):
        return random.normal(0, 0.05, shape).astype(np.float32)

    weights = {f"q{i + 1}": random.integers(0, 64, (3, 512), np.uint8) for i in range(17)}
    weights |= {"scale": normal(17) + 0.1, "lo": normal(17), "eps": np.float64(1e-6)}
    for length, _ in ORDERS:
        weights |= {f"proj{length}": normal(512, 256), f"proj_b{length}": normal(256)}
        weights |= {f"ln_g{length}": normal(256) + 1, f"ln_b{length}": normal(256)}
        for layer in (1, 2):
            weights[f"w{layer}_{length}"] = normal(length * 256, 256)
            weights[f"b{layer}_{length}"] = normal(256)
    weights |= {"ln_g": normal(1280) + 1, "ln_b": normal(1280)}
    weights |= {"cnn_W": normal(1280, 512), "cnn_b": normal(512)}
    weights |= {"d0": normal(512, 320), "d1": normal(320, 320), "p1": normal(512, 320)}
    weights |= {"d2": normal(320, 512), "p3": normal(320, 512), "d3": normal(512, 512)}
    return weights


def normalise(rows, scale, bias):
    """Layer normalisation over the last axis."""
    centred = rows - rows.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * scale + bias


def layer(weights, rows, length, left, number):
    """One residual n-gram layer, token by token."""
    out = rows.copy()
    for token in range(len(rows)):
        places = range(token - left, token - left + length)
        window = [rows[p] if 0 <= p < len(rows) else np.zeros(256) for p in places]
        total = np.concatenate(window) @ weights[f"w{number}_{length}"]
        out[token] += np.maximum(total + weights[f"b{number}_{length}"], 0)
    return out


def expected_vector(weights, ids):
    """Compute the encoder's answer plainly in float64."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    tokens = np.array(
        [
            weights[f"q{i % 17 + 1}"][i // 17] * weights["scale"][i % 17] + weights["lo"][i % 17]
            for i in ids
        ]
    )

    def joined(name):
        return np.concatenate([weights[f"{name}{length}"] for length, _ in ORDERS], -1)

    rows = normalise(tokens @ joined("proj") + joined("proj_b"), joined("ln_g"), joined("ln_b"))
    features = [tokens]
    for place, (length, left) in enumerate(ORDERS):
        part = rows[:, place * 256 : (place + 1) * 256]
        features.append(layer(weights, layer(weights, part, length, left, 1), length, left, 2))
    normal = normalise(np.concatenate(features, 1), weights["ln_g"], weights["ln_b"])
    pooled = (normal @ weights["cnn_W"] + weights["cnn_b"]).sum(0) / np.sqrt(len(ids))
    first = np.maximum(pooled @ weights["d0"], 0)
    second = np.maximum(pooled @ weights["p1"] + first @ weights["d1"], 0)
    third = np.maximum(second @ weights["d2"], 0)
    result = np.tanh(second @ weights["p3"] + third @ weights["d3"])
    return result / np.linalg.norm(result)


@pytest.mark.parametrize("ids", [[1, 2], [1, 17, 50, 33, 18, 2], [1, *range(3, 51), 2]])
def test_use_graph_computes_the_encoder(tmp_path, ids):
    """Table and graph give what the formula gives, for texts shorter and longer than a window."""
    weights = random_weights()
    expected = expected_vector(weights, ids)
    graph = convert_use.build_graph(weights).SerializeToString()
    convert_use.write_table(weights, tmp_path / "table.npy")
    table = np.load(tmp_path / "table.npy")
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])

    inputs = {"rows": table[ids], "chunks": np.array(ids, np.int64) % 17}
    found = session.run(["vector"], inputs)[0]

    assert found.shape == (1, 512)
    assert found[0] == pytest.approx(expected, abs=1e-5)


def test_use_graph_is_the_same_every_time():
    """Converting twice gives the same bytes, so that the digest names the encoder."""
    first, second = (convert_use.build_graph(random_weights()) for _ in range(2))

    assert first.SerializeToString() == second.SerializeToString()


def test_minilm_weights_become_bytes_and_external_data_goes(tmp_path):
    """The graph is one file afterwards, its products run on 7-bit weights per channel."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    weights = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    shapes = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 64]) for name in "xy"
    ]
    graph = helper.make_graph(
        [node], "tiny", shapes[:1], shapes[1:], [numpy_helper.from_array(weights, "w")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(
        model,
        source / "model.onnx",
        save_as_external_data=True,
        location="model.onnx_data",
        size_threshold=0,
    )
    (source / "tokenizer.json").write_text("{}")

    text_encoders.quantise_published(source, target)

    assert {path.name for path in target.iterdir()} == {"model.onnx", "tokenizer.json"}
    converted = onnx.load(target / "model.onnx")
    arrays = {item.name: numpy_helper.to_array(item) for item in converted.graph.initializer}
    assert arrays["w_quantized"].dtype == np.int8
    assert np.abs(arrays["w_quantized"]).max() <= 64
    assert arrays["w_scale"].shape == (64,)
    session = onnxruntime.InferenceSession(
        target / "model.onnx", providers=["CPUExecutionProvider"]
    )
    rows = np.random.default_rng(1).normal(size=(1, 64)).astype(np.float32)
    found = session.run(None, {"x": rows})[0]
    assert found == pytest.approx(rows @ weights, abs=0.8)


def field(number, value):
    """One field of a protocol-buffer message: bytes, an integer or a float."""
    if isinstance(value, bytes):
        return bytes([number << 3 | 2, len(value)]) + value
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    return bytes([number << 3, value])


def tiny_sentencepiece():
    """Make a model of seven pieces; trainer settings before and after must be skipped."""
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    pieces += [("▁a", -1.0, None), ("▁", -2.0, None), ("b", -2.5, None), ("▁ab", -1.5, None)]
    message = field(2, field(3, 1) + field(4, b"vocabulary"))
    for text, score, kind in pieces:
        body = field(1, text.encode()) + field(2, score)
        message += field(1, body + (field(3, kind) if kind else b""))
    return message + field(3, field(1, b"nmt_nfkc"))


def test_sentencepiece_model_is_read_piece_by_piece():
    """Text, score and kind of every piece come out in order."""
    model = parse_model(tiny_sentencepiece())

    assert [piece.text for piece in model.pieces][2:5] == ["</s>", "▁a", "▁"]
    assert [piece.kind for piece in model.pieces] == [2, 3, 3, 1, 1, 1, 1]
    assert model.pieces[5].score == -2.5


def test_tokenizer_chooses_the_best_pieces_and_never_control_ones():
    """Unigram scores decide, unknown letters are 0, and a written `<s>` is not a start token."""
    tokenizer = Tokenizer.from_str(tokenizer_json(parse_model(tiny_sentencepiece())))

    assert tokenizer.encode("ab  a b").ids == [6, 3, 4, 5]
    assert tokenizer.encode("a<s>").ids == [3, 0]


def test_what_is_not_a_sentencepiece_model_is_refused():
    """Another file is an error, not an empty vocabulary."""
    with pytest.raises(ValueError, match="vocabulary"):
        parse_model(b"")
    with pytest.raises(ValueError, match="wire type"):
        parse_model(b"\x0b\x0b")


class Turned:
    """An encoder that returns the reference vectors rotated by an angle."""

    def __init__(self, cosine):
        self.cosine = cosine

    def encode(self, texts, *, threads=1):
        """Turn each vector within the plane of two axes around it."""
        vectors = text_references.reference_vectors("use")
        other = np.random.default_rng(0).normal(size=vectors.shape).astype(np.float32)
        other -= (other * vectors).sum(1, keepdims=True) * vectors
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        return self.cosine * vectors + np.sqrt(1 - self.cosine**2) * other


@pytest.mark.parametrize("cosine", [0.998, 0.5, float("nan")])
def test_wrong_vectors_stop_the_installation(cosine):
    """An encoder below the floor, or one that gives no numbers, is refused."""
    with pytest.raises(WrongVectors, match="cosine"):
        text_references.check_vectors(Turned(cosine), "use", text_references.EXACT)


def test_right_vectors_pass():
    """An encoder above the floor is accepted."""
    text_references.check_vectors(Turned(0.9995), "use", text_references.EXACT)
