"""One file of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.domain.datasets.upload_format import RECOGNISED, ReadingOptions


@dataclass(frozen=True)
class UploadCase:
    """A file, and what must become of it: labels with their examples, or a refusal."""

    name: str
    content: bytes
    labels: Mapping[str, int] = field(default_factory=dict)
    warnings: frozenset[str] = frozenset()
    refusal: str = ""
    type: str = "text-intent"
    language: str | None = None
    options: ReadingOptions = RECOGNISED
    kind: str = ""
    rejected: int = 0
