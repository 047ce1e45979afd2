"""The records of the interface: member names, their order, and their types.

With describe.py beside it, which fills them, the only file that knows the member names of
answers. Contract section 4; each is compared with the contract's examples by
tests/spec/test_records.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.datasets.upload_format import PICTURE_KINDS, TEXT_KINDS
from chalicelib.domain.jobs.batch import BATCH_FORMATS, BATCH_STATUSES
from chalicelib.domain.jobs.batch import TEXT_KINDS as TEXT_KINDS_OF_BATCHES
from chalicelib.domain.jobs.deletion import DATASET, MODEL, QUEUED, RUNNING, SUCCEEDED, WAITING
from chalicelib.domain.jobs.export import FORMATS, STATUSES
from chalicelib.domain.models.model_files import STATES
from chalicelib.domain.models.suspects import EXTRA_LABEL, MISSING_LABEL, OTHER_LABEL

Number = int | float
ALL_FORMATS = tuple(dict.fromkeys(name for names in FORMATS.values() for name in names))
SINCE_2 = Meta(
    description="Not below /v1.", extra={"since": "2.0"}, extra_json_schema={"x-since": "2.0"}
)
"""Marks a member that the specification has from version 2.0 on. Spec: Dataset; Versioning."""


def members_since_2(record: Any) -> frozenset[str]:
    """Name the members of a record that carry the mark `SINCE_2`."""
    if not (isinstance(record, type) and issubclass(record, msgspec.Struct)):
        return frozenset()
    return frozenset(
        member.encode_name
        for member in msgspec.structs.fields(record)
        if any(SINCE_2 in get_args(part) for part in (member.type, *get_args(member.type)))
    )


DeletionType = Annotated[str, Meta(extra_json_schema={"enum": [DATASET, MODEL]})]
DeletionStatus = Annotated[
    str, Meta(extra_json_schema={"enum": [QUEUED, RUNNING, SUCCEEDED, WAITING]})
]


class LabelRecord(msgspec.Struct, rename="camel"):
    """A label of a dataset."""

    id: int
    dataset_id: int
    name: str
    num_examples: int


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
    """An example with its label; of a text, `name` and `location` both hold it."""

    id: int
    name: str
    location: str
    created_at: str
    label: LabelRecord
    object: Literal["example"] = "example"


class BoxRecord(msgspec.Struct):
    """Where an object is, as annotations have it: pixels from the top left of the picture."""

    x: Number
    y: Number
    width: Number
    height: Number


Suggestion = Annotated[
    str,
    Meta(
        description="The label that it probably has; of a picture with several labels "
        "`<label>_positive` where one is missing, `<label>_negative` where one is too many.",
        examples=["billing"],
    ),
]
Confidence = Annotated[float, Meta(description="Probability of the suggestion.", examples=[0.93])]
SuspectReason = Annotated[
    str, Meta(extra_json_schema={"enum": [OTHER_LABEL, EXTRA_LABEL, MISSING_LABEL]})
]


class BrowsedExampleRecord(msgspec.Struct, rename="camel"):
    """An example for review; `box` of a detection dataset, the last three of suspects."""

    id: int
    name: str
    location: str
    created_at: str
    label: LabelRecord
    source: Annotated[str, Meta(extra_json_schema={"enum": ["upload", "feedback"]})]
    box: BoxRecord | UnsetType = UNSET
    suggestion: Suggestion | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    reason: SuspectReason | UnsetType = UNSET
    object: Literal["browsedexample"] = "browsedexample"


class CorrectedExampleRecord(ExampleRecord, rename="camel"):
    """An example after a mending; a box with its place."""

    box: BoxRecord | UnsetType = UNSET


class CorrectionRecord(msgspec.Struct, rename="camel"):
    """What a mending has done.

    `examples` where one example was named: as it is now, or all boxes of its picture.
    """

    dataset_id: int
    moved: int
    changed: int
    removed: int
    added: int
    duplicates: Annotated[
        int,
        Meta(description="Examples that are gone because their label has an equal one now."),
    ]
    skipped: int
    id: int | UnsetType = UNSET
    created_at: str | UnsetType = UNSET
    examples: list[CorrectedExampleRecord] | UnsetType = UNSET
    object: Literal["correction"] = "correction"


class ChangedLabelRecord(LabelRecord, rename="camel"):
    """A label after a change; of a merge the one that is left."""

    moved: int = 0
    duplicates: Annotated[
        int,
        Meta(description="Examples that are gone because their label has an equal one now."),
    ] = 0


class TrainStatsRecord(msgspec.Struct, rename="camel"):
    """What a finished training did; durations as HH:MM:SS:mmm."""

    labels: int
    examples: int
    total_time: str
    training_time: str
    early_stopping: bool
    last_epoch_done: int
    model_save_time: str
    test_split_size: int
    train_split_size: int
    dataset_load_time: str
    pre_process_stats: None = None
    post_process_stats: None = None


class TrainingRecord(msgspec.Struct, rename="camel"):
    """A training of a model."""

    dataset_id: int
    dataset_version_id: int
    name: str
    status: str
    progress: Number
    created_at: str
    updated_at: str
    learning_rate: Number
    epochs: int
    queue_position: int | UnsetType
    failure_msg: str | UnsetType
    object: Literal["training"]
    model_id: str
    train_params: dict[str, Any] | None
    train_stats: TrainStatsRecord | None
    model_type: str
    algorithm: Annotated[str, SINCE_2] | UnsetType
    language: Annotated[str, SINCE_2]


class ModelRecord(msgspec.Struct, rename="camel"):
    """A model in a list."""

    dataset_id: int
    dataset_version_id: int
    name: str
    status: str
    progress: Number
    created_at: str
    updated_at: str
    failure_msg: str | UnsetType
    object: Literal["model"]
    model_id: str
    model_type: str
    algorithm: Annotated[str, SINCE_2] | UnsetType
    language: Annotated[str, SINCE_2]


class MetricsRecord(msgspec.Struct, rename="camel"):
    """How well a model does on what it was tested with."""

    id: str
    metrics_data: dict[str, Any]
    created_at: str
    language: Annotated[str, SINCE_2]
    algorithm: Annotated[str, SINCE_2] | UnsetType
    object: Literal["metrics"] = "metrics"


class LearningCurveRecord(msgspec.Struct, rename="camel"):
    """How well a model did after one epoch."""

    epoch: int
    metrics_data: dict[str, Any]
    epoch_results: dict[str, Any] | list[dict[str, Any]]
    object: Literal["learningcurve"] = "learningcurve"


class CardRecord(msgspec.Struct, rename="camel"):
    """What a model was made from, how it was measured, and its limits."""

    model_id: str
    name: str
    language: str
    created_at: str
    trained_on: dict[str, Any]
    engine: dict[str, Any]
    artifact_sha256: str
    metrics: dict[str, Any]
    limits: str
    object: Literal["card"]
    algorithm: str | UnsetType = UNSET
    calibration_error: Number | UnsetType | None = UNSET
    threshold: Number | UnsetType | None = UNSET
    data_report: dict[str, Any] | UnsetType = UNSET


class ProbabilityRecord(msgspec.Struct):
    """A label with its probability."""

    label: str
    probability: float


class PredictionRecord(msgspec.Struct, rename="camel"):
    """What a model predicts, most probable first."""

    probabilities: list[ProbabilityRecord]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET


class BoundingBoxRecord(msgspec.Struct, rename="camel"):
    """Where an object is, in pixels of the picture as displayed; the origin is its top left."""

    min_x: int
    min_y: int
    max_x: int
    max_y: int


class DetectedRecord(msgspec.Struct, rename="camel"):
    """An object that was found."""

    label: str
    probability: float
    bounding_box: BoundingBoxRecord


class DetectionRecord(msgspec.Struct, rename="camel"):
    """The objects that a model finds, most probable first."""

    probabilities: list[DetectedRecord]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET


class DeletionRecord(msgspec.Struct, rename="camel"):
    """A removal that goes on in the background."""

    id: str
    organization_id: str
    type: DeletionType
    status: DeletionStatus
    progress: Number
    message: str | None
    object: Literal["deletion"]
    deleted_object_id: str


class UploadRecord(msgspec.Struct, rename="camel"):
    """A presigned form."""

    url: str
    fields: dict[str, str]
    path: str
    expires_at: str
    max_bytes: int
    object: Literal["upload"] = "upload"


class RejectionRecord(msgspec.Struct):
    """A row or file that was left out."""

    row: int | UnsetType
    file: str | UnsetType
    reason: str


class WarningRecord(msgspec.Struct):
    """Something that looks odd in a file, with the first places where it was met."""

    code: str
    message: str
    count: int
    places: list[str]


class ReceiptRecord(msgspec.Struct, rename="camel"):
    """What became of every row or file of an upload."""

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
    """How a file was read; null where a file of the kind has no such thing."""

    kind: Annotated[str, Meta(extra_json_schema={"enum": [*TEXT_KINDS, *PICTURE_KINDS]})]
    encoding: str | None
    delimiter: str | None
    header: bool | None
    text_column: int | str | None
    label_column: int | str | None


class FoundLabelRecord(msgspec.Struct, rename="camel"):
    """A label of a file that was looked at."""

    name: str
    num_examples: int


class ValidationRecord(msgspec.Struct, rename="camel"):
    """What an upload of a file would become; nothing of it is kept."""

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
    object: Literal["validation"] = "validation"


class ExportRecord(msgspec.Struct, rename="camel"):
    """An export of a dataset, as a file to fetch once it SUCCEEDED."""

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


class BatchCountsRecord(msgspec.Struct):
    """How many lines of a batch there are."""

    total: int
    done: int
    failed: int


class BatchRecord(msgspec.Struct, rename="camel"):
    """A batch of predictions, whose result can be fetched once it SUCCEEDED."""

    id: str
    name: str
    model_id: str
    kind: Annotated[str, Meta(extra_json_schema={"enum": [*TEXT_KINDS_OF_BATCHES]})]
    format: Annotated[str, Meta(extra_json_schema={"enum": [*BATCH_FORMATS]})]
    status: Annotated[str, Meta(extra_json_schema={"enum": [*BATCH_STATUSES]})]
    progress: Number
    counts: BatchCountsRecord
    created_at: str
    updated_at: str
    expires_at: str
    result_url: str | UnsetType
    result_bytes: int | UnsetType
    failure_msg: str | UnsetType
    object: Literal["batch"] = "batch"


class PlanRecord(msgspec.Struct):
    """A plan of an account."""

    plan: str
    amount: int
    source: str


class UsageRecord(msgspec.Struct, rename="camel"):
    """The predictions of a calendar month."""

    id: str
    organization_id: str
    starts_at: str
    ends_at: str
    plan_data: list[PlanRecord]
    license_id: str
    object: Literal["apiusage"]
    predictions_remaining: int
    predictions_used: int
    predictions_max: int


class TokenRecord(msgspec.Struct):
    """An access token, and a refresh token where one was asked for."""

    access_token: str
    refresh_token: str | UnsetType
    token_type: Literal["Bearer"]
    expires_in: int


class EnginePartRecord(msgspec.Struct):
    """A network that an engine is made of; title and digest are null while it is not here."""

    name: str
    state: Annotated[str, Meta(extra_json_schema={"enum": [*STATES]})]
    title: str | None
    sha256: str | None


class UnsavedRecord(msgspec.Struct, rename="camel"):
    """What would be lost if the service stopped now, because nothing can be saved."""

    since: str
    datasets: int
    models: int


class HealthRecord(msgspec.Struct, rename="camel"):
    """That the service runs, and which engines it has, made of which parts."""

    status: Literal["ok"]
    version: str
    engines: dict[str, str]
    engine_parts: list[EnginePartRecord] | UnsetType = UNSET
    unsaved: UnsavedRecord | UnsetType = UNSET
