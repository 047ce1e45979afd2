"""Exports: the examples of a dataset, or a trained model, as one file."""

from __future__ import annotations

from collections.abc import Sequence
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
from chalicelib.errors import InvalidParameter, TooManyOpen

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
# Maximum number of an account's exports, of datasets and of models, that run or can be downloaded.
MAX_KEPT, MAX_KEPT_MODELS = 10, 5
# Formats of an exported model: everything that presage-runtime needs, or one graph.
BUNDLE, ONNX = "bundle", "onnx"
MODEL_FORMATS = (BUNDLE, ONNX)


@dataclass(frozen=True)
class ExportedModel:
    """The model version in an export of a model."""

    model_id: str
    version: int
    folder: str
    """Name of the folder with the artifacts of the version."""


@dataclass(frozen=True)
class Export:
    """An export and its progress."""

    export_id: str
    account_id: str
    family: str
    dataset_id: int
    format: str
    source: str
    """Which examples a dataset's export contains: `upload`, `feedback` or `all`."""
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    status: str = QUEUED
    examples: int = 0
    """Number of examples in the file; 0 before the file is written."""
    size_bytes: int = 0
    """Size of the file in bytes; 0 before the file is written."""
    message: str = ""
    """Why the export FAILED."""
    fence: int = 0
    """Fence token, increased by each new worker lease. Writes with an older token are refused."""
    attempts: int = 0
    last_error: str = ""
    model: ExportedModel | None = None
    """Set for an export of a model; then `dataset_id` is 0 and `source` is empty."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the sources of the exported examples: uploads before feedback."""
        return SOURCES if self.source == "all" else (self.source,)

    @property
    def file_name(self) -> str:
        """Return the name under which a browser saves the file."""
        if self.model is not None:
            kind = "" if self.format == BUNDLE else f"-{self.format}"
            return f"model-{self.model.model_id}-{self.model.version}{kind}.zip"
        extension = self.format if self.format in (CSV, JSONL) else ZIP
        kind = "" if self.format in (CSV, JSONL, ZIP) else f"-{self.format}"
        return f"dataset-{self.dataset_id}-{self.source}{kind}.{extension}"


def check_open_exports(exports: Sequence[Export], limit: int, now: datetime, noun: str) -> None:
    """Raise TooManyOpen if the account has the maximum number of exports.

    `exports` are the account's exports that are in progress or can be downloaded. `noun` is
    the word for the exports in the error text.

    Raises:
        TooManyOpen: the account has `limit` exports or more.
    """
    if len(exports) < limit:
        return
    first = min(export.expires_at for export in exports)
    raise TooManyOpen(
        f"The account has {len(exports)} {noun} that are in progress or can be downloaded; "
        f"at most {limit} are allowed, each for {KEPT.total_seconds() / 3600:.0f} hours. "
        f"Use one of them, or try again after {first:%Y-%m-%d %H:%M:%S} UTC.",
        max(1, round((first - now).total_seconds())),
    )


def checked_format(dataset_type: str, name: str) -> str:
    """Check that a dataset type can be exported in a format; return the format.

    Raises:
        InvalidParameter: the type cannot be exported in this format.
    """
    allowed = FORMATS[dataset_type]
    if name not in allowed:
        raise InvalidParameter(
            "format",
            f"'{name[:40]}' is not one of {', '.join(allowed)}, the formats of datasets of type "
            f"{dataset_type}.",
        )
    return name
