"""Examples as lists show them. Spec: Example."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.datasets.dataset import Label
from chalicelib.domain.documents.box import Box

CHUNK_EXAMPLES = 100
"""Examples in one row; position // 100 is the chunk's number."""
DIGEST_BYTES = 16


def text_digest(text: str) -> bytes:
    """Digest that decides whether two texts are the same, 16 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]


def picture_digest(content: bytes) -> bytes:
    """Digest that decides whether two picture files are the same, 16 bytes."""
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]


def box_digest(picture: bytes, box: Box) -> bytes:
    """Digest that decides whether two boxes of one picture are the same, 16 bytes.

    Args:
        picture: digest of the picture file.
        box: with sides of any precision.
    """
    sides = ",".join(repr(float(side)) for side in (box.x, box.y, box.width, box.height))
    return hashlib.sha256(picture + sides.encode()).digest()[:DIGEST_BYTES]


@dataclass(frozen=True, slots=True)
class Example:
    """One text or image with its label."""

    example_id: int
    """Unique in the service."""
    name: str
    """Language: the text. Vision: the file name."""
    created_at: datetime
    """When it was added."""
    label_id: int = 0
    """Label of the example."""
    picture: str = ""
    """Vision: digest of the picture file, 32 hex digits; empty for texts."""
    box: Box | None = None
    """Detection: where the object is."""

    @property
    def digest(self) -> bytes:
        """What makes two examples of one label duplicates, 16 bytes."""
        if not self.picture:
            return text_digest(self.name)
        picture = bytes.fromhex(self.picture)
        return picture if self.box is None else box_digest(picture, self.box)


@dataclass(frozen=True, slots=True)
class ExampleView:
    """An example with its label and where it can be seen."""

    example: Example
    """The stored example."""
    label: Label
    """Its label."""
    location: str
    """Language: the text. Vision: a temporary URL."""
