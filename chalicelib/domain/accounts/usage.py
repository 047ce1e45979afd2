"""Calendar months and the state of a monthly allowance. Spec: Limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

COUNTED, GIVEN_BACK, REFUSED, UNKNOWN = "counted", "given_back", "refused", "unknown"
"""What became of a prediction that a call asked for; UNKNOWN may be counted or not."""
OUTCOMES = (COUNTED, GIVEN_BACK, REFUSED, UNKNOWN)


def month_start(now: datetime) -> datetime:
    """First moment of the month, UTC."""
    return datetime(now.year, now.month, 1, tzinfo=UTC)


def next_month_start(now: datetime) -> datetime:
    """First moment of the next month, UTC; the reset date of allowances."""
    years, month = divmod(now.month, 12)
    return datetime(now.year + years, month + 1, 1, tzinfo=UTC)


def month_key(now: datetime) -> str:
    """Name of the month in quota rows, for example `2026-11`."""
    return f"{now.year:04d}-{now.month:02d}"


@dataclass(frozen=True)
class Usage:
    """How much of a monthly allowance is used; a snapshot."""

    limit: int
    """Calls allowed in the month."""
    used: int
    """Calls counted so far."""
    starts_at: datetime
    """First moment of the month."""
    resets_at: datetime
    """First moment of the next month."""

    @property
    def remaining(self) -> int:
        """Calls left, never negative."""
        return max(0, self.limit - self.used)
