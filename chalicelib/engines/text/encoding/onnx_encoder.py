"""What the encoders share: clean texts, a quiet session, one text a run."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from chalicelib.engines.text.encoding.interface import EncoderFacts
from chalicelib.engines.threads import map_in_threads

MAX_CHARACTERS = 2_000
"""Longer texts are cut here: tokenisers take seconds for a megabyte."""

_SURROGATE = re.compile("[\ud800-\udfff]")

Float32Array = npt.NDArray[np.float32]


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

    One text a run, because the vector of an 8-bit graph depends on the texts beside it.
    """

    def __init__(self, facts: EncoderFacts) -> None:
        self.facts = facts

    @property
    def name(self) -> str:
        """Short name: `use`, `minilm`, `mpnet` or `e5`."""
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

    def encode_one(self, text: str) -> Float32Array:
        """Turn one clean text into a vector, float32, shape (dimensions,), of length 1."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Float32Array:
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
