"""Creates the records of model versions, their comparisons and exports."""

from __future__ import annotations

from msgspec import UNSET

from chalicelib.domain.jobs.export import SUCCEEDED, Export
from chalicelib.domain.models.comparison import Comparison
from chalicelib.services.training.versions import VersionView
from chalicelib.web.records.describe import fraction
from chalicelib.web.records.members import record
from chalicelib.web.records.model_records import (
    ComparisonRecord,
    ModelExportRecord,
    ModelVersionRecord,
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
    )


def comparison(found: Comparison, versions: list[int]) -> ComparisonRecord:
    """Return the record of a comparison of two versions."""
    accuracies = [fraction(found.first_accuracy), fraction(found.second_accuracy)]
    return ComparisonRecord(
        versions, accuracies, fraction(found.low), fraction(found.high), found.examples
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
