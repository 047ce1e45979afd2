"""Receipts: what happened to every row or file of an upload. Contract section 5, receipts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class RejectedItem:
    """A row or file that was left out, and why."""

    reason: str
    """For a person, with the remedy."""
    row: int | None = None
    """Row of a text file, from 1."""
    file: str | None = None
    """File of an archive."""


@dataclass(frozen=True)
class Receipt:
    """The account of one upload; seen = kept + duplicates + rejected."""

    receipt_id: str
    """String id."""
    dataset_id: int
    """Dataset of the upload."""
    created_at: datetime
    """When the upload was accepted."""
    status: str = "UPLOADING"
    """UPLOADING, SUCCEEDED or FAILED."""
    message: str | None = None
    """Why it failed."""
    seen: int = 0
    """Rows or files that were read."""
    kept: int = 0
    """Examples that were added."""
    duplicates: int = 0
    """Examples left out because they were there already."""
    rejected: int = 0
    """Rows or files that are no examples."""
    rejections: tuple[RejectedItem, ...] = ()
    """The first of them."""
