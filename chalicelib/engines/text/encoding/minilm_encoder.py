"""all-MiniLM-L6-v2 in 8 bits: 384 dimensions, English.

Its files are made by infra/model_files/conversion/convert_minilm.py.
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


class MiniLmEncoder(OnnxEncoder):
    """Runs the graph on one text at a time and averages its tokens."""

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        super().__init__(facts)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a clean text with begin and end around them, at most 128."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def encode_one(self, text: str) -> Float32Array:
        """Turn one clean text into a vector, float32, shape (384,), of length 1."""
        ids = np.array([self.token_ids(text)], np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        states: Float32Array = self._session.run(["last_hidden_state"], inputs)[0][0]
        mean = states.mean(axis=0)
        vector: Float32Array = mean / np.sqrt(mean @ mean)
        return vector
