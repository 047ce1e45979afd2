"""Vectors of texts that many tests of exports embed: each is computed once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from chalicelib.engines.text.encoding.onnx_encoders import (
    MiniLmEncoder,
    OnnxEncoder,
    TransformerEncoder,
    UseEncoder,
)


@pytest.fixture(scope="package", autouse=True)
def vectors_once() -> Iterator[None]:
    """Run an encoder once for each text; models of all tests are trained on the same texts.

    An encoder gives a text the same vector each time, see the tests of encoders.
    """
    known: dict[tuple[object, ...], np.ndarray] = {}

    def remember(kind: type[OnnxEncoder]) -> object:
        """Return a method that gives a known vector, or computes it."""
        encode_one = kind.encode_one

        def encode_once(self: OnnxEncoder, text: str) -> np.ndarray:
            key = (self.facts.sha256, tuple(self.token_ids(text)))
            if key not in known:
                known[key] = encode_one(self, text)
            return known[key].copy()

        return encode_once

    with pytest.MonkeyPatch.context() as patch:
        for kind in (MiniLmEncoder, TransformerEncoder, UseEncoder):
            patch.setattr(kind, "encode_one", remember(kind))
        yield
