"""A lease: the right to work on a job until a moment, fenced against stalled owners."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lease:
    """What the owner of a job holds."""

    fence: int
    """Grows with every owner; writes with an older one are refused."""
    attempts: int
    """How often the job was taken, this time included."""
    last_error: str = ""
    """What broke the attempt before."""
