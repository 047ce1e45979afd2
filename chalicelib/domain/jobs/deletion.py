"""Deletion records and their states. Spec: Deletion record, Deletion status."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.common.ids import derived_string_id

QUEUED = "QUEUED"
RUNNING = "RUNNING"
SUCCEEDED = "SUCCEEDED"
WAITING = "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"
DATASET = "DATASET"
MODEL = "MODEL"
# Deletes data that corrections of a dataset replaced. Only the service requests such a deletion,
# and no list contains it.
TRACES = "TRACES"


@dataclass(frozen=True)
class Deletion:
    """The deletion of a dataset, a model or replaced data, and its progress."""

    deletion_id: str
    account_id: str
    kind: str
    """DATASET, MODEL, or TRACES: data that was replaced by corrections of a dataset."""
    object_id: str
    status: str = QUEUED
    progress: float = 0
    message: str | None = None
    family: str = ""
    attempts: int = 0
    fence: int = 0
    """Fence token, increased when more must be deleted. A job with an older token cannot finish."""
    urls_until: int = 0
    """When the dataset's last presigned URL expires, in milliseconds since 1970; 0 for none."""


def deletion_of(account_id: str, kind: str, object_id: str, family: str = "") -> Deletion:
    """Return a new deletion record for an object. Repeated calls return the same `deletion_id`."""
    # Derived, not random: a repeated DELETE finds the record although the object is gone.
    deletion_id = derived_string_id(account_id, kind, object_id)
    return Deletion(deletion_id, account_id, kind, object_id, family=family)
