"""An unfinished upload, which counts against the limits of its account."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenUpload:
    """The entry of one unfinished upload in its account's row."""

    family: str
    dataset_id: int
    receipt_id: str
    """Id of the upload's receipt, unique among uploads."""
    reserved_at: int
    """Time at which the upload was accepted, in milliseconds since 1970."""
    size_bytes: int
    """Bytes counted in the account: the size of the sent file, later that of the stored data."""

    def __str__(self) -> str:
        parts = (self.family, self.dataset_id, self.receipt_id, self.reserved_at, self.size_bytes)
        return ".".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> OpenUpload:
        """Parse the text that `str` returned for an open upload."""
        family, dataset_id, receipt_id, reserved_at, size_bytes = text.split(".")
        return cls(family, int(dataset_id), receipt_id, int(reserved_at), int(size_bytes))
