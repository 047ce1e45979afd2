"""Whether a single example may be added to a dataset. Contract section 5, Limits."""

from __future__ import annotations

from chalicelib.domain.dataset import DELETION_PENDING, UPLOADING, Dataset
from chalicelib.domain.limits import MAX_DATASET_BYTES, MAX_DATASET_EXAMPLES, MAX_LABELS
from chalicelib.errors import (
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    InvalidParameter,
    TooLarge,
)


def check_can_grow(dataset: Dataset, *, has_new_label: bool) -> None:
    """Refuse an addition that the dataset's state or a limit forbids.

    Raises:
        DatasetBeingDeleted: it is being deleted.
        DatasetNotYetAvailable: an upload is going on, or the first one failed.
        InvalidParameter: it has as many labels as are allowed.
        TooLarge: it has as many examples or bytes as are allowed.
    """
    if dataset.status == DELETION_PENDING:
        raise DatasetBeingDeleted(dataset.dataset_id)
    if dataset.status == UPLOADING or not dataset.available:
        raise DatasetNotYetAvailable
    if has_new_label and len(dataset.counts) >= MAX_LABELS:
        raise InvalidParameter(
            "label", f"the dataset has {MAX_LABELS} labels, the most allowed; use one of them."
        )
    if dataset.total >= MAX_DATASET_EXAMPLES or dataset.bytes >= MAX_DATASET_BYTES:
        raise TooLarge(
            f"Dataset {dataset.dataset_id} is full: {dataset.total} examples, {dataset.bytes} "
            f"bytes; at most {MAX_DATASET_EXAMPLES} and {MAX_DATASET_BYTES} are allowed. "
            "Put the example into another dataset."
        )
