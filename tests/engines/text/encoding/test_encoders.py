"""The installed encoders."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from chalicelib.engines.text.encoding.encoders import (
    EncoderDamaged,
    EncoderNotInstalled,
    encoder_names,
    is_installed,
    load_encoder,
)
from chalicelib.engines.text.encoding.onnx_encoders import MAX_CHARACTERS, clean_text
from infra.model_files.verification import text_references
from infra.models import default_directory

NAMES = ("use", "minilm", "bge")
TOKEN_IDS = Path(__file__).with_name("reference_token_ids.json")
ODD_TEXTS = [
    "",
    " \t\n",
    "\0",
    "a\0b",
    "\ud83d",
    "lone \udc00 surrogate",
    "😀😀😀 👨‍👩‍👧 🇩🇪",
    "\u200b\u200d\ufeff",
    "\x01\x02\x7f",
    "<s></s><unk>[CLS][SEP][PAD]",
    "z̷̢̛a̸̡l̵g̶o̷" * 50,
    "ｶﾞｷﾞｸﾞ",
]


@pytest.fixture(scope="module")
def encoders():
    """The encoders, loaded once."""
    return {name: load_encoder(default_directory(), name) for name in NAMES}


@pytest.mark.parametrize(
    ("name", "floor"),
    [
        ("use", text_references.EXACT),
        ("minilm", text_references.QUANTISED),
        ("bge", text_references.QUANTISED),
    ],
)
def test_encode_gives_the_reference_vectors(encoders, name, floor):
    """Installed encoders reproduce the reference vectors of their original code."""
    found = text_references.cosines(encoders[name], name)

    assert found.mean() >= floor.mean
    assert found.min() >= floor.worst


def test_bge_is_version_1_5(encoders):
    """The installed bge has the published vectors of version 1.5."""
    [found] = encoders["bge"].encode(["hello world"])

    published = [0.01522374, -0.02271799, 0.00860278, -0.07424029, 0.00386434]
    assert found[:5] == pytest.approx(published, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_encode_depends_on_neither_batch_nor_threads(encoders, name):
    """A text's vector is bit-identical alone, in a batch, and with two threads."""
    texts = text_references.reference_texts()

    together = encoders[name].encode(texts)

    alone = np.concatenate([encoders[name].encode([text]) for text in texts])
    assert (together == alone).all()
    assert (together == encoders[name].encode(texts, threads=2)).all()
    assert (together == encoders[name].encode(texts[::-1], threads=2)[::-1]).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ODD_TEXTS, ids=ascii)
def test_encode_takes_odd_texts(encoders, name, text):
    """Empty texts, control characters, lone surrogates, NUL and emoji give a unit vector."""
    vectors = encoders[name].encode([text])

    assert vectors.shape == (1, encoders[name].dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("piece", ["word ", "漢字", " ", "😀", "a\u0301"], ids=ascii)
def test_encode_takes_a_megabyte_quickly(encoders, name, piece):
    """A megabyte of text is truncated before tokenization."""
    text = piece * (1_000_000 // len(piece.encode()))

    started = time.process_time()
    encoders[name].encode([text])

    assert time.process_time() - started < 2


@pytest.mark.parametrize("name", NAMES)
def test_encode_takes_no_texts(encoders, name):
    """No texts give no vectors."""
    assert encoders[name].encode([], threads=2).shape == (0, encoders[name].dimensions)


@pytest.mark.parametrize(
    ("text", "ids"),
    json.loads(TOKEN_IDS.read_text(encoding="utf-8")),
    ids=lambda value: ascii(value)[:30],
)
def test_use_token_ids_equal_the_original_tokenizer(encoders, text, ids):
    """The converted tokenizer gives SentencePiece's ids in all ten languages."""
    assert [1, *ids, 2] == encoders["use"].token_ids(clean_text(text))


def test_similar_texts_are_closer_than_others_across_languages(encoders):
    """A translation is nearer than an unrelated sentence of the same language."""
    english, french, other = encoders["use"].encode(
        ["When does the train leave?", "Quand part le train ?", "I like strawberry ice cream."]
    )

    assert english @ french > english @ other + 0.3


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  a ", "a"),
        ("a\0b", "a b"),
        ("\ud83d\ude00", "😀"),
        ("x\ud83d", "x\ufffd"),
        ("x" * (MAX_CHARACTERS + 1), "x" * MAX_CHARACTERS),
    ],
    ids=ascii,
)
def test_clean_text_gives_what_tokenizers_can_take(text, clean):
    """Surrounding white space, NUL and surrogates are removed, and long texts truncated."""
    assert clean == clean_text(text)


@pytest.mark.parametrize(
    ("language", "algorithm", "names"),
    [
        ("en_US", "intent", ("bge",)),
        ("en_GB", None, ("bge",)),
        ("en_US", "multilingual-intent", ("use",)),
        ("en_US", "multilingual-intent-ood", ("use",)),
        ("fr", "intent", ("use",)),
        ("zh_CN", None, ("use",)),
        ("ja", "sentiment", ("use",)),
        ("multilingual", None, ("use",)),
    ],
)
def test_encoder_names_follow_language_and_algorithm(language, algorithm, names):
    """English models use English encoders, others the multilingual ones."""
    large = "mpnet" if "bge" in names else "e5"

    assert names == encoder_names(language, algorithm)
    assert tuple(sorted([*names, large])) == encoder_names(language, algorithm, "accurate")


@pytest.mark.parametrize("name", NAMES)
def test_facts_tell_what_a_card_needs(encoders, name):
    """Facts have digest, licence, dimensions and the makers' name."""
    encoder = encoders[name]

    assert len(encoder.sha256) == 64
    assert encoder.licence == ("MIT" if name == "bge" else "Apache-2.0")
    assert (encoder.name, encoder.dimensions) == (name, 512 if name == "use" else 384)
    assert encoder.facts.title


def test_load_encoder_says_what_to_install(tmp_path):
    """A missing encoder is an error with its name and the install command."""
    assert not is_installed(tmp_path, "use")

    with pytest.raises(EncoderNotInstalled, match=r"use .*infra\.models install") as raised:
        load_encoder(tmp_path, "use")

    assert raised.value.name == "use"


def test_is_installed_notices_a_cut_file(tmp_path):
    """An encoder with a truncated file counts as not installed."""
    folder = tmp_path / "minilm"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"12345")
    (folder / "encoder.json").write_text('{"files": {"model.onnx": {"bytes": 5}}}')
    assert is_installed(tmp_path, "minilm")

    (folder / "model.onnx").write_bytes(b"1234")

    assert not is_installed(tmp_path, "minilm")


DAMAGED = ("[]", "{}", '{"files": 7}', '{"files": {"a": 7}}', '{"files": {"a": {}}}', "{", "\0")


@pytest.mark.parametrize("facts", DAMAGED)
def test_damaged_facts_are_those_of_a_missing_encoder(tmp_path, facts):
    """An encoder with a damaged facts file counts as missing; the error has the command."""
    folder = tmp_path / "use"
    folder.mkdir()
    (folder / "a").write_bytes(b"")
    (folder / "encoder.json").write_text(facts)

    assert not is_installed(tmp_path, "use")
    with pytest.raises(EncoderNotInstalled, match=r"infra\.models install"):
        load_encoder(tmp_path, "use")


def test_facts_without_a_title_are_those_of_a_missing_encoder(tmp_path):
    """An encoder without a title counts as missing."""
    folder = tmp_path / "use"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    (folder / "encoder.json").write_text('{"files": {"a": {"bytes": 1}}}')

    with pytest.raises(EncoderNotInstalled):
        load_encoder(tmp_path, "use")


def test_damaged_files_are_named_with_the_remedy(tmp_path):
    """Unreadable files of the right size are reported with the repair command."""
    folder = tmp_path / "mpnet"
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_bytes(bytes(100))
    files = {"model.onnx": {"bytes": 100}, "tokenizer.json": {"bytes": 100}}
    facts = {"title": "t", "sha256": "0", "licence": "l", "dimensions": 768, "files": files}
    (folder / "encoder.json").write_text(json.dumps(facts))
    assert is_installed(tmp_path, "mpnet")

    with pytest.raises(EncoderDamaged, match=r"mpnet .*infra\.models verify"):
        load_encoder(tmp_path, "mpnet")


def test_importing_encoders_loads_no_native_module():
    """Importing the module loads no native library."""
    code = (
        "import sys, chalicelib.engines.text.encoding.encoders\n"
        "print({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (result.stdout.strip(), result.stderr) == ("set()", "")
