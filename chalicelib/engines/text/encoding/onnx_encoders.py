"""The encoders that run a graph of ONNX Runtime, one text a run.

Their files are made by infra/model_files/conversion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from chalicelib.engines.onnx_session import open_session
from chalicelib.engines.text.encoding.interface import EncoderFacts
from chalicelib.engines.threads import map_in_threads

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles

# Longer texts are cut here: tokenisers take seconds for a megabyte.
MAX_CHARACTERS = 2_000
# Longer texts are cut here by all but USE, begin and end included.
MAX_TOKENS = 128
_BEGIN, _END = 1, 2  # token ids around every text of USE
_CHUNKS = 17  # the rows of USE's table are scaled by id modulo 17

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return what the tokenisers can take of a text.

    Surrogate pairs become their character, lone ones U+FFFD, and NUL becomes a space.
    """
    text = text.replace("\0", " ").strip()[:MAX_CHARACTERS]
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class OnnxEncoder:
    """Base of the encoders: subclasses say how one text becomes one vector.

    One text a run, because the vector of an 8-bit graph depends on the other texts of a run.
    """

    def __init__(self, facts: EncoderFacts) -> None:
        self.facts = facts

    @property
    def name(self) -> str:
        """Short name: `bge`, `use`, `minilm`, `mpnet` or `e5`."""
        return self.facts.name

    @property
    def sha256(self) -> str:
        """Digest of its files; vectors of another digest are other vectors."""
        return self.facts.sha256

    @property
    def licence(self) -> str:
        """Licence of the weights, as an SPDX identifier."""
        return self.facts.licence

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self.facts.dimensions

    def encode_one(self, text: str) -> Singles:
        """Turn one clean text into a vector, float32, shape (dimensions,), of length 1."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Singles:
        """Turn texts into vectors, float32, shape (texts, dimensions), each of length 1.

        Args:
            texts: any strings.
            threads: texts worked on at a time; the vectors do not depend on it.
        """
        vectors = np.empty((len(texts), self.dimensions), np.float32)

        def fill(start: int) -> None:
            for row in range(start, len(texts), threads):
                vectors[row] = self.encode_one(clean_text(texts[row]))

        map_in_threads(fill, range(threads), threads)
        return vectors


class MiniLmEncoder(OnnxEncoder):
    """all-MiniLM-L6-v2 in 8 bits, English: averages the tokens of one text."""

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        super().__init__(facts)
        self._tokenizer = _cutting_tokenizer(folder)
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a clean text with begin and end around them, at most 128."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def encode_one(self, text: str) -> Singles:
        """Turn one clean text into a vector, float32, shape (384,), of length 1."""
        ids = np.array([self.token_ids(text)], np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        states: Singles = self._session.run(["last_hidden_state"], inputs)[0][0]
        mean = states.mean(axis=0)
        vector: Singles = mean / np.sqrt(mean @ mean)
        return vector


class TransformerEncoder(OnnxEncoder):
    """bge, mpnet and e5: the graph takes the tokens of one text and gives its vector."""

    def __init__(self, folder: Path, facts: EncoderFacts, prefix: str = "") -> None:
        """Load an encoder.

        Args:
            folder: with `model.onnx` and `tokenizer.json`.
            facts: what the card says of it.
            prefix: stands before every text, as its makers trained it.
        """
        super().__init__(facts)
        self._prefix = prefix
        self._tokenizer = _cutting_tokenizer(folder)
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a clean text with begin and end around them, at most 128."""
        ids: list[int] = self._tokenizer.encode(self._prefix + text).ids
        return ids

    def encode_one(self, text: str) -> Singles:
        """Turn one clean text into a vector, float32, shape (768,) or (384,), of length 1."""
        ids = np.array(self.token_ids(text), np.int64)
        vector: Singles = self._session.run(["vector"], {"ids": ids})[0][0]
        return vector


class UseEncoder(OnnxEncoder):
    """Universal Sentence Encoder, multilingual: the graph takes the table's rows of one text."""

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        super().__init__(facts)
        # Mapped, so that processes share its pages and untouched rows cost nothing.
        self._table = np.load(folder / "table.npy", mmap_mode="r", allow_pickle=False)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a clean text with begin and end around them."""
        return [_BEGIN, *self._tokenizer.encode(text).ids, _END]

    def encode_one(self, text: str) -> Singles:
        """Turn one clean text into a vector, float32, shape (512,), of length 1."""
        ids = np.array(self.token_ids(text), np.int64)
        inputs = {"rows": self._table[ids], "chunks": ids % _CHUNKS}
        vector: Singles = self._session.run(["vector"], inputs)[0][0]
        return vector


def _cutting_tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
