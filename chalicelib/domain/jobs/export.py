"""Exports: the examples of a dataset as one file that can be uploaded again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FAMILY_TYPES,
    IMAGE,
    LANGUAGE,
    MULTI_LABEL,
    SOURCES,
)
from chalicelib.errors import InvalidParameter

QUEUED, RUNNING, SUCCEEDED, FAILED = "QUEUED", "RUNNING", "SUCCEEDED", "FAILED"
STATUSES = (QUEUED, RUNNING, SUCCEEDED, FAILED)
CSV, JSONL, ZIP, COCO, YOLO, VOC = "csv", "jsonl", "zip", "coco", "yolo", "voc"
# Formats by dataset type.
FORMATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(FAMILY_TYPES[LANGUAGE], (CSV, JSONL)),
    IMAGE: (ZIP,),
    MULTI_LABEL: (ZIP,),
    DETECTION: (ZIP, COCO, YOLO, VOC),
}
# An export expires 24 hours after the call.
KEPT = timedelta(hours=24)
# Most exports of an account that are running or can be downloaded.
MAX_KEPT = 10


@dataclass(frozen=True)
class Export:
    """An export and its progress."""

    export_id: str
    account_id: str
    family: str
    dataset_id: int
    format: str
    source: str
    """`upload`, `feedback` or `all`."""
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    status: str = QUEUED
    examples: int = 0
    """Examples in the file; 0 until it is written."""
    size_bytes: int = 0
    """Size of the file; 0 until it is written."""
    message: str = ""
    """Why the export FAILED."""
    fence: int = 0
    """Grows with every owner; writes with an older fence are refused."""
    attempts: int = 0
    last_error: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the sources in list order."""
        return SOURCES if self.source == "all" else (self.source,)

    @property
    def file_name(self) -> str:
        """Return the name under which a browser saves the file."""
        extension = self.format if self.format in (CSV, JSONL) else ZIP
        kind = "" if self.format in (CSV, JSONL, ZIP) else f"-{self.format}"
        return f"dataset-{self.dataset_id}-{self.source}{kind}.{extension}"


def checked_format(dataset_type: str, sent: str) -> str:
    """Check that a dataset type can be exported in a format, and return the format.

    Raises:
        InvalidParameter: the type has no such format.
    """
    allowed = FORMATS[dataset_type]
    if sent not in allowed:
        raise InvalidParameter(
            "format",
            f"'{sent[:40]}' is none of {', '.join(allowed)}, the formats of datasets of type "
            f"{dataset_type}.",
        )
    return sent
