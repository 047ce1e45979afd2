"""Exports: the examples of a dataset as one file that uploads again."""

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
# Formats by the type of the dataset.
FORMATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(FAMILY_TYPES[LANGUAGE], (CSV, JSONL)),
    IMAGE: (ZIP,),
    MULTI_LABEL: (ZIP,),
    DETECTION: (ZIP, COCO, YOLO, VOC),
}
# How long an export can be fetched, from the call that asks for it.
KEPT = timedelta(hours=24)
# Exports of an account that are under way or can be fetched.
MAX_KEPT = 10


@dataclass(frozen=True)
class Export:
    """An export and how far it is."""

    export_id: str
    """String id."""
    account_id: str
    """Owner."""
    family: str
    """Family of the dataset."""
    dataset_id: int
    """What is exported."""
    format: str
    """One of FORMATS."""
    source: str
    """`upload`, `feedback` or `all`."""
    created_at: datetime
    """When it was asked for."""
    updated_at: datetime
    """When its status last changed."""
    expires_at: datetime
    """When it is gone."""
    status: str = QUEUED
    """One of STATUSES."""
    examples: int = 0
    """Examples in the file, once it is written."""
    size_bytes: int = 0
    """Bytes of the file, once it is written."""
    message: str = ""
    """Why it FAILED."""
    fence: int = 0
    """Grows with every owner; what an older one writes is refused."""
    attempts: int = 0
    """How often the job was taken."""
    last_error: str = ""
    """What broke the attempt before."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources in the order of lists."""
        return SOURCES if self.source == "all" else (self.source,)

    @property
    def file_name(self) -> str:
        """Name under which a browser keeps the file."""
        extension = self.format if self.format in (CSV, JSONL) else ZIP
        kind = "" if self.format in (CSV, JSONL, ZIP) else f"-{self.format}"
        return f"dataset-{self.dataset_id}-{self.source}{kind}.{extension}"


def checked_format(dataset_type: str, sent: str) -> str:
    """Return a format that datasets of a type have.

    Raises:
        InvalidParameter: names those that there are.
    """
    allowed = FORMATS[dataset_type]
    if sent not in allowed:
        raise InvalidParameter(
            "format",
            f"'{sent[:40]}' is none of {', '.join(allowed)}, the formats of datasets of type "
            f"{dataset_type}.",
        )
    return sent
