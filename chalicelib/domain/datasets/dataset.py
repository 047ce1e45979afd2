"""Datasets, their labels and their states. Spec: Dataset, Label, States and transitions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from chalicelib.domain.datasets.label_names import NamesOfLabel, ids_by_name, normal_form

LANGUAGE = "language"
VISION = "vision"
IMAGE = "image"
MULTI_LABEL = "image-multi-label"
DETECTION = "image-detection"
# Allowed `type` values by family. Spec: Dataset.
FAMILY_TYPES: dict[str, tuple[str, ...]] = {
    LANGUAGE: ("text-intent", "text-sentiment"),
    VISION: (IMAGE, DETECTION, MULTI_LABEL),
}
# Type of datasets whose labels are the three sentiments.
SENTIMENT = "text-sentiment"
SENTIMENTS = ("positive", "negative", "neutral")
NO_LANGUAGE = "N/A"
# Languages of intent datasets. Contract section 5.
LANGUAGES = ("en_US", "en_GB", "fr", "de", "it", "pt_PT", "es", "zh_CN", "zh_TW", "ja")
# Older spellings that are accepted. Contract section 5.
LANGUAGE_ALIASES = {"ENGLISH": "en_US", "pt": "pt_PT"}

UPLOADING = "UPLOADING"
SUCCEEDED = "SUCCEEDED"
FAILED = "FAILED"
DELETION_PENDING = "DELETION_PENDING"

UPLOAD = "upload"
FEEDBACK = "feedback"
# Where an example came from, in the order of lists. Contract section 1, Lists.
SOURCES = (UPLOAD, FEEDBACK)


def language_code(text: str) -> str | None:
    """Return the language's code, or None when it is not supported."""
    code = LANGUAGE_ALIASES.get(text, text)
    return code if code in LANGUAGES else None


@dataclass(frozen=True)
class LabelCounts:
    """How many committed examples a label has, by source."""

    label_id: int
    """Unique in the service."""
    upload: int = 0
    """Examples from uploads and examples added singly."""
    feedback: int = 0
    """Examples added as feedback."""
    named: int = 0
    """Fence under which the label got its present name, 0 for the name that it was made with."""
    upload_layout: int = 0
    """Fence of the correction that last rewrote its uploads; 0 if nothing was corrected."""
    feedback_layout: int = 0
    """The same of its feedback."""

    @property
    def packed(self) -> list[int]:
        """The members in their order, as they are stored; zeros at the end are left out."""
        corrected = [self.named, self.upload_layout, self.feedback_layout]
        members = [self.label_id, self.upload, self.feedback]
        return members + corrected if any(corrected) else members

    @property
    def total(self) -> int:
        """Examples of all sources; the `numExamples` of answers."""
        return self.upload + self.feedback

    def count(self, source: str) -> int:
        """Examples of one source."""
        return self.upload if source == UPLOAD else self.feedback

    def layout(self, source: str) -> int:
        """Layout of the examples of one source."""
        return self.upload_layout if source == UPLOAD else self.feedback_layout

    def with_layout(self, source: str, count: int, layout: int) -> LabelCounts:
        """Return the counts after a correction of the examples of one source."""
        if source == UPLOAD:
            return replace(self, upload=count, upload_layout=layout)
        return replace(self, feedback=count, feedback_layout=layout)

    def incremented(self, source: str) -> LabelCounts:
        """Count one more example of a source."""
        if source == UPLOAD:
            return replace(self, upload=self.upload + 1)
        return replace(self, feedback=self.feedback + 1)


@dataclass(frozen=True)
class Label:
    """A label as answers show it."""

    label_id: int
    """Unique in the service."""
    dataset_id: int
    """Dataset that the label belongs to."""
    name: str
    """Label name, at most 180 characters."""
    examples: int
    """Examples with the label, feedback included."""
    former: tuple[str, ...] = ()
    """Names that it, or a label that was merged into it, had before; the latest last."""


@dataclass(frozen=True)
class Dataset:
    """A dataset as its row holds it; label names lie in rows of their own."""

    account_id: str
    """Owner; GLOBAL for global datasets."""
    family: str
    """`language` or `vision`."""
    dataset_id: int
    """Unique in the service."""
    name: str
    type: str
    """One of FAMILY_TYPES."""
    language: str
    """One of LANGUAGES, or N/A."""
    status: str
    """UPLOADING, SUCCEEDED, FAILED or DELETION_PENDING."""
    available: bool
    """True when it can be trained."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When its data or status last changed."""
    message: str = ""
    """Why the last upload failed; the text behind `FAILED: `."""
    counts: tuple[LabelCounts, ...] = ()
    """Committed counts per label, in order of first appearance."""
    duplicates: int = 0
    """Duplicates left out by uploads."""
    words_upload: int = 0
    """Words of the texts of source upload."""
    words_feedback: int = 0
    """Words of the texts of source feedback."""
    bytes: int = 0
    """Bytes of the kept texts or images."""
    training: frozenset[str] = field(default_factory=frozenset)
    """Guard entries `model_id.milliseconds` of trainings that are QUEUED or RUNNING."""
    is_uploaded: bool = False
    """True when it was created from a file, so that files can be added."""
    upload_id: str = ""
    """Receipt of the upload that is going on, or of the last one."""
    reserved_bytes: int = 0
    """Size of the raw file of an upload that is going on."""
    fence: int = 0
    """Grows with every owner of the row; a write with an older one is refused."""
    last_correction: int = 0
    """Fence of the last committed correction; 0 for none."""
    is_placed: bool = True
    """Whether the labels of all its examples are noted by id."""

    @property
    def receipt_id(self) -> str:
        """Id of the receipt of the upload that is going on, or of the last one."""
        return self.upload_id.partition("#")[2]

    @property
    def total(self) -> int:
        """Committed examples, feedback included."""
        return sum(counts.total for counts in self.counts)

    @property
    def status_message(self) -> str:
        """The `statusMsg` of answers."""
        return f"FAILED: {self.message}" if self.status == FAILED else self.status


@dataclass(frozen=True)
class DatasetView:
    """A dataset together with its named labels, as answers show it."""

    dataset: Dataset
    """The row."""
    labels: tuple[Label, ...]
    """Labels in order of first appearance; none while the first upload is going on."""

    def label(self, label_id: int) -> Label | None:
        """Find a label by its id."""
        return next((label for label in self.labels if label.label_id == label_id), None)

    def label_named(self, name: str) -> Label | None:
        """Find a label by its name, now or before, however its accents are written."""
        names = {label.label_id: NamesOfLabel(label.name, label.former) for label in self.labels}
        found = ids_by_name(names).get(normal_form(name))
        return None if found is None else self.label(found)
