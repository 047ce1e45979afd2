"""The 4-bit weights and the cut vocabulary of multilingual-e5-small, on small ones."""

import json
import struct

import numpy as np
import pytest
from tokenizers import Tokenizer

from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import convert_e5
from infra.model_files.sources.four_bit_weights import FourBitWeights

WIDTH = 64


def pack(tensors):
    """Write tensors as the packer does: name, (type, bytes)."""
    head = struct.pack("<4sI7ifi", b"E5S1", 1, WIDTH, 12, 4, 256, 5, 512, 2, 1e-12, 32)
    pieces = [b"<s>", b"a"]
    ends = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, pieces)))
    head += ends.tobytes() + np.zeros(len(pieces), "<f4").tobytes() + b"".join(pieces)
    head += struct.pack("<iI", 1, 9) + bytes(9)
    size = len(head) + 4 + sum(2 + len(name) + 21 for name in tensors)
    head += struct.pack("<i", len(tensors))
    data = b""
    for name, (kind, content) in tensors.items():
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", kind, 0, size + len(data), len(content))
        data += content
    return head + data


def four_bit(rows):
    """Round a matrix to blocks of 4 bits and return its bytes and what they stand for."""
    content, values = b"", np.empty_like(rows)
    for r, row in enumerate(rows):
        for start in range(0, len(row), 32):
            block = row[start : start + 32]
            scale = np.float16(np.abs(block).max() / 7)
            steps = np.clip(np.rint(block / np.float32(scale)), -8, 7).astype(np.int8)
            codes = (steps + 8).astype(np.uint8)
            content += scale.tobytes() + (codes[:16] | codes[16:] << 4).tobytes()
            values[r, start : start + 32] = steps * np.float32(scale)
    return content, values


@pytest.fixture
def packed(tmp_path):
    """A file with a matrix, a long one and a vector, and what they hold."""
    random = np.random.default_rng(0)
    words, word_values = four_bit(random.normal(size=(5, WIDTH)).astype(np.float32))
    outer, outer_values = four_bit(random.normal(size=(3, 4 * WIDTH)).astype(np.float32))
    bias = np.arange(WIDTH, dtype="<f4")
    tensors = {"emb.word": (1, words), "l0.fo.w": (1, outer), "l0.fo.b": (0, bias.tobytes())}
    path = tmp_path / "weights.bin"
    path.write_bytes(pack(tensors))
    return path, word_values, outer_values, bias


def test_matrices_are_unpacked(packed):
    """Blocks become numbers, whole matrices or chosen rows, of either width."""
    path, words, outer, bias = packed

    weights = FourBitWeights(path)

    assert (weights.width, weights.layers, weights.heads) == (WIDTH, 12, 4)
    assert weights.matrix("emb.word") == pytest.approx(words)
    assert weights.matrix("emb.word", np.array([4, 0])) == pytest.approx(words[[4, 0]])
    assert weights.matrix("l0.fo.w") == pytest.approx(outer)
    assert (weights.vector("l0.fo.b") == bias).all()


def test_broken_weights_are_refused(packed):
    """Another file, a cut one and a missing tensor are lines for a person."""
    path, *_ = packed
    content = path.read_bytes()

    with pytest.raises(BrokenFile, match=r"no complete tensor l9\.q\.w"):
        FourBitWeights(path).matrix("l9.q.w")
    with pytest.raises(BrokenFile, match="no complete tensor"):
        FourBitWeights(path).vector("emb.word")
    path.write_bytes(content[:-1])
    with pytest.raises(BrokenFile, match=r"no complete tensor l0\.fo\.b"):
        FourBitWeights(path).vector("l0.fo.b")
    for broken in (b"", content[:100], content[:50], b"GGUF" + content[4:]):
        path.write_bytes(broken)
        with pytest.raises(BrokenFile, match=r"weights\.bin"):
            FourBitWeights(path)


@pytest.mark.parametrize(
    "piece",
    ["▁the", "é", "ção", "ß", "Å", "ｶﾞ", "漢字", "請問", "ひらがな", "カタカナー", "々", "😀", "👩",
     "€", "…", "①", "\u200d", "\ufe0f", "a\u0301", "𠮷", "𝒳", "ﬁ", "”", "ệ"],
)  # fmt: skip
def test_writing_of_the_ten_languages_is_kept(piece):
    """Text in the ten languages, with signs and emoji, is kept in the vocabulary."""
    assert convert_e5.is_kept(piece)


@pytest.mark.parametrize(
    "piece", ["▁и", "שלום", "مرحبا", "한국어", "ไทย", "हिन्दी", "ա", "ა", "aж", "ሀ"]
)
def test_other_writing_is_cut(piece):
    """A piece with one letter of another script is removed."""
    assert not convert_e5.is_kept(piece)


def tokenizer_file(folder, pieces):
    """Write a tokeniser as the makers do."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [[name, 0.0] for name in special]
    vocabulary += [[piece, -float(place)] for place, piece in enumerate(pieces, 1)]
    vocabulary.append(["<mask>", 0.0])
    marks = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": vocabulary.index([name, 0.0]), "content": name, "special": True, **marks}
        for name in [*special, "<mask>"]
    ]
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary},
    }
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")


def test_cut_tokenizer_parts_texts_as_before(tmp_path):
    """With the reduced vocabulary texts are tokenized as before, removed pieces as unknown."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    tokenizer_file(source, ["▁", "да", "▁ca", "r", "▁car", "カ", "д", "d"])

    convert_e5.write_tokenizer(source, target)

    before, after = (
        Tokenizer.from_file(str(folder / "tokenizer.json")) for folder in (source, target)
    )
    assert after.get_vocab_size() == 10
    for text in ("car カ", "cardr", "ca r"):
        assert before.encode(text).tokens == after.encode(text).tokens
    kept = convert_e5.kept_ids(
        json.loads((source / "tokenizer.json").read_text())["model"]["vocab"]
    )
    assert [kept[place] for place in after.encode("car カ").ids] == before.encode("car カ").ids
    assert after.encode("да").ids == [4, 3]
    assert after.encode("<mask>").ids[-1] == 3


def test_another_vocabulary_is_refused(tmp_path):
    """A tokenizer that does not match the graph's rows is refused."""
    tokenizer_file(tmp_path, ["a"])
    text = (tmp_path / "tokenizer.json").read_text().replace("<pad>", "<PAD>")
    (tmp_path / "tokenizer.json").write_text(text)

    with pytest.raises(BrokenFile, match="vocabulary"):
        convert_e5.write_tokenizer(tmp_path, tmp_path)
