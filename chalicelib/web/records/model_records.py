"""The records of models: trainings, metrics, predictions, batches.

describe.py creates them. tests/spec/test_records.py compares them with the examples in contract
section 4.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.jobs.batch import BATCH_FORMATS, BATCH_STATUSES, KIND_TYPES
from chalicelib.domain.jobs.export import MODEL_FORMATS, STATUSES
from chalicelib.web.records.dataset_records import FoundLabelRecord, WarningRecord
from chalicelib.web.records.members import SINCE_2, Number


class TrainStatsRecord(msgspec.Struct, rename="camel"):
    """Statistics of a finished training. Durations are in the form HH:MM:SS:mmm."""

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
    # The old API has these two members, which are always null.
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
    """Metrics of a model, measured on its test set."""

    id: str
    metrics_data: dict[str, Any]
    created_at: str
    language: Annotated[str, SINCE_2]
    algorithm: Annotated[str, SINCE_2] | UnsetType
    object: Literal["metrics"] = "metrics"


class ModelVersionRecord(msgspec.Struct, rename="camel"):
    """A version of a model. Each training or adjustment creates one."""

    version: int
    created_at: str
    is_served: bool
    examples: int
    metrics: dict[str, Any]
    algorithm: str | UnsetType = UNSET
    not_served_because: str | UnsetType = UNSET
    served_because: str | UnsetType = UNSET
    object: Literal["modelVersion"] = "modelVersion"


class ComparisonRecord(msgspec.Struct, rename="camel"):
    """Accuracies of two model versions on the same held-out examples."""

    versions: list[int]
    accuracies: list[Number]
    difference_low: Number
    difference_high: Number
    examples: int
    object: Literal["comparison"] = "comparison"


class LearningCurveRecord(msgspec.Struct, rename="camel"):
    """Metrics of a model after one epoch."""

    epoch: int
    metrics_data: dict[str, Any]
    epoch_results: dict[str, Any] | list[dict[str, Any]]
    object: Literal["learningcurve"] = "learningcurve"


class TargetThresholdRecord(msgspec.Struct, rename="camel"):
    """The threshold of a label at which out-of-fold predictions reach a target precision."""

    precision: float
    threshold: Number | None
    coverage: Number
    coverage_low: Number
    coverage_high: Number
    label: str | UnsetType = UNSET


class TextLimitRecord(msgspec.Struct):
    """How many words of a text the model reads. The model ignores the rest."""

    words: int
    cut: int


class AdviceRecord(msgspec.Struct, rename="camel"):
    """Advice on how to improve the model."""

    code: str
    message: str
    expected_gain: Number


class CardRecord(msgspec.Struct, rename="camel"):
    """The model card, with data, metrics and limitations."""

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
    skipped_labels: list[FoundLabelRecord] | UnsetType = UNSET
    text_limit: TextLimitRecord | UnsetType = UNSET
    thresholds: list[TargetThresholdRecord] | UnsetType = UNSET
    advice: list[AdviceRecord] | UnsetType = UNSET
    trained_from: str | UnsetType = UNSET
    adjustment: dict[str, Any] | UnsetType = UNSET
    imported: dict[str, Any] | UnsetType = UNSET


class EvaluatedRecord(msgspec.Struct, rename="camel"):
    """A held-out example with the prediction of a model that was trained without it."""

    example_id: int
    expected_label: str | None
    predicted_label: str | None
    probability: float
    is_right: bool
    object: Literal["evaluated"] = "evaluated"


class ReliabilityRecord(msgspec.Struct, rename="camel"):
    """Predictions of similar probability, and the fraction of them that is right."""

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
    """A box in pixels of the image as displayed, from the top left corner of the image."""

    min_x: int
    min_y: int
    max_x: int
    max_y: int


class ExplainedRecord(msgspec.Struct, rename="camel"):
    """A word of a text or a region of an image, and its influence on the most probable label."""

    share: float
    text: str | UnsetType = UNSET
    start: int | UnsetType = UNSET
    end: int | UnsetType = UNSET
    bounding_box: BoundingBoxRecord | UnsetType = UNSET
    is_read: bool | UnsetType = UNSET


class PredictionRecord(msgspec.Struct, rename="camel"):
    """A prediction: labels, most probable first."""

    probabilities: list[ProbabilityRecord]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET
    explanation: list[ExplainedRecord] | UnsetType = UNSET


class DetectedRecord(msgspec.Struct, rename="camel"):
    """A detected object."""

    label: str
    probability: float
    bounding_box: BoundingBoxRecord


class DetectionRecord(msgspec.Struct, rename="camel"):
    """Detected objects, most probable first."""

    probabilities: list[DetectedRecord]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET


class ModelExportRecord(msgspec.Struct, rename="camel"):
    """An export of a model. Its file can be downloaded once it has SUCCEEDED."""

    id: str
    model_id: str
    model_version: int
    format: Annotated[str, Meta(extra_json_schema={"enum": [*MODEL_FORMATS]})]
    status: Annotated[str, Meta(extra_json_schema={"enum": [*STATUSES]})]
    created_at: str
    updated_at: str
    expires_at: str
    bytes: int | UnsetType
    url: str | UnsetType
    failure_msg: str | UnsetType
    object: Literal["export"] = "export"


class BatchCountsRecord(msgspec.Struct):
    """How many lines a batch has, how many are processed, and how many of these failed."""

    total: int
    done: int
    failed: int


class BatchRecord(msgspec.Struct, rename="camel"):
    """A batch of predictions. Its result can be downloaded once it has SUCCEEDED."""

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
    warnings: list[WarningRecord] | UnsetType
    object: Literal["batch"] = "batch"
