"""How far the data is saved, in memory that all processes of a stack share.

A file would need room on the disk that is full.
"""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from chalicelib.domain.common.saving import Unsaved

_LAYOUT = struct.Struct("<d?QQ")


@dataclass(frozen=True)
class _Facts:
    """What is in the memory."""

    saved_at: float
    is_failing: bool = False
    datasets: int = 0
    models: int = 0


class SavingState:
    """Made before the processes are forked; one of them writes, all read."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _LAYOUT.size)
        self._write(_Facts(time.time()))

    @property
    def saved_at(self) -> datetime:
        """What was written before this moment is saved."""
        return datetime.fromtimestamp(self._read().saved_at, UTC)

    def note_saved(self, moment: datetime) -> None:
        """Note that all that was written before a moment is saved."""
        self._write(_Facts(moment.timestamp()))

    def note_failure(self, datasets: int, models: int) -> None:
        """Note that nothing can be saved, and how much has changed since the last time it could."""
        self._write(_Facts(self._read().saved_at, True, datasets, models))

    def unsaved(self) -> Unsaved | None:
        """Tell what cannot be saved; None while saving succeeds."""
        facts = self._read()
        if not facts.is_failing:
            return None
        return Unsaved(self.saved_at, facts.datasets, facts.models)

    def _read(self) -> _Facts:
        return _Facts(*_LAYOUT.unpack(self._memory[:]))

    def _write(self, facts: _Facts) -> None:
        packed = _LAYOUT.pack(facts.saved_at, facts.is_failing, facts.datasets, facts.models)
        self._memory[:] = packed
