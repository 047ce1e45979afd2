"""What every encoder is: facts for the card, and vectors for texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles


@dataclass(frozen=True)
class EncoderFacts:
    """What a model card says of an encoder."""

    name: str
    """Short name, also the folder's name: `bge`, `use`, `minilm`, `mpnet` or `e5`."""
    title: str
    """Name under which its makers published it."""
    sha256: str
    """Digest over the digests of every file that has a part in the vectors."""
    licence: str
    """Licence of the weights, as an SPDX identifier."""
    dimensions: int
    """Length of a vector."""


class Encoder(Protocol):
    """Contract of every encoder; safe to use from several threads."""

    @property
    def facts(self) -> EncoderFacts:
        """Everything a model card says of it."""

    @property
    def name(self) -> str:
        """Short name: `bge`, `use`, `minilm`, `mpnet` or `e5`."""

    @property
    def sha256(self) -> str:
        """Digest of its files; vectors of another digest are other vectors."""

    @property
    def licence(self) -> str:
        """Licence of the weights, as an SPDX identifier."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Singles:
        """Turn texts into vectors of length 1.

        Args:
            texts: any strings, empty ones and lone surrogates included.
            threads: texts worked on at a time; the vectors do not depend on it.

        Returns:
            Float32, shape (texts, dimensions); no row depends on another text.
        """
