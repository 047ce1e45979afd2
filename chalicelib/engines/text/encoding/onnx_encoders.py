"""The encoders that run an ONNX graph, and their base class.

infra/model_files/conversion writes the files of the encoders.
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

# Longer texts are cut, because tokenisers take seconds for a megabyte.
MAX_CHARACTERS = 2_000
# Longest input of all encoders but USE, including begin and end tokens.
MAX_TOKENS = 128
USE_ENDS = 1, 2  # token ids around every text of USE
USE_CHUNKS = 17  # the rows of USE's table are scaled by id modulo 17

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace characters that not every tokeniser accepts.

    Surrogate pairs become the characters that they encode. Other surrogates become U+FFFD, and NUL
    becomes a space.
    """
    text = text.replace("\0", " ").strip()[:MAX_CHARACTERS]
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class OnnxEncoder:
    """Base class of all encoders; each subclass implements `encode_one`."""

    def __init__(self, facts: EncoderFacts) -> None:
        self.facts = facts

    @property
    def name(self) -> str:
        """Return the short name of the encoder, such as `bge` or `words`."""
        return self.facts.name

    @property
    def sha256(self) -> str:
        """Return the digest of the encoder's files, which changes if the vectors change."""
        return self.facts.sha256

    @property
    def licence(self) -> str:
        """Return the SPDX identifier of the weights' licence."""
        return self.facts.licence

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        return self.facts.dimensions

    def encode_one(self, text: str) -> Singles:
        """Return the unit vector, float32, shape (dimensions,), of a cleaned text."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Singles:
        """Return the unit vectors of texts, float32, shape (texts, dimensions)."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)

        def fill(start: int) -> None:
            for row in range(start, len(texts), threads):
                # One text per run, because the vector of an 8-bit graph depends on the other texts
                # of its run.
                vectors[row] = self.encode_one(clean_text(texts[row]))

        map_in_threads(fill, range(threads), threads)
        return vectors


class MiniLmEncoder(OnnxEncoder):
    """The English encoder all-MiniLM-L6-v2 with 8-bit weights. It averages the token vectors."""

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        super().__init__(facts)
        self._tokenizer = _cutting_tokenizer(folder)
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return at most 128 token ids, with begin and end tokens, of a cleaned text."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def encode_one(self, text: str) -> Singles:
        """Return the unit vector, float32, shape (384,), of a text cleaned by `clean_text`."""
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
    """An encoder (bge, mpnet or e5) whose ONNX graph converts token ids to a text vector."""

    def __init__(self, folder: Path, facts: EncoderFacts, prefix: str = "") -> None:
        """Load an encoder.

        Args:
            folder: folder with `model.onnx` and `tokenizer.json`.
            facts: name, licence and other facts for model cards.
            prefix: string to put before every text, as in the training of the encoder.
        """
        super().__init__(facts)
        self._prefix = prefix
        self._tokenizer = _cutting_tokenizer(folder)
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return at most 128 token ids, with begin and end tokens, of a cleaned text."""
        ids: list[int] = self._tokenizer.encode(self._prefix + text).ids
        return ids

    def encode_one(self, text: str) -> Singles:
        """Return the unit vector, float32, shape (dimensions,), of a cleaned text."""
        ids = np.array(self.token_ids(text), np.int64)
        vector: Singles = self._session.run(["vector"], {"ids": ids})[0][0]
        return vector


class UseEncoder(OnnxEncoder):
    """The multilingual Universal Sentence Encoder.

    Its embedding table is not part of the graph. The graph receives the embedding of each token.
    """

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        super().__init__(facts)
        # Memory-mapped, so that processes share its pages, and unused rows are not loaded.
        self._table = np.load(folder / "table.npy", mmap_mode="r", allow_pickle=False)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the token ids, with begin and end tokens, of a cleaned text."""
        return [USE_ENDS[0], *self._tokenizer.encode(text).ids, USE_ENDS[1]]

    def encode_one(self, text: str) -> Singles:
        """Return the unit vector, float32, shape (512,), of a text cleaned by `clean_text`."""
        ids = np.array(self.token_ids(text), np.int64)
        inputs = {"rows": self._table[ids], "chunks": ids % USE_CHUNKS}
        vector: Singles = self._session.run(["vector"], inputs)[0][0]
        return vector


def _cutting_tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
