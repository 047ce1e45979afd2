"""Building an encoder's folder from a tiny transformer, checked before and after rounding."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

from chalicelib.engines.text.encoding.onnx_encoders import (
    MAX_TOKENS,
    TransformerEncoder,
    clean_text,
)
from infra.model_files.conversion import text_encoders
from infra.model_files.conversion.quantise import quantise
from infra.model_files.conversion.transformer_graph import build_graph
from infra.model_files.description import Conversion, WrongVectors
from infra.model_files.manifest import MODELS
from infra.model_files.verification import text_references
from tests.infra.model_files.conversion.tiny_transformer import (
    expected_vector,
    random_weights,
    shape,
)

TEXTS = ["b c d", "c", "d d d d b", " \udc00 b\0c "]


def write_tokenizer(source, target):
    """Make a tokeniser of words b, c and d between begin, 0, and end, 2."""
    words = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "b": 4, "c": 5, "d": 6, "query:": 7}
    ends = {"type": "TemplateProcessing", "pair": []}
    ends["single"] = [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "</s>", "type_id": 0}},
    ]
    ends["special_tokens"] = {
        name: {"id": name, "ids": [words[name]], "tokens": [name]} for name in ("<s>", "</s>")
    }
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": {
            "strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 1, "pad_type_id": 0, "pad_token": "<pad>",
        },
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": ends,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "<unk>"},
    }  # fmt: skip
    (target / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")


def token_ids(text):
    """Return what the tokeniser gives for a text after the prefix of e5."""
    words = clean_text(text).split()
    return [0, 7, *(ord(word) - ord("a") + 3 if word in "bcd" else 3 for word in words), 2]


def converter(weights):
    """Return the converter of a tiny encoder."""
    return SimpleNamespace(
        build=lambda source: build_graph(shape(), weights.__getitem__),
        write_tokenizer=write_tokenizer,
        write_quantised=lambda model, target: quantise(model, target / "model.onnx"),
    )


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Folders of an installation, and the reference vectors of the tiny encoder."""
    source, result = tmp_path / "source", tmp_path / "e5"
    source.mkdir()
    result.mkdir()
    (source / "weights.bin").write_bytes(b"large")
    weights = random_weights()
    vectors = np.array([expected_vector(weights, token_ids(text)) for text in TEXTS], np.float32)
    monkeypatch.setattr(text_references, "reference_texts", lambda: TEXTS)
    monkeypatch.setattr(text_references, "reference_vectors", lambda name: vectors)
    model = dataclasses.replace(MODELS["e5"], dimensions=64)
    return SimpleNamespace(source=source, result=result, weights=weights, model=model)


def job(world, progress=print):
    """Return the conversion of the world's model."""
    return Conversion(world.model, world.source.parent, world.source, world.result, progress)


def test_build_leaves_graph_tokeniser_and_facts(world):
    """The result is a whole encoder, and the large files it was made from are gone."""
    lines = []

    text_encoders.build(job(world, lines.append), converter(world.weights))

    assert {path.name for path in world.result.iterdir()} == {
        "model.onnx", "tokenizer.json", "encoder.json",
    }  # fmt: skip
    assert list(world.source.iterdir()) == []
    encoder = text_encoders.load(world.result)
    assert isinstance(encoder, TransformerEncoder)
    assert text_references.cosines(encoder, "e5").min() > 0.985
    assert (encoder.name, encoder.dimensions, encoder.licence) == ("e5", 64, "MIT")
    assert any("full precision" in line for line in lines)


def test_wrong_weights_are_noticed_before_rounding(world):
    """A graph that computes other vectors stops the installation before quantization."""
    wrong = {**world.weights, "layer0_query_weight": world.weights["layer1_query_weight"]}

    with pytest.raises(WrongVectors, match="e5"):
        text_encoders.build(job(world), converter(wrong))

    assert not (world.result / "model.onnx").exists()


def test_a_bad_rounding_is_noticed(world):
    """A graph that loses too much by quantization stops the installation."""
    other = build_graph(shape(), random_weights(1).__getitem__)
    ruined = converter(world.weights)
    ruined.write_quantised = lambda model, target: onnx.save(other, str(target / "model.onnx"))

    with pytest.raises(WrongVectors, match="e5"):
        text_encoders.build(job(world), ruined)


def test_encoder_cuts_long_texts_and_takes_each_alone(world):
    """Texts are truncated to 128 tokens, and a vector does not depend on other texts."""
    text_encoders.build(job(world), converter(world.weights))
    encoder = text_encoders.load(world.result)

    ids = encoder.token_ids("b " * 500)

    assert (len(ids), ids[0], ids[1], ids[-1]) == (MAX_TOKENS, 0, 7, 2)
    together = encoder.encode([*TEXTS, "b " * 500], threads=2)
    alone = np.concatenate([encoder.encode([text]) for text in [*TEXTS, "b " * 500]])
    assert (together == alone).all()
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert np.isfinite(encoder.encode(["", "\0", "\ud83d", "שלום", "z̷̢" * 300])).all()
