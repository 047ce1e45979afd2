"""The interface of encoders, which convert texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles


@dataclass(frozen=True)
class EncoderFacts:
    """Facts about an encoder for model cards."""

    name: str
    """Short name: `bge`, `use`, `minilm`, `mpnet`, `e5` or `words`; also the name of its folder."""
    title: str
    """Name under which the authors of the encoder published it."""
    sha256: str
    """SHA-256 of the SHA-256 digests of all files that affect the vectors."""
    licence: str
    """SPDX identifier of the weights' licence."""
    dimensions: int


class Encoder(Protocol):
    """Converts texts to vectors; safe to use from several threads."""

    @property
    def facts(self) -> EncoderFacts:
        """Return the facts for model cards."""

    @property
    def name(self) -> str:
        """Return the short name of the encoder, such as `bge` or `words`."""

    @property
    def sha256(self) -> str:
        """Return the digest of the encoder's files, which changes if the vectors change."""

    @property
    def licence(self) -> str:
        """Return the SPDX identifier of the weights' licence."""

    @property
    def dimensions(self) -> int:
        """Return the length of the encoder's vectors."""

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Singles:
        """Return a unit vector for each text; it does not depend on the other texts.

        Args:
            texts: any strings, including empty strings and strings with lone surrogates.
            threads: number of texts to encode at the same time; does not change the vectors.

        Returns:
            The vectors, float32, shape (texts, dimensions).
        """
