"""What becomes of every row or file of an upload: the reader's decision, and the receipt of it.

Contract section 5, receipts.
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
    """A row or file that was left out, and why."""

    reason: str
    """For a person, with the remedy."""
    row: int | None = None
    """Row, line, annotation or object of a file, from 1."""
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
    warnings: tuple[UploadWarning, ...] = ()
    """What looks odd in it."""


@dataclass
class UploadScan:
    """What happens to the examples of a file; seen = kept + duplicates + rejected."""

    new_labels: list[str] = field(default_factory=list)
    """Labels that the dataset has not, in order of first appearance."""
    kept_by_label: dict[str, int] = field(default_factory=dict)
    """Kept examples by label."""
    kept: int = 0
    """Examples that are new."""
    duplicates: int = 0
    """Examples left out because they are there already."""
    rejected: int = 0
    """Rows, files or boxes that are no examples."""
    rejections: list[RejectedItem] = field(default_factory=list)
    """The first of them."""
    bytes: int = 0
    """UTF-8 bytes of the kept texts, or bytes of the distinct kept pictures that are new."""
    words: int = 0
    """Words of the kept texts; 0 for pictures."""
    format: FileFormat | None = None
    """How the file is read; None before that is known."""
    warnings: list[UploadWarning] = field(default_factory=list)
    """What looks odd in it."""

    @property
    def seen(self) -> int:
        """Examples that were read."""
        return self.kept + self.duplicates + self.rejected

    def reject(self, item: RejectedItem) -> None:
        """Count a rejection, and name the first ones."""
        self.rejected += 1
        if len(self.rejections) < MAX_REJECTIONS:
            self.rejections.append(item)

    def fill_failed(self, receipt: Receipt) -> Receipt:
        """Return the receipt of an upload that failed, with what had been read until then.

        Nothing of it was added, so what could have been counts as rejected.
        """
        return replace(
            receipt,
            seen=self.seen,
            duplicates=self.duplicates,
            rejected=self.rejected + self.kept,
            rejections=tuple(self.rejections),
            warnings=tuple(self.warnings),
        )


@dataclass(frozen=True, slots=True)
class ParsedExample:
    """An example of a file, before it has an id."""

    label: str
    """Label name."""
    name: str
    """Language: the text. Vision: the file name."""
    picture: str = ""
    """Vision: digest of the picture file, 32 hex digits."""
    box: Box | None = None
    """Detection: where the object is."""
    waiting: str = ""
    """Text or picture digest that must be turned into a vector; empty when nothing has to be."""


@dataclass(frozen=True)
class IngestPlan:
    """What becomes of a file."""

    scan: UploadScan
    """The decision over its examples."""
    examples: Callable[[], Iterator[ParsedExample]]
    """Yields the kept examples in file order; may be called again."""

    def fill(self, receipt: Receipt) -> Receipt:
        """Return a receipt with the numbers of this file."""
        return replace(
            receipt,
            seen=self.scan.seen,
            kept=self.scan.kept,
            duplicates=self.scan.duplicates,
            rejected=self.scan.rejected,
            rejections=tuple(self.scan.rejections),
            warnings=tuple(self.scan.warnings),
        )
