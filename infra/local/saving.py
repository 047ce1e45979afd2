"""Stores, in shared memory, the time up to which the data of a stack is saved.

This is not stored in a file, because a full disk could not store the file.
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
    """The values that `SavingState` stores in shared memory."""

    saved_at: float
    is_failing: bool = False
    datasets: int = 0
    models: int = 0


class SavingState:
    """The shared state of saving. One process writes it, and all processes of the stack read it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _LAYOUT.size)
        self._write(_Facts(time.time()))

    @property
    def saved_at(self) -> datetime:
        """Return the time up to which all changes are saved."""
        return datetime.fromtimestamp(self._read().saved_at, UTC)

    def note_saved(self, moment: datetime) -> None:
        """Record that all changes before a moment are saved."""
        self._write(_Facts(moment.timestamp()))

    def note_failure(self, datasets: int, models: int) -> None:
        """Record that saving fails, and how many datasets and models have unsaved changes."""
        self._write(_Facts(self._read().saved_at, True, datasets, models))

    def unsaved(self) -> Unsaved | None:
        """Return what could not be saved; None while saving succeeds."""
        facts = self._read()
        if not facts.is_failing:
            return None
        return Unsaved(self.saved_at, facts.datasets, facts.models)

    def _read(self) -> _Facts:
        return _Facts(*_LAYOUT.unpack(self._memory[:]))

    def _write(self, facts: _Facts) -> None:
        packed = _LAYOUT.pack(facts.saved_at, facts.is_failing, facts.datasets, facts.models)
        self._memory[:] = packed
