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
# Data that corrections of a dataset replaced. Internal: the API never lists these deletions.
TRACES = "TRACES"


@dataclass(frozen=True)
class Deletion:
    """A tracked removal."""

    deletion_id: str
    """String id, derived from what is deleted."""
    account_id: str
    """Owner."""
    kind: str
    """DATASET, MODEL or TRACES."""
    object_id: str
    """Id of the dataset or model."""
    status: str = QUEUED
    """One of the states above."""
    progress: float = 0
    """0 to 1."""
    message: str | None = None
    """A note, or None."""
    family: str = ""
    """Family of the dataset."""
    attempts: int = 0
    """How often the job was taken."""
    fence: int = 0
    """Grows when there is more to delete; an end under an older one is refused."""
    urls_until: int = 0
    """When the last temporary URL of the dataset dies, in milliseconds since 1970; 0 for none."""


def deletion_of(account_id: str, kind: str, object_id: str, family: str = "") -> Deletion:
    """Make the record that belongs to an object; its id is the same at each call."""
    # Derived, not random: a repeated DELETE finds the record although the object is gone.
    deletion_id = derived_string_id(account_id, kind, object_id)
    return Deletion(deletion_id, account_id, kind, object_id, family=family)
