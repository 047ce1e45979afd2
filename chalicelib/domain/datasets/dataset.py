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
# Datasets of this type have only the labels SENTIMENTS.
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
# Where examples come from, in the order of lists. Contract section 1, Lists.
SOURCES = (UPLOAD, FEEDBACK)


def language_code(text: str) -> str | None:
    """Return the code of a language, given its code or an alias; None if it is not supported."""
    code = LANGUAGE_ALIASES.get(text, text)
    return code if code in LANGUAGES else None


@dataclass(frozen=True)
class LabelCounts:
    """The number of committed examples of a label, by source."""

    label_id: int
    upload: int = 0
    """Number of examples that were uploaded in files or added one at a time."""
    feedback: int = 0
    name_fence: int = 0
    """Fence token of the correction that set the label's name; 0 for the original name."""
    upload_layout: int = 0
    """Fence token of the correction that last rewrote the uploaded examples; 0 for none."""
    feedback_layout: int = 0

    @property
    def packed(self) -> list[int]:
        """Return the label's id, counts and correction tokens as a list for the dataset's row.

        The tokens are the fence tokens of three corrections: of the name, the uploaded examples and
        the feedback. They are left out if all three are 0.
        """
        changes = [self.name_fence, self.upload_layout, self.feedback_layout]
        members = [self.label_id, self.upload, self.feedback]
        return members + changes if any(changes) else members

    @property
    def total(self) -> int:
        """Return the number of examples from all sources, which is `numExamples` in answers."""
        return self.upload + self.feedback

    def count(self, source: str) -> int:
        """Return the number of examples of one source."""
        return self.upload if source == UPLOAD else self.feedback

    def layout(self, source: str) -> int:
        """Return the fence token of the correction that last rewrote a source's examples, or 0."""
        return self.upload_layout if source == UPLOAD else self.feedback_layout

    def with_layout(self, source: str, count: int, layout: int) -> LabelCounts:
        """Return the counts after a correction has rewritten the examples of one source.

        The source is `upload` or `feedback`, and has `count` examples after the correction.
        `layout` is the fence token of the correction.
        """
        if source == UPLOAD:
            return replace(self, upload=count, upload_layout=layout)
        return replace(self, feedback=count, feedback_layout=layout)

    def incremented(self, source: str) -> LabelCounts:
        """Return the counts with one more example of a source."""
        if source == UPLOAD:
            return replace(self, upload=self.upload + 1)
        return replace(self, feedback=self.feedback + 1)


@dataclass(frozen=True)
class Label:
    """A label as the API returns it."""

    label_id: int
    dataset_id: int
    name: str
    """Name of the label, at most 180 characters."""
    examples: int
    former: tuple[str, ...] = ()
    """Former names of this label and of the labels merged into it, the latest name last."""


@dataclass(frozen=True)
class Dataset:
    """A dataset as its row stores it. Separate rows store the label names."""

    account_id: str
    """Owner; GLOBAL for global datasets."""
    family: str
    """`language` or `vision`."""
    dataset_id: int
    name: str
    type: str
    """One of FAMILY_TYPES."""
    language: str
    """One of LANGUAGES, or N/A."""
    status: str
    """UPLOADING, SUCCEEDED, FAILED or DELETION_PENDING."""
    available: bool
    created_at: datetime
    updated_at: datetime
    """When the examples or the status of the dataset last changed."""
    message: str = ""
    """Why the last upload failed, without the prefix `FAILED: `."""
    counts: tuple[LabelCounts, ...] = ()
    """Numbers of committed examples per label, in order of each label's first appearance."""
    duplicates: int = 0
    words_upload: int = 0
    """Number of words in all texts of source `upload`."""
    words_feedback: int = 0
    """Number of words in all texts of source `feedback`."""
    bytes: int = 0
    """Size of the stored texts or images in bytes."""
    training: frozenset[str] = field(default_factory=frozenset)
    """Entries `model_id.milliseconds` of open trainings. With an entry, the dataset cannot be
    deleted.
    """
    is_uploaded: bool = False
    """Whether the dataset was created from a file. Only such datasets accept more files."""
    upload_id: str = ""
    """Sort key `milliseconds#receipt_id` of the receipt of the running or last upload."""
    reserved_bytes: int = 0
    """Size of the file of a running upload, in bytes."""
    fence: int = 0
    """Fence token, increased by each new worker lease. Writes with an older token are refused."""
    last_correction: int = 0
    """Fence token of the last committed correction; 0 for none."""
    is_placed: bool = True
    """Whether the store `ExamplePlaces` has the labels of all examples. False for datasets that are
    older than that store."""
    is_unfinished: bool = False
    """Whether the call that creates the dataset is still running, or was aborted."""

    @property
    def receipt_id(self) -> str:
        """Return the id of the receipt of the running upload, or of the last upload."""
        return self.upload_id.partition("#")[2]

    @property
    def total(self) -> int:
        """Return the number of committed examples, feedback included."""
        return sum(counts.total for counts in self.counts)

    @property
    def status_message(self) -> str:
        """Return the text of `statusMsg` in answers."""
        return f"FAILED: {self.message}" if self.status == FAILED else self.status


@dataclass(frozen=True)
class DatasetView:
    """A dataset with the names of its labels, as the API returns it."""

    dataset: Dataset
    labels: tuple[Label, ...]
    """Labels in order of first appearance; empty while the first upload is running."""

    def label(self, label_id: int) -> Label | None:
        """Return a label by its id; None when the dataset has no label with this id."""
        return next((label for label in self.labels if label.label_id == label_id), None)

    def label_named(self, name: str) -> Label | None:
        """Return the label with this current or former name, compared by `normal_form`, or None."""
        names = {label.label_id: NamesOfLabel(label.name, label.former) for label in self.labels}
        found = ids_by_name(names).get(normal_form(name))
        return None if found is None else self.label(found)
