"""The records of datasets: labels, examples, corrections, uploads, receipts, exports.

describe.py creates them. tests/spec/test_records.py compares them with the examples in contract
section 4.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.datasets.upload_format import PICTURE_KINDS, TEXT_KINDS
from chalicelib.domain.jobs.export import FORMATS, STATUSES
from chalicelib.domain.models.suspects import EXTRA_LABEL, MISSING_LABEL, OTHER_LABEL
from chalicelib.web.records.members import SINCE_2, Number

# Several dataset types have the same formats.
ALL_FORMATS = tuple(dict.fromkeys(name for names in FORMATS.values() for name in names))


class LabelRecord(msgspec.Struct, rename="camel"):
    """A label of a dataset."""

    id: int
    dataset_id: int
    name: str
    num_examples: int


class LabelDescriptionRecord(msgspec.Struct, rename="camel"):
    """A label with its description, which is empty if the label has none."""

    name: str
    description: str
    num_examples: int
    object: Literal["labelDescription"] = "labelDescription"


class LabelSummary(msgspec.Struct):
    """All labels of a dataset, in order of first appearance."""

    labels: list[LabelRecord]


class DatasetRecord(msgspec.Struct, rename="camel"):
    """A dataset."""

    id: int
    name: str
    created_at: str
    updated_at: str
    label_summary: LabelSummary
    total_examples: int
    total_labels: int
    available: bool
    status_msg: str
    type: str
    language: Annotated[str, SINCE_2]
    num_of_duplicates: Annotated[int, SINCE_2]
    object: Literal["dataset"] = "dataset"


class ExampleRecord(msgspec.Struct, rename="camel"):
    """An example with its label. For texts, `name` and `location` are both the text."""

    id: int
    name: str
    location: str
    created_at: str
    label: LabelRecord
    object: Literal["example"] = "example"


class BoxRecord(msgspec.Struct):
    """A box as in annotation files, in pixels from the top left of the image."""

    x: Number
    y: Number
    width: Number
    height: Number


Suggestion = Annotated[
    str,
    Meta(
        description="The label that is probably correct. For images with several labels: "
        "`<label>_positive` if one is missing, `<label>_negative` if one is too many.",
        examples=["billing"],
    ),
]
Confidence = Annotated[float, Meta(description="Probability of the suggestion.", examples=[0.93])]
SuspectReason = Annotated[
    str, Meta(extra_json_schema={"enum": [OTHER_LABEL, EXTRA_LABEL, MISSING_LABEL]})
]


class BrowsedExampleRecord(msgspec.Struct, rename="camel"):
    """An example for review.

    Only images have `thumbnail`, `width` and `height`. Only examples of detection datasets have
    `box`. Only flagged examples have `suggestion`, `confidence` and `reason`.
    """

    id: int
    name: str
    location: str
    created_at: str
    label: LabelRecord
    source: Annotated[str, Meta(extra_json_schema={"enum": ["upload", "feedback"]})]
    thumbnail: str | UnsetType = UNSET
    width: int | UnsetType = UNSET
    height: int | UnsetType = UNSET
    box: BoxRecord | UnsetType = UNSET
    suggestion: Suggestion | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    reason: SuspectReason | UnsetType = UNSET
    object: Literal["browsedexample"] = "browsedexample"


class CorrectedExampleRecord(ExampleRecord, rename="camel"):
    """An example after a correction. `box` is the position of an object in its image."""

    box: BoxRecord | UnsetType = UNSET


class CorrectionRecord(msgspec.Struct, rename="camel"):
    """The result of a correction.

    If the call named one example, `examples` contains this example after the correction, or all
    boxes of its image.
    """

    dataset_id: int
    moved: int
    changed: int
    removed: int
    added: int
    duplicates: Annotated[
        int,
        Meta(description="Examples removed because their label already has an equal one."),
    ]
    skipped: int
    id: int | UnsetType = UNSET
    created_at: str | UnsetType = UNSET
    examples: list[CorrectedExampleRecord] | UnsetType = UNSET
    object: Literal["correction"] = "correction"


class ChangedLabelRecord(LabelRecord, rename="camel"):
    """A label after a change. After a merge, it is the label that remains."""

    moved: int = 0
    duplicates: Annotated[
        int,
        Meta(description="Examples removed because their label already has an equal one."),
    ] = 0


class UploadRecord(msgspec.Struct, rename="camel"):
    """A presigned form, with which a file is sent to the storage of the service."""

    url: str
    fields: dict[str, str]
    path: str
    expires_at: str
    max_bytes: int
    object: Literal["upload"] = "upload"


class RejectionRecord(msgspec.Struct):
    """A rejected row or file."""

    row: int | UnsetType
    file: str | UnsetType
    reason: str


class WarningRecord(msgspec.Struct):
    """Something unusual in a file, and where it was first found."""

    code: str
    message: str
    count: int
    places: list[str]


class ReceiptRecord(msgspec.Struct, rename="camel"):
    """The result of an upload, with its rejected rows or files."""

    id: str
    created_at: str
    status: str
    message: str | None
    seen: int
    kept: int
    duplicates: int
    rejected: int
    rejections: list[RejectionRecord]
    warnings: list[WarningRecord]
    object: Literal["receipt"] = "receipt"


class FormatRecord(msgspec.Struct, rename="camel"):
    """The format in which a file was read. Members that this format does not have are null."""

    kind: Annotated[str, Meta(extra_json_schema={"enum": [*TEXT_KINDS, *PICTURE_KINDS]})]
    encoding: str | None
    delimiter: str | None
    header: bool | None
    text_column: int | str | None
    label_column: int | str | None


class FoundLabelRecord(msgspec.Struct, rename="camel"):
    """A label with its number of examples."""

    name: str
    num_examples: int


class PreviewRowRecord(msgspec.Struct):
    """One of the first rows of a file, or one of the first files of an archive."""

    row: int
    cells: list[str]
    text: str | None
    label: str | None
    reason: str | None


class SheetRecord(msgspec.Struct):
    """A sheet of a workbook."""

    name: str
    rows: int


class RankRecord(msgspec.Struct):
    """The ranks of a column as text column and as label column. Rank 1 is the best column."""

    text: int
    label: int


class ColumnRecord(msgspec.Struct):
    """A column, or a member of JSON objects, described from the first 1,000 rows."""

    position: int
    name: str | None
    samples: list[str]
    distinct: int
    rank: RankRecord


class PreviewRecord(msgspec.Struct):
    """The first rows, sheets and columns of a refused file."""

    columns: list[ColumnRecord]
    preview: list[PreviewRowRecord]
    sheets: list[SheetRecord]


class ValidationRecord(msgspec.Struct, rename="camel"):
    """The dataset that an upload of a file would create. Nothing is stored."""

    format: FormatRecord
    seen: int
    kept: int
    duplicates: int
    rejected: int
    rejections: list[RejectionRecord]
    warnings: list[WarningRecord]
    labels: list[FoundLabelRecord]
    is_trainable: bool
    reasons: list[str]
    preview: list[PreviewRowRecord] | UnsetType = UNSET
    sheets: list[SheetRecord] | UnsetType = UNSET
    columns: list[ColumnRecord] | UnsetType = UNSET
    object: Literal["validation"] = "validation"


class ExportRecord(msgspec.Struct, rename="camel"):
    """An export of a dataset. Its file can be downloaded once it has SUCCEEDED."""

    id: str
    dataset_id: int
    format: Annotated[str, Meta(extra_json_schema={"enum": [*ALL_FORMATS]})]
    source: Annotated[str, Meta(extra_json_schema={"enum": ["upload", "feedback", "all"]})]
    status: Annotated[str, Meta(extra_json_schema={"enum": [*STATUSES]})]
    created_at: str
    updated_at: str
    expires_at: str
    examples: int | UnsetType
    bytes: int | UnsetType
    url: str | UnsetType
    failure_msg: str | UnsetType
    object: Literal["export"] = "export"
