"""The clock, which tests can replace, and the formats of times in rows and answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# Returns the current time as an aware UTC datetime.
Clock = Callable[[], datetime]
_EPOCH = datetime.fromtimestamp(0, UTC)


def system_clock() -> datetime:
    """Return the current time of this machine, UTC."""
    return datetime.now(UTC)


def to_milliseconds(moment: datetime) -> int:
    """Convert to whole milliseconds since 1970, the format of stored rows."""
    # Truncated as in `date_text`, so that a record reads the same before and after it is stored.
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def from_milliseconds(milliseconds: float) -> datetime:
    """Convert milliseconds since 1970 to an aware datetime."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def date_text(moment: datetime) -> str:
    """Format a time as `2026-11-21T09:30:00.000+0000`: UTC, with three decimals."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}+0000"
