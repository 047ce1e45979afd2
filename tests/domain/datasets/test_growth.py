"""Whether a single example may be added."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.datasets.dataset import Dataset, LabelCounts
from chalicelib.domain.datasets.growth import check_can_grow
from chalicelib.errors import (
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    InvalidParameter,
    ServiceError,
    TooLarge,
)

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DATASET = Dataset("1", "language", 7, "d", "text-intent", "en_US", "SUCCEEDED", True, NOW, NOW)
LABELS = tuple(LabelCounts(number) for number in range(1_000))


@pytest.mark.parametrize(
    ("dataset", "has_new_label", "error"),
    [
        (replace(DATASET, status="DELETION_PENDING", available=False), False, DatasetBeingDeleted),
        (replace(DATASET, status="UPLOADING", available=False), False, DatasetNotYetAvailable),
        (replace(DATASET, status="FAILED", available=False), False, DatasetNotYetAvailable),
        (replace(DATASET, counts=LABELS), True, InvalidParameter),
        (replace(DATASET, counts=(LabelCounts(1, 999_999, 1),)), False, TooLarge),
        (replace(DATASET, bytes=2 * 1024**3), False, TooLarge),
    ],
)
def test_refusals(dataset: Dataset, has_new_label: bool, error: type[ServiceError]) -> None:
    """States and limits each have their own refusal."""
    with pytest.raises(error):
        check_can_grow(dataset, has_new_label=has_new_label)


def test_room_is_left() -> None:
    """Below the limits, and after a failed PUT, examples may be added."""
    check_can_grow(DATASET, has_new_label=True)
    check_can_grow(replace(DATASET, status="FAILED"), has_new_label=True)
    check_can_grow(replace(DATASET, counts=LABELS), has_new_label=False)
    check_can_grow(replace(DATASET, counts=LABELS[1:]), has_new_label=True)
    check_can_grow(replace(DATASET, counts=(LabelCounts(1, 999_999),)), has_new_label=False)
