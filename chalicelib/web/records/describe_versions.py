"""Creates the records of model versions and their comparisons."""

from __future__ import annotations

from msgspec import UNSET

from chalicelib.domain.common.clock import date_text
from chalicelib.domain.models.comparison import Comparison
from chalicelib.services.training.versions import VersionView
from chalicelib.web.records.describe import fraction
from chalicelib.web.records.model_records import ComparisonRecord, ModelVersionRecord


def model_version(view: VersionView) -> ModelVersionRecord:
    """Return the record of a version of a model."""
    one = view.version
    return ModelVersionRecord(
        version=one.number,
        created_at=date_text(one.created_at),
        is_served=view.is_served,
        examples=one.examples,
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
