"""An upload that counts against its account's limits until it ends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenUpload:
    """What an account's row stores about one running upload."""

    family: str
    dataset_id: int
    receipt_id: str
    """Id of its receipt, unique among uploads."""
    reserved_at: int
    """Time at which the upload was accepted, in milliseconds since 1970."""
    size_bytes: int
    """Bytes it counts for: size of the file as sent, later of what was stored."""

    def __str__(self) -> str:
        parts = (self.family, self.dataset_id, self.receipt_id, self.reserved_at, self.size_bytes)
        return ".".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> OpenUpload:
        """Parse the text that `str` returns."""
        family, dataset_id, receipt_id, reserved_at, size_bytes = text.split(".")
        return cls(family, int(dataset_id), receipt_id, int(reserved_at), int(size_bytes))
