"""Describes accepted data that is not saved, for example because the local stack's disk is full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Unsaved:
    """Accepted changes that would be lost if the storage stopped now."""

    since: datetime
    """Changes after this time are not saved."""
    datasets: int
    """Number of datasets added or changed since `since`."""
    models: int
    """Number of models added or changed since `since`."""


# Returns what is not saved at this moment; None if everything is.
FindUnsaved = Callable[[], Unsaved | None]


def all_is_saved() -> None:
    """Return None: a storage that saves each write at once has no unsaved data."""
