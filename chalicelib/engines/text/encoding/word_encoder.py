"""Encodes the spelling of texts: hashes of words, of word pairs, and of parts of words.

This encoder has no files, and does not use the meaning of words. It distinguishes labels better
than neural networks if texts follow fixed patterns, for example commands that differ only in names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING
from unicodedata import category, normalize
from zlib import crc32

import numpy as np

from chalicelib.engines.text.encoding.interface import EncoderFacts
from chalicelib.engines.text.encoding.onnx_encoders import OnnxEncoder

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles

_DIMENSIONS = 1_024
_PART_LENGTHS = 3, 4, 5
# A word has several parts, so each counts less than the word.
_PART_WEIGHT = 0.4
# Must change whenever the vectors change, because it identifies stored vectors and models.
_VERSION = "words 1"


class WordEncoder(OnnxEncoder):
    """Converts the words, word pairs and word parts of a text to a vector (feature hashing)."""

    def __init__(self, name: str) -> None:
        digest = hashlib.sha256(_VERSION.encode()).hexdigest()
        facts = EncoderFacts(name, "hashed words and letters", digest, "Apache-2.0", _DIMENSIONS)
        super().__init__(facts)

    def encode_one(self, text: str) -> Singles:
        """Return the unit vector, float32, shape (1024,), of a text cleaned by `clean_text`."""
        words = ["^", *_words(normalize("NFC", text.casefold())), "$"]
        whole = {*words[1:-1], *map(" ".join, pairwise(words))}
        sums = _signs(whole) + np.float32(_PART_WEIGHT) * _signs(set(_parts(words[1:-1])))
        # Opposite signs may cancel each other.
        length = np.sqrt(np.add.reduce(sums * sums)) or np.float32(1.0)
        return np.asarray(sums / length, np.float32)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, and each character between words except white space."""
    for is_word, run in groupby(text, _is_of_word):
        if is_word:
            yield "".join(run)
        else:
            yield from (character for character in run if not character.isspace())


def _is_of_word(character: str) -> bool:
    return category(character)[0] in "LMN" or character == "_"


def _parts(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        marked = f"<{word}>"
        for length in _PART_LENGTHS:
            for start in range(len(marked) - length + 1):
                yield f"#{marked[start : start + length]}"


def _signs(parts: set[str]) -> Singles:
    hashes = np.array([crc32(part.encode()) for part in parts], np.int64)
    signs = np.where(hashes & 1, 1.0, -1.0)
    return np.bincount((hashes >> 1) % _DIMENSIONS, signs, _DIMENSIONS).astype(np.float32)
