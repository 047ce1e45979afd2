"""What a storage has taken and cannot keep, as the local stack on a full disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Unsaved:
    """What would be gone if the storage stopped now."""

    since: datetime
    """What was written after this moment is not saved."""
    datasets: int
    """Datasets that were added or changed since."""
    models: int
    """Models that were added or changed since."""


# Tells what cannot be saved at this moment; None while all is well.
FindUnsaved = Callable[[], Unsaved | None]


def all_is_saved() -> None:
    """Tell of a storage that keeps what it takes."""
