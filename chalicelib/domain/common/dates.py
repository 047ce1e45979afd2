"""Dates as answers write them. Contract section 1, Dates."""

from __future__ import annotations

from datetime import UTC, datetime


def date_text(moment: datetime) -> str:
    """Write a moment as `2026-11-21T09:30:00.000+0000`: three digits, no colon, UTC."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}+0000"
