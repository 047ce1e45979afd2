"""Universal Sentence Encoder, multilingual: 512 dimensions, all ten languages of the service.

Its files are made by infra/model_files/conversion/convert_use.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from chalicelib.engines.onnx_session import open_session
from chalicelib.engines.text.encoding.interface import EncoderFacts
from chalicelib.engines.text.encoding.onnx_encoder import Float32Array, OnnxEncoder

_BEGIN, _END = 1, 2  # token ids around every text
_CHUNKS = 17  # the table's rows are scaled by id modulo 17


class UseEncoder(OnnxEncoder):
    """Runs the graph on the table's rows of one text at a time."""

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        super().__init__(facts)
        # Mapped, so that processes share its pages and untouched rows cost nothing.
        self._table = np.load(folder / "table.npy", mmap_mode="r", allow_pickle=False)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._session = open_session(folder / "model.onnx")

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of a clean text with begin and end around them."""
        return [_BEGIN, *self._tokenizer.encode(text).ids, _END]

    def encode_one(self, text: str) -> Float32Array:
        """Turn one clean text into a vector, float32, shape (512,), of length 1."""
        ids = np.array(self.token_ids(text), np.int64)
        inputs = {"rows": self._table[ids], "chunks": ids % _CHUNKS}
        vector: Float32Array = self._session.run(["vector"], inputs)[0][0]
        return vector
