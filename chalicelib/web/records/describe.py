"""Creates the records of the API from domain objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, structs

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.api_key import ApiKey
from chalicelib.domain.accounts.usage import Usage
from chalicelib.domain.common.clock import date_text
from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.domain.datasets.example import ExampleView
from chalicelib.domain.datasets.preview import Preview
from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.domain.datasets.upload_format import UploadWarning
from chalicelib.domain.datasets.validation import Validation
from chalicelib.domain.documents.picture import Box, PixelBox
from chalicelib.domain.jobs.batch import Batch
from chalicelib.domain.jobs.deletion import Deletion
from chalicelib.domain.jobs.export import SUCCEEDED, Export
from chalicelib.domain.jobs.webhook import PENDING, Delivery, Webhook
from chalicelib.domain.models.comparison import Comparison
from chalicelib.domain.models.evaluation import EvaluatedExample, ReliabilityBin
from chalicelib.domain.models.explanation import ExplainedRegion, ExplainedWord, Explanation
from chalicelib.domain.models.model import Model, ModelView, TrainStats
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.domain.models.training import shown_epochs, shown_learning_rate
from chalicelib.services.datasets.browsing import BrowsedExample
from chalicelib.services.training.versions import VersionView
from chalicelib.web.records.dataset_records import (
    BoxRecord,
    BrowsedExampleRecord,
    ChangedLabelRecord,
    CorrectedExampleRecord,
    CorrectionRecord,
    DatasetRecord,
    ExampleRecord,
    ExportRecord,
    FormatRecord,
    FoundLabelRecord,
    LabelRecord,
    LabelSummary,
    PreviewRecord,
    ReceiptRecord,
    RejectionRecord,
    ValidationRecord,
    WarningRecord,
)
from chalicelib.web.records.members import Number, record
from chalicelib.web.records.model_records import (
    BatchCountsRecord,
    BatchRecord,
    BoundingBoxRecord,
    ComparisonRecord,
    DetectedRecord,
    DetectionRecord,
    EvaluatedRecord,
    ExplainedRecord,
    MetricsRecord,
    ModelExportRecord,
    ModelRecord,
    ModelVersionRecord,
    PredictionRecord,
    ProbabilityRecord,
    ReliabilityRecord,
    TrainingRecord,
    TrainStatsRecord,
)
from chalicelib.web.records.service_records import (
    AccountRecord,
    ApiKeyRecord,
    DeletionRecord,
    DeliveryRecord,
    PlanRecord,
    UsageRecord,
    WebhookRecord,
)


def duration(seconds: float) -> str:
    """Return a duration in the form HH:MM:SS:mmm."""
    total = round(seconds * 1000)
    minutes, milliseconds = divmod(total, 60_000)
    hours, minutes = divmod(minutes, 60)
    whole, milliseconds = divmod(milliseconds, 1000)
    return f"{hours:02d}:{minutes:02d}:{whole:02d}:{milliseconds:03d}"


def fraction(value: float) -> Number:
    """Return a fraction; 0 and 1 as int, so that JSON has no decimals."""
    # Typed clients of the old API fail at 0.0 and 1.0.
    return int(value) if value in (0, 1) else value


def label(item: Label) -> LabelRecord:
    """Return the record of a label."""
    return LabelRecord(item.label_id, item.dataset_id, item.name, item.examples)


def dataset(view: DatasetView) -> DatasetRecord:
    """Return the record of a dataset with its labels."""
    row = view.dataset
    return record(
        DatasetRecord,
        row,
        id=row.dataset_id,
        label_summary=LabelSummary([label(item) for item in view.labels]),
        total_examples=row.total,
        total_labels=len(view.labels),
        status_msg=row.status_message,
        num_of_duplicates=row.duplicates,
    )


def example(view: ExampleView) -> ExampleRecord:
    """Return the record of an example with its label."""
    row = view.example
    return ExampleRecord(
        row.example_id, row.name, view.location, date_text(row.created_at), label(view.label)
    )


def browsed(item: BrowsedExample) -> BrowsedExampleRecord:
    """Return the record of an example for review."""
    row, box, suspect, small = item.example, item.example.box, item.suspect, item.thumbnail
    return BrowsedExampleRecord(
        id=row.example_id,
        name=row.name,
        location=item.location,
        created_at=date_text(row.created_at),
        label=label(item.label),
        source=item.source,
        thumbnail=UNSET if small is None else small.url,
        width=UNSET if small is None else small.width,
        height=UNSET if small is None else small.height,
        box=UNSET if box is None else box_record(box),
        suggestion=UNSET if suspect is None else suspect.suggestion,
        confidence=UNSET if suspect is None else suspect.confidence,
        reason=UNSET if suspect is None else suspect.reason,
    )


def correction(
    dataset_id: int, result: CorrectionResult, shown: Iterable[ExampleView]
) -> CorrectionRecord:
    """Return the record of a correction."""
    return record(
        CorrectionRecord,
        result,
        dataset_id=dataset_id,
        id=result.correction_id or UNSET,
        created_at=UNSET if result.created_at is None else date_text(result.created_at),
        examples=[corrected(item) for item in shown] if result.examples else UNSET,
    )


def corrected(view: ExampleView) -> CorrectedExampleRecord:
    """Return the record of an example after a correction."""
    row = view.example
    return CorrectedExampleRecord(
        row.example_id,
        row.name,
        view.location,
        date_text(row.created_at),
        label(view.label),
        box=UNSET if row.box is None else box_record(row.box),
    )


def box_record(box: Box) -> BoxRecord:
    """Return the record of a box, in the form that annotation files have."""
    return record(BoxRecord, box)


def changed_label(item: Label, result: CorrectionResult) -> ChangedLabelRecord:
    """Return the record of a label after a correction changed it."""
    return ChangedLabelRecord(
        item.label_id, item.dataset_id, item.name, item.examples, result.moved, result.duplicates
    )


def training(view: ModelView) -> TrainingRecord:
    """Return the record of the latest training of a model."""
    row = view.model
    params = row.request.params
    return record(
        TrainingRecord,
        row,
        # For clients of the old API: datasets have no versions here.
        dataset_version_id=0,
        progress=fraction(row.progress),
        learning_rate=fraction(shown_learning_rate(row)),
        epochs=shown_epochs(row),
        queue_position=UNSET if view.queue_position is None else view.queue_position,
        failure_msg=row.failure if row.status == "FAILED" else UNSET,
        object="training",
        train_params=None if params is None else dict(params),
        train_stats=None if row.stats is None else train_stats(row.stats),
        model_type=row.type,
        algorithm=row.request.algorithm or UNSET,
    )


def train_stats(stats: TrainStats) -> TrainStatsRecord:
    """Return the record of the statistics of a finished training."""
    return record(
        TrainStatsRecord,
        stats,
        total_time=duration(stats.total_seconds),
        training_time=duration(stats.training_seconds),
        last_epoch_done=stats.last_epoch,
        model_save_time=duration(stats.save_seconds),
        test_split_size=stats.test_size,
        train_split_size=stats.train_size,
        dataset_load_time=duration(stats.load_seconds),
    )


def model(row: Model) -> ModelRecord:
    """Return the record of a model in a list."""
    return record(
        ModelRecord,
        row,
        dataset_version_id=0,
        progress=fraction(row.progress),
        failure_msg=row.failure if row.status == "FAILED" else UNSET,
        object="model",
        model_type=row.type,
        algorithm=row.request.algorithm or UNSET,
    )


def metrics(row: Model, created_at: datetime, data: Mapping[str, Any]) -> MetricsRecord:
    """Return the record of a model's metrics."""
    algorithm = row.request.algorithm or UNSET
    return MetricsRecord(row.model_id, dict(data), date_text(created_at), row.language, algorithm)


def evaluated(row: EvaluatedExample) -> EvaluatedRecord:
    """Return the record of an evaluated example."""
    return record(EvaluatedRecord, row, expected_label=row.expected, predicted_label=row.predicted)


def reliability_bin(item: ReliabilityBin) -> ReliabilityRecord:
    """Return the record of one reliability bin of a calibration."""
    return record(ReliabilityRecord, item)


def prediction(
    items: Iterable[Probability],
    sample_id: str | UnsetType,
    explanation: Explanation | None = None,
) -> PredictionRecord:
    """Return the record of a prediction."""
    probabilities = [ProbabilityRecord(item.label, item.probability) for item in items]
    parts = UNSET if explanation is None else [_explained(part) for part in explanation]
    return PredictionRecord(probabilities, sample_id=sample_id, explanation=parts)


def _explained(part: ExplainedWord | ExplainedRegion) -> ExplainedRecord:
    if isinstance(part, ExplainedWord):
        found = ExplainedRecord(part.share, part.text, part.span.start, part.span.end)
        return found if part.is_read else structs.replace(found, is_read=False)
    return ExplainedRecord(part.share, bounding_box=_box(part.box))


def _box(box: PixelBox) -> BoundingBoxRecord:
    return BoundingBoxRecord(box.min_x, box.min_y, box.max_x, box.max_y)


def detection(items: Iterable[Detection], sample_id: str | UnsetType) -> DetectionRecord:
    """Return the record of the objects detected in an image."""
    found = [DetectedRecord(item.label, item.probability, _box(item.box)) for item in items]
    return DetectionRecord(found, sample_id=sample_id)


def deletion(row: Deletion) -> DeletionRecord:
    """Return the record of a deletion."""
    return DeletionRecord(
        row.deletion_id,
        row.account_id,
        row.kind,
        row.status,
        fraction(row.progress),
        row.message,
        "deletion",
        row.object_id,
    )


def export(row: Export, url: str | None = None) -> ExportRecord:
    """Return the record of an export, with the URL of its file, if that exists."""
    is_done = row.status == SUCCEEDED
    return record(
        ExportRecord,
        row,
        id=row.export_id,
        examples=row.examples if is_done else UNSET,
        bytes=row.size_bytes if is_done else UNSET,
        url=url or UNSET,
        failure_msg=row.message or UNSET,
    )


def batch(row: Batch, url: str | None = None) -> BatchRecord:
    """Return the record of a batch, with the URL of its result, if that exists."""
    done = row.lines_done
    return record(
        BatchRecord,
        row,
        id=row.batch_id,
        progress=fraction(done / row.total if row.total else 0),
        counts=BatchCountsRecord(row.total, done, row.lines_failed),
        result_url=url or UNSET,
        result_bytes=row.size_bytes if url else UNSET,
        failure_msg=row.message or UNSET,
        warnings=[_warning(one) for one in row.warnings] or UNSET,
    )


def webhook(row: Webhook, secret: str | None = None) -> WebhookRecord:
    """Return the record of a webhook. The secret is only given when it is new."""
    failure = row.cause or UNSET
    return record(WebhookRecord, row, id=row.hook_id, failure_msg=failure, secret=secret or UNSET)


def api_key(row: ApiKey, secret: str | None = None) -> ApiKeyRecord:
    """Return the record of an API key. The secret is only given when it is new."""
    return record(ApiKeyRecord, row, id=row.key_id, secret=secret or UNSET)


def delivery(row: Delivery) -> DeliveryRecord:
    """Return the record of a delivery."""
    return record(
        DeliveryRecord,
        row,
        id=row.message_id,
        response_status=UNSET if row.response is None else row.response,
        failure_msg=row.cause or UNSET,
        next_attempt_at=date_text(row.due_at) if row.status == PENDING else UNSET,
    )


def receipt(row: Receipt) -> ReceiptRecord:
    """Return the record of a receipt."""
    return record(
        ReceiptRecord,
        row,
        id=row.receipt_id,
        rejections=[_rejection(item) for item in row.rejections],
        warnings=[_warning(item) for item in row.warnings],
    )


def validation(result: Validation) -> ValidationRecord:
    """Return the record of a validation."""
    scan = result.scan
    shown = preview(result.preview) if result.preview else None
    return record(
        ValidationRecord,
        scan,
        format=record(FormatRecord, result.format),
        rejections=[_rejection(item) for item in scan.rejections],
        warnings=[_warning(item) for item in scan.warnings],
        labels=[FoundLabelRecord(name, count) for name, count in scan.kept_by_label.items()],
        is_trainable=not result.reasons,
        reasons=list(result.reasons),
        preview=shown.preview if shown else UNSET,
        sheets=shown.sheets if shown else UNSET,
        columns=shown.columns if shown else UNSET,
    )


def preview(result: Preview) -> PreviewRecord:
    """Return the record of a preview of a file."""
    return msgspec.convert(
        {"preview": result.rows, "sheets": result.sheets, "columns": result.columns},
        PreviewRecord,
        from_attributes=True,
    )


def _warning(item: UploadWarning) -> WarningRecord:
    return WarningRecord(item.code, item.message, item.count, list(item.places))


def _rejection(item: RejectedItem) -> RejectionRecord:
    return RejectionRecord(
        UNSET if item.row is None else item.row,
        UNSET if item.file is None else item.file,
        item.reason,
    )


def account(caller: Account, scope: str) -> AccountRecord:
    """Return the record of an account, with the scope of the caller's token or API key."""
    return AccountRecord(caller.account_id, caller.email, caller.plan, scope, "account")


def usage(caller: Account, month: Usage) -> UsageRecord:
    """Return the record of the predictions that an account made in a month."""
    return UsageRecord(
        id=f"{caller.account_id}{month.starts_at:%Y%m}",
        organization_id=caller.account_id,
        starts_at=date_text(month.starts_at),
        ends_at=date_text(month.resets_at),
        plan_data=[PlanRecord(caller.plan, 1, caller.source)],
        license_id=caller.license_id,
        object="apiusage",
        predictions_remaining=month.remaining,
        predictions_used=month.used,
        predictions_max=month.limit,
    )


def model_version(view: VersionView) -> ModelVersionRecord:
    """Return the record of a version of a model."""
    one = view.version
    return record(
        ModelVersionRecord,
        one,
        version=one.number,
        is_served=view.is_served,
        metrics=view.metrics,
        algorithm=one.algorithm or UNSET,
        not_served_because=one.not_served_because or UNSET,
        served_because=one.served_because or UNSET,
    )


def comparison(result: Comparison, versions: list[int]) -> ComparisonRecord:
    """Return the record of a comparison of two versions."""
    accuracies = [fraction(result.first_accuracy), fraction(result.second_accuracy)]
    return ComparisonRecord(
        versions, accuracies, fraction(result.low), fraction(result.high), result.examples
    )


def model_export(row: Export, url: str | None = None) -> ModelExportRecord:
    """Return the record of an export of a model."""
    if row.model is None:
        raise ValueError(f"Export {row.export_id} is one of a dataset.")
    return record(
        ModelExportRecord,
        row,
        id=row.export_id,
        model_id=row.model.model_id,
        model_version=row.model.version,
        bytes=row.size_bytes if row.status == SUCCEEDED else UNSET,
        url=url or UNSET,
        failure_msg=row.message or UNSET,
    )
