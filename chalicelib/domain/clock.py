"""The present moment, as an argument that tests can move."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present moment, UTC and aware."""


def system_clock() -> datetime:
    """Return the present moment of this machine, UTC."""
    return datetime.now(UTC)


def to_milliseconds(moment: datetime) -> int:
    """Convert to whole milliseconds since 1970, the form that rows store."""
    return round(moment.timestamp() * 1000)


def from_milliseconds(milliseconds: float) -> datetime:
    """Convert whole milliseconds since 1970 to an aware moment."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
