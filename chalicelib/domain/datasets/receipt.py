"""The results of reading an upload: accepted and rejected examples, and the receipt.

See contract section 5, receipts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from chalicelib.domain.common.limits import MAX_REJECTIONS
from chalicelib.domain.datasets.upload_format import FileFormat, UploadWarning
from chalicelib.domain.documents.picture import Box


@dataclass(frozen=True)
class RejectedItem:
    """A row or file that was rejected, and why."""

    reason: str
    row: int | None = None
    """Number of the row, line, annotation or object in the file, from 1."""
    file: str | None = None


@dataclass(frozen=True)
class Receipt:
    """The result of one upload. `seen` is the sum of `kept`, `duplicates` and `rejected`."""

    receipt_id: str
    dataset_id: int
    created_at: datetime
    status: str = "UPLOADING"
    """UPLOADING, SUCCEEDED or FAILED."""
    message: str | None = None
    seen: int = 0
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    """Number of rows or files that are not valid examples."""
    rejections: tuple[RejectedItem, ...] = ()
    """The first MAX_REJECTIONS rejected rows or files."""
    warnings: tuple[UploadWarning, ...] = ()


@dataclass
class UploadScan:
    """The counts of an upload, which increase while its file is read."""

    new_labels: list[str] = field(default_factory=list)
    """Labels that the dataset does not have yet, in order of first appearance."""
    kept_by_label: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    """Number of rows, files or boxes that are not valid examples."""
    rejections: list[RejectedItem] = field(default_factory=list)
    """The first MAX_REJECTIONS rejected rows, files or boxes."""
    bytes: int = 0
    """Size of the new texts in UTF-8, or of the distinct new images, in bytes."""
    words: int = 0
    """Number of words in the new texts; 0 for images."""
    format: FileFormat | None = None
    """How the file is read; None until that is known."""
    warnings: list[UploadWarning] = field(default_factory=list)

    @property
    def seen(self) -> int:
        """Return the number of rows, files or boxes that were read."""
        return self.kept + self.duplicates + self.rejected

    def reject(self, item: RejectedItem) -> None:
        """Count a rejected item. List the item if fewer than MAX_REJECTIONS are listed."""
        self.rejected += 1
        if len(self.rejections) < MAX_REJECTIONS:
            self.rejections.append(item)

    def fill_failed(self, receipt: Receipt) -> Receipt:
        """Return the receipt of a failed upload, with the counts at the time of the failure."""
        return replace(
            receipt,
            seen=self.seen,
            duplicates=self.duplicates,
            # Nothing of a failed upload was added, so its valid examples count as rejected.
            rejected=self.rejected + self.kept,
            rejections=tuple(self.rejections),
            warnings=tuple(self.warnings),
        )


@dataclass(frozen=True, slots=True)
class ParsedExample:
    """An example that was read from a file and has no id yet."""

    label: str
    name: str
    """Language: the text. Vision: the file name."""
    picture: str = ""
    """Vision: digest of the image file, 32 hex digits."""
    box: Box | None = None
    waiting: str = ""
    """The text, or the digest of the image, whose vector must be computed; empty if none is needed.
    """


@dataclass(frozen=True)
class IngestPlan:
    """The examples that an upload will add, and the counts for its receipt."""

    scan: UploadScan
    examples: Callable[[], Iterator[ParsedExample]]
    """Yields the new examples in file order; can be called again."""

    def fill(self, receipt: Receipt) -> Receipt:
        """Return the receipt with the counts and warnings of this upload."""
        return replace(
            receipt,
            seen=self.scan.seen,
            kept=self.scan.kept,
            duplicates=self.scan.duplicates,
            rejected=self.scan.rejected,
            rejections=tuple(self.scan.rejections),
            warnings=tuple(self.scan.warnings),
        )
