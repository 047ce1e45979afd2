"""Data that a storage has accepted but cannot save, as the local stack on a full disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Unsaved:
    """What would be lost if the storage stopped now."""

    since: datetime
    """Changes after this moment are not saved."""
    datasets: int
    """Number of datasets added or changed since."""
    models: int
    """Number of models added or changed since."""


# Returns what is not saved at this moment; None if everything is.
FindUnsaved = Callable[[], Unsaved | None]


def all_is_saved() -> None:
    """Report that all data is saved, for storages that save every accepted write."""
