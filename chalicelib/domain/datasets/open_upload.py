"""An upload that counts against its account's limits until it is over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenUpload:
    """What an account's row holds of one upload that is going on."""

    family: str
    """Family of its dataset."""
    dataset_id: int
    """Dataset that it is read into."""
    receipt_id: str
    """Id of its receipt; no other upload has it."""
    reserved_at: int
    """When it was accepted, in milliseconds since 1970."""
    size_bytes: int
    """Bytes that it counts for: of the file as sent, then of what is kept of it."""

    def __str__(self) -> str:
        parts = (self.family, self.dataset_id, self.receipt_id, self.reserved_at, self.size_bytes)
        return ".".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> OpenUpload:
        """Read what `str` wrote."""
        family, dataset_id, receipt_id, reserved_at, size_bytes = text.split(".")
        return cls(family, int(dataset_id), receipt_id, int(reserved_at), int(size_bytes))
