"""Reads a SentencePiece model file and writes the same tokeniser for the `tokenizers` library.

Only the parts of a Unigram model are read: the vocabulary with scores and kinds, and the
normaliser's compiled character map. Source: sentencepiece_model.proto of google/sentencepiece.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MODEL_PIECE = 1
_MODEL_NORMALIZER = 3
_PIECE_TEXT = 1
_PIECE_SCORE = 2
_PIECE_KIND = 3
_NORMALIZER_CHARSMAP = 2
_KIND_NORMAL = 1
_NOT_IN_TEXT = frozenset({2, 3})  # the kinds unknown and control
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class VocabularyPiece:
    """One entry of the vocabulary; its position is its id."""

    text: str
    score: float
    kind: int
    """1 normal, 2 unknown, 3 control, 4 user defined, 5 unused."""


@dataclass(frozen=True)
class SentencePieceModel:
    """The content of a Unigram SentencePiece file."""

    pieces: tuple[VocabularyPiece, ...]
    charsmap: bytes


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and value of each field of a protocol-buffer message."""
    position = 0
    while position < len(data):
        tag, position = _read_varint(data, position)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, position = _read_varint(data, position)
            yield number, value
            continue
        if wire == _BYTES:
            length, position = _read_varint(data, position)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {wire} is not supported")
        yield number, data[position : position + length]
        position += length


def _parse_piece(data: memoryview) -> VocabularyPiece:
    text, score, kind = "", 0.0, _KIND_NORMAL
    for number, value in _fields(data):
        if number == _PIECE_TEXT and isinstance(value, memoryview):
            text = bytes(value).decode("utf-8")
        elif number == _PIECE_SCORE and isinstance(value, memoryview):
            score = struct.unpack("<f", value)[0]
        elif number == _PIECE_KIND and isinstance(value, int):
            kind = value
    return VocabularyPiece(text, score, kind)


def parse_model(data: bytes) -> SentencePieceModel:
    """Read a SentencePiece model file; raise ValueError for other bytes."""
    pieces: list[VocabularyPiece] = []
    charsmap = b""
    for number, value in _fields(memoryview(data)):
        if not isinstance(value, memoryview):
            continue
        if number == _MODEL_PIECE:
            pieces.append(_parse_piece(value))
        elif number == _MODEL_NORMALIZER:
            for inner, setting in _fields(value):
                if inner == _NORMALIZER_CHARSMAP and isinstance(setting, memoryview):
                    charsmap = bytes(setting)
    if not pieces:
        raise ValueError("no vocabulary found")
    return SentencePieceModel(tuple(pieces), charsmap)


def tokenizer_json(model: SentencePieceModel) -> str:
    """Return a `tokenizer.json` that gives the same ids as the model, without begin and end ids."""
    # Entries such as `<s>` must never match a text. They get a leading NUL, which the encoder
    # removes from every text.
    vocabulary = [
        ["\0" + piece.text if piece.kind in _NOT_IN_TEXT else piece.text, piece.score]
        for piece in model.pieces
    ]
    # SentencePiece applies the character map to the longest match, `tokenizers` to grapheme
    # clusters. That would leave voiced half-width kana in two parts, which NFC composes.
    normalizers: list[dict[str, object]] = [
        {"type": "NFC"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ]
    if model.charsmap:
        charsmap = base64.b64encode(model.charsmap).decode("ascii")
        normalizers.insert(0, {"type": "Precompiled", "precompiled_charsmap": charsmap})
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": normalizers},
            "pre_tokenizer": {
                "type": "Metaspace",
                "replacement": "▁",
                "prepend_scheme": "always",
                "split": False,
            },
            "post_processor": None,
            "decoder": None,
            "model": {
                "type": "Unigram",
                "unk_id": 0,
                "vocab": vocabulary,
                "byte_fallback": False,
            },
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
