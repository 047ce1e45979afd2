"""Checks whether an example or a file may be added to a dataset. See contract section 5, Limits."""

from __future__ import annotations

from chalicelib.domain.common.limits import MAX_DATASET_BYTES, MAX_DATASET_EXAMPLES, MAX_LABELS
from chalicelib.domain.datasets.dataset import DELETION_PENDING, UPLOADING, Dataset
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    InvalidParameter,
    InvalidUpload,
    TooLarge,
    TooManyOpen,
)


def check_labels(labels: int, remedy: str) -> None:
    """Raise InvalidUpload if a file would give the dataset too many labels.

    `labels` is the number of labels that the dataset would have. `remedy` is the end of the
    sentence "check that …" in the error text.
    """
    if labels > MAX_LABELS:
        raise InvalidUpload(
            f"The dataset would have {labels:,} labels; at most {MAX_LABELS:,} are allowed. "
            f"Merge labels that mean the same, or check that {remedy}."
        )


def check_examples(examples: int) -> None:
    """Raise InvalidUpload if a dataset would have too many examples after an upload.

    `examples` is the number after the upload.
    """
    if examples > MAX_DATASET_EXAMPLES:
        raise InvalidUpload(
            f"The dataset would have {examples:,} examples; at most {MAX_DATASET_EXAMPLES:,} are "
            "allowed. Upload the rest as another dataset."
        )


def check_bytes(size_bytes: int) -> None:
    """Raise InvalidUpload if a dataset would have too many bytes after an upload.

    `size_bytes` is the size after the upload.
    """
    if size_bytes > MAX_DATASET_BYTES:
        raise InvalidUpload(
            f"The dataset would have {size_bytes:,} bytes; at most {MAX_DATASET_BYTES:,} (2 GB) "
            "are allowed. Upload the rest as another dataset."
        )


def check_changeable(dataset: Dataset) -> None:
    """Raise an error if the state of a dataset does not allow a correction.

    Raises:
        DatasetBeingDeleted: the dataset is being deleted.
        DatasetNotYetAvailable: an upload is running, or the first upload failed.
    """
    if dataset.status == DELETION_PENDING:
        raise DatasetBeingDeleted(dataset.dataset_id)
    if dataset.status == UPLOADING or not dataset.available:
        raise DatasetNotYetAvailable


def check_can_grow(dataset: Dataset, *, has_new_label: bool) -> None:
    """Raise an error if an example cannot be added to a dataset.

    Raises:
        DatasetBeingDeleted: the dataset is being deleted.
        DatasetNotYetAvailable: an upload is running, or the first upload failed.
        InvalidParameter: the dataset has the maximum number of labels.
        TooLarge: the dataset has the maximum number of examples or bytes.
    """
    check_changeable(dataset)
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


def check_takes_file(dataset: Dataset) -> None:
    """Raise an error if a file cannot be added to a dataset.

    Raises:
        DatasetBeingDeleted: the dataset is being deleted.
        DatasetNotYetAvailable: an upload is running.
        BadRequest: the dataset was not created from a file, or its first upload failed.
        TooLarge: the dataset has the maximum number of bytes.
    """
    if dataset.status == DELETION_PENDING:
        raise DatasetBeingDeleted(dataset.dataset_id)
    if dataset.status == UPLOADING:
        raise DatasetNotYetAvailable
    if not dataset.available:
        raise BadRequest(
            f"The first upload of dataset {dataset.dataset_id} failed. "
            "Delete the dataset, then upload the file as a new one.",
            code="dataset_failed",
        )
    if not dataset.is_uploaded:
        raise BadRequest(
            f"Dataset {dataset.dataset_id} was not created from a file, so no file can be added. "
            "Add examples singly, or upload the file as a new dataset.",
            code="dataset_not_uploaded",
        )
    if dataset.bytes >= MAX_DATASET_BYTES:
        raise TooLarge(
            f"Dataset {dataset.dataset_id} has {dataset.bytes} bytes; at most {MAX_DATASET_BYTES} "
            "(2 GB) are allowed. Upload the file as a new dataset."
        )


def check_capacity(stored: int, more: int, limit: int) -> None:
    """Raise TooManyOpen if `stored` and `more` bytes together exceed the account's `limit`."""
    if stored + more > limit:
        raise TooManyOpen(
            f"The account stores {stored} bytes and this file has {more}; the limit is "
            f"{limit}. Delete datasets or versions of models that are not needed.",
            retry_after_seconds=60,
        )
