"""The records of models: trainings, how good they are, predictions, batches of them.

Filled by describe.py in this folder. Contract section 4; each is compared with the contract's
examples by tests/spec/test_records.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.jobs.batch import BATCH_FORMATS, BATCH_STATUSES, KIND_TYPES
from chalicelib.web.records.members import SINCE_2, Number


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


class EvaluatedRecord(msgspec.Struct, rename="camel"):
    """An example, and what a model answers that was trained without it."""

    example_id: int
    expected_label: str | None
    predicted_label: str | None
    probability: float
    is_right: bool
    object: Literal["evaluated"] = "evaluated"


class ReliabilityRecord(msgspec.Struct, rename="camel"):
    """Answers of about the same probability, and how many of them are right."""

    low: float
    high: float
    count: int
    probability: float
    accuracy: float


class ProbabilityRecord(msgspec.Struct):
    """A label with its probability."""

    label: str
    probability: float


class BoundingBoxRecord(msgspec.Struct, rename="camel"):
    """Where an object is, in pixels of the picture as displayed; the origin is its top left."""

    min_x: int
    min_y: int
    max_x: int
    max_y: int


class ExplainedRecord(msgspec.Struct, rename="camel"):
    """A word of a text or a region of a picture, and what it did for the first label."""

    share: float
    text: str | UnsetType = UNSET
    start: int | UnsetType = UNSET
    end: int | UnsetType = UNSET
    bounding_box: BoundingBoxRecord | UnsetType = UNSET


class PredictionRecord(msgspec.Struct, rename="camel"):
    """What a model predicts, most probable first."""

    probabilities: list[ProbabilityRecord]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET
    explanation: list[ExplainedRecord] | UnsetType = UNSET


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
    kind: Annotated[str, Meta(extra_json_schema={"enum": [*KIND_TYPES]})]
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
