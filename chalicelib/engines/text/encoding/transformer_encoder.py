"""Encoders whose graph takes the tokens of one text and gives its vector: mpnet and e5.

Their files are made by infra/model_files/conversion/convert_mpnet.py and convert_e5.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from chalicelib.engines.onnx_session import open_session
from chalicelib.engines.text.encoding.interface import EncoderFacts
from chalicelib.engines.text.encoding.onnx_encoder import Float32Array, OnnxEncoder

MAX_TOKENS = 128
"""Longer texts are cut here, begin and end included."""


class TransformerEncoder(OnnxEncoder):
    """Runs the graph on one text at a time."""

    def __init__(self, folder: Path, facts: EncoderFacts, prefix: str = "") -> None:
        """Load an encoder.

        Args:
            folder: with `model.onnx` and `tokenizer.json`.
            facts: what the card says of it.
            prefix: stands before every text, as its makers trained it.
        """
        super().__init__(facts)
        self._prefix = prefix
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a clean text with begin and end around them, at most 128."""
        ids: list[int] = self._tokenizer.encode(self._prefix + text).ids
        return ids

    def encode_one(self, text: str) -> Float32Array:
        """Turn one clean text into a vector, float32, shape (dimensions,), of length 1."""
        ids = np.array(self.token_ids(text), np.int64)
        vector: Float32Array = self._session.run(["vector"], {"ids": ids})[0][0]
        return vector
