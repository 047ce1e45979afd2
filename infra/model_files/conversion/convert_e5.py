"""Converts multilingual-e5-small from its 4-bit weights into an 8-bit graph.

The vocabulary is cut to the scripts of the service's languages. Texts in these scripts are split
into the same tokens as before, because they never used the removed entries.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from chalicelib.domain.common.arrays import Ints, Singles
from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import layer_names
from infra.model_files.conversion.quantise import quantise, quantise_by_block
from infra.model_files.conversion.transformer_graph import (
    FFN_OUTPUT,
    MAX_TOKENS,
    Shape,
    build_graph,
)
from infra.model_files.sources.four_bit_weights import FourBitWeights

# Code points whose entries stay in the vocabulary. Listed here, because Unicode tables differ
# between Python versions.
WRITING = (
    (0x0000, 0x036F),  # Latin, its accents and modifiers
    (0x1D00, 0x1EFF),  # phonetic and further Latin letters, further accents
    (0x2000, 0x2BFF),  # punctuation, currency, arrows, mathematics, symbols
    (0x2C60, 0x2C7F),  # further Latin letters
    (0x2E00, 0x312F),  # punctuation, radicals, kana, bopomofo
    (0x3190, 0x9FFF),  # Chinese characters and what goes with them
    (0xA700, 0xA7FF),  # further Latin letters
    (0xAB30, 0xAB6F),  # further Latin letters
    (0xE000, 0xFAFF),  # private use, compatible Chinese characters
    (0xFB00, 0xFB06),  # Latin ligatures
    (0xFE00, 0xFE6F),  # variation selectors, half marks, vertical forms
    (0xFF00, 0xFFFF),  # full-width and half-width forms
    (0x1D400, 0x1D7FF),  # letters of mathematics
    (0x1F000, 0x1FAFF),  # emoji and other pictographs
    (0x20000, 0x3FFFF),  # rare Chinese characters
)
_SPECIAL = 4  # the ids of begin, padding, end and unknown come first
_STARTS = [first for first, _ in WRITING]
_EPSILON = 1e-12
_LAYERS = 12
_LAYER_PARTS = {
    "query": "q",
    "key": "k",
    "value": "v",
    "attention_output": "ao",
    "attention": "aln",
    "ffn_input": "fi",
    "ffn_output": "fo",
    "": "oln",
}


class E5Weights:
    """Returns the unpacked weights by their names in the new graph."""

    def __init__(self, packed: FourBitWeights, rows: Ints) -> None:
        self._packed = packed
        self._kept = rows

    def __call__(self, name: str) -> Singles:
        """Return a weight in the layout of the new graph."""
        if name == "words":
            return self._packed.matrix("emb.word", self._kept)
        if name == "positions":
            rows = self._packed.vector("emb.pos").reshape(-1, self._packed.width)
            # Every token has the first type, so its vector can be added to all positions.
            return rows[:MAX_TOKENS] + self._packed.vector("emb.type")[: self._packed.width]
        weight = layer_names.parse(name)
        place = f"{weight.module('emb.ln', 'l{}.', _LAYER_PARTS)}.{weight.suffix[0]}"
        if weight.is_matrix:
            return np.ascontiguousarray(self._packed.matrix(place).T)
        return self._packed.vector(place)


def is_kept(piece: str) -> bool:
    """Return whether a vocabulary entry consists of characters in `WRITING` only."""
    for character in piece:
        place = bisect_right(_STARTS, ord(character)) - 1
        if place < 0 or ord(character) > WRITING[place][1]:
            return False
    return True


def kept_ids(vocabulary: list[list[Any]]) -> Ints:
    """Return the ids of the kept entries, in order: special entries, and text in `WRITING` only.

    Args:
        vocabulary: entries with their scores, as in `tokenizer.json`.
    """
    # The last entry is the mask token of the training, which occurs in no text.
    ids = [
        place
        for place, (piece, _) in enumerate(vocabulary[:-1])
        if place < _SPECIAL or is_kept(piece)
    ]
    return np.array(ids, np.int64)


def _read_tokenizer(source: Path) -> dict[str, Any]:
    tokenizer: dict[str, Any] = json.loads((source / "tokenizer.json").read_text("utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    if [piece for piece, _ in vocabulary[:_SPECIAL]] != ["<s>", "<pad>", "</s>", "<unk>"]:
        raise BrokenFile("tokenizer.json has another beginning of its vocabulary.")
    return tokenizer


def build(source: Path) -> onnx.ModelProto:
    """Build the graph in full precision from `weights.bin` and `tokenizer.json`.

    Raises:
        BrokenFile: a file has other content.
    """
    packed = FourBitWeights(source / "weights.bin")
    if packed.layers != _LAYERS:
        raise BrokenFile(f"weights.bin has {packed.layers} layers, not {_LAYERS}.")
    kept = kept_ids(_read_tokenizer(source)["model"]["vocab"])
    shape = Shape("e5", _LAYERS, packed.heads, packed.width, _EPSILON)
    return build_graph(shape, E5Weights(packed, kept))


def write_tokenizer(source: Path, target: Path) -> None:
    """Write `tokenizer.json` with the kept entries; raise BrokenFile if the vocabulary differs."""
    tokenizer = _read_tokenizer(source)
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = [vocabulary[place] for place in kept_ids(vocabulary)]
    tokenizer["added_tokens"] = tokenizer["added_tokens"][:_SPECIAL]
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (target / "tokenizer.json").write_text(text, encoding="utf-8")


def write_quantised(model: onnx.ModelProto, target: Path) -> None:
    """Round the graph, in place, to 8 bits and write `model.onnx`."""
    quantise_by_block(model, [FFN_OUTPUT.format(number) for number in range(_LAYERS)])
    quantise(model, target / "model.onnx")
