"""Domain objects as the interface's records: member names, their order, and their forms.

The only file that knows the member names of answers. Contract section 4; each record is compared
with the contract's examples by tests/spec/test_records.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.dataset import DatasetView, Label
from chalicelib.domain.dates import date_text
from chalicelib.domain.deletion import Deletion
from chalicelib.domain.example import ExampleView
from chalicelib.domain.model import Model, ModelView, TrainStats
from chalicelib.domain.prediction import Probability
from chalicelib.domain.receipt import Receipt, RejectedItem
from chalicelib.services.usage import UsageFacts

Number = int | float


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
    language: str
    num_of_duplicates: int
    object: Literal["dataset"] = "dataset"


class ExampleRecord(msgspec.Struct, rename="camel"):
    """An example with its label; of a text, `name` and `location` both hold it."""

    id: int
    name: str
    location: str
    created_at: str
    label: LabelRecord
    object: Literal["example"] = "example"


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
    algorithm: str | UnsetType
    language: str


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
    algorithm: str | UnsetType
    language: str


class MetricsRecord(msgspec.Struct, rename="camel"):
    """How well a model does on what it was tested with."""

    id: str
    metrics_data: dict[str, Any]
    created_at: str
    language: str
    algorithm: str | UnsetType
    object: Literal["metrics"] = "metrics"


class LearningCurveRecord(msgspec.Struct, rename="camel"):
    """How well a model did after one epoch."""

    epoch: int
    metrics_data: dict[str, Any]
    epoch_results: dict[str, Any] | list[Any]
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


class DeletionRecord(msgspec.Struct, rename="camel"):
    """A removal that goes on in the background."""

    id: str
    organization_id: str
    type: Literal["DATASET", "MODEL"]
    status: Literal["QUEUED", "RUNNING", "SUCCEEDED", "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"]
    progress: Number
    message: str | None
    object: Literal["deletion"]
    deleted_object_id: str


class RejectionRecord(msgspec.Struct):
    """A row or file that was left out."""

    row: int | UnsetType
    file: str | UnsetType
    reason: str


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
    object: Literal["receipt"] = "receipt"


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


class HealthRecord(msgspec.Struct):
    """That the service runs, and which engines it has."""

    status: Literal["ok"]
    version: str
    engines: dict[str, str]


def duration(seconds: float) -> str:
    """Write a duration as HH:MM:SS:mmm."""
    total = round(seconds * 1000)
    minutes, milliseconds = divmod(total, 60_000)
    hours, minutes = divmod(minutes, 60)
    whole, milliseconds = divmod(milliseconds, 1000)
    return f"{hours:02d}:{minutes:02d}:{whole:02d}:{milliseconds:03d}"


def fraction(value: float) -> Number:
    """Write 0 and 1 without a decimal point: a typed client fails otherwise."""
    return int(value) if value in (0, 1) else value


def label(item: Label) -> LabelRecord:
    """Describe a label."""
    return LabelRecord(item.label_id, item.dataset_id, item.name, item.examples)


def dataset(view: DatasetView) -> DatasetRecord:
    """Describe a dataset with its labels."""
    row = view.dataset
    return DatasetRecord(
        id=row.dataset_id,
        name=row.name,
        created_at=date_text(row.created_at),
        updated_at=date_text(row.updated_at),
        label_summary=LabelSummary([label(item) for item in view.labels]),
        total_examples=row.total,
        total_labels=len(view.labels),
        available=row.available,
        status_msg=row.status_message,
        type=row.type,
        language=row.language,
        num_of_duplicates=row.duplicates,
    )


def example(view: ExampleView) -> ExampleRecord:
    """Describe an example with its label."""
    row = view.example
    return ExampleRecord(
        row.example_id, row.name, view.location, date_text(row.created_at), label(view.label)
    )


def training(view: ModelView) -> TrainingRecord:
    """Describe the latest training of a model."""
    row = view.model
    params = row.request.params
    return TrainingRecord(
        dataset_id=row.dataset_id,
        dataset_version_id=0,
        name=row.name,
        status=row.status,
        progress=fraction(row.progress),
        created_at=date_text(row.created_at),
        updated_at=date_text(row.updated_at),
        learning_rate=fraction(_learning_rate(row)),
        epochs=row.epochs,
        queue_position=UNSET if view.queue_position is None else view.queue_position,
        failure_msg=row.failure if row.status == "FAILED" else UNSET,
        object="training",
        model_id=row.model_id,
        train_params=None if params is None else dict(params),
        train_stats=None if row.stats is None else train_stats(row.stats),
        model_type=row.type,
        algorithm=row.request.algorithm or UNSET,
        language=row.language,
    )


def _learning_rate(model: Model) -> float:
    """The learning rate that answers show: texts have none."""
    return 0 if model.family == "language" else model.request.learning_rate or 0


def train_stats(stats: TrainStats) -> TrainStatsRecord:
    """Describe what a finished training did."""
    return TrainStatsRecord(
        labels=stats.labels,
        examples=stats.examples,
        total_time=duration(stats.total_seconds),
        training_time=duration(stats.training_seconds),
        early_stopping=stats.early_stopping,
        last_epoch_done=stats.last_epoch,
        model_save_time=duration(stats.save_seconds),
        test_split_size=stats.test_size,
        train_split_size=stats.train_size,
        dataset_load_time=duration(stats.load_seconds),
    )


def model(row: Model) -> ModelRecord:
    """Describe a model of a list."""
    return ModelRecord(
        dataset_id=row.dataset_id,
        dataset_version_id=0,
        name=row.name,
        status=row.status,
        progress=fraction(row.progress),
        created_at=date_text(row.created_at),
        updated_at=date_text(row.updated_at),
        failure_msg=row.failure if row.status == "FAILED" else UNSET,
        object="model",
        model_id=row.model_id,
        model_type=row.type,
        algorithm=row.request.algorithm or UNSET,
        language=row.language,
    )


def metrics(row: Model, created_at: datetime, data: Mapping[str, Any]) -> MetricsRecord:
    """Describe a model's metrics."""
    algorithm = row.request.algorithm or UNSET
    return MetricsRecord(row.model_id, dict(data), date_text(created_at), row.language, algorithm)


def prediction(items: Iterable[Probability], sample_id: str | UnsetType) -> PredictionRecord:
    """Describe a prediction."""
    probabilities = [ProbabilityRecord(item.label, item.probability) for item in items]
    return PredictionRecord(probabilities, sample_id=sample_id)


def deletion(row: Deletion) -> DeletionRecord:
    """Describe a removal."""
    return DeletionRecord(
        row.deletion_id,
        row.account_id,
        row.kind,  # type: ignore[arg-type]
        row.status,  # type: ignore[arg-type]
        fraction(row.progress),
        row.message,
        "deletion",
        row.object_id,
    )


def receipt(row: Receipt) -> ReceiptRecord:
    """Describe what became of an upload."""
    return ReceiptRecord(
        id=row.receipt_id,
        created_at=date_text(row.created_at),
        status=row.status,
        message=row.message,
        seen=row.seen,
        kept=row.kept,
        duplicates=row.duplicates,
        rejected=row.rejected,
        rejections=[_rejection(item) for item in row.rejections],
    )


def _rejection(item: RejectedItem) -> RejectionRecord:
    """Describe a row or file that was left out."""
    return RejectionRecord(
        UNSET if item.row is None else item.row,
        UNSET if item.file is None else item.file,
        item.reason,
    )


def usage(facts: UsageFacts) -> UsageRecord:
    """Describe an account's predictions of a month."""
    return UsageRecord(
        id=facts.usage_id,
        organization_id=facts.organization_id,
        starts_at=date_text(facts.starts_at),
        ends_at=date_text(facts.ends_at),
        plan_data=[PlanRecord(facts.plan, facts.amount, facts.source)],
        license_id=facts.license_id,
        object="apiusage",
        predictions_remaining=facts.usage.remaining,
        predictions_used=facts.usage.used,
        predictions_max=facts.usage.limit,
    )
