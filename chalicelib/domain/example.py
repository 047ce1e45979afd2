"""Examples as lists show them. Spec: Example."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.dataset import Label

CHUNK_EXAMPLES = 100
"""Examples in one row; position // 100 is the chunk's number."""
DIGEST_BYTES = 16


def text_digest(text: str) -> bytes:
    """Digest that decides whether two texts are the same, 16 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]


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
    artifact: str = ""
    """Vision: where the image lies in the bucket; empty for texts."""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """An example with its label and where it can be seen."""

    example: Example
    """The stored example."""
    label: Label
    """Its label."""
    location: str
    """Language: the text. Vision: a temporary URL."""
