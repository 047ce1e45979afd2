"""A lease: the right to work on a job for some time, fenced against stalled owners."""

from __future__ import annotations

from dataclasses import dataclass

# No job is owned for longer without a heartbeat, because Lambda ends a run after 900 seconds.
# A lease that ends later was taken before the machine's clock was set back.
LONGEST_LEASE_MILLISECONDS = 900_000


@dataclass(frozen=True)
class Lease:
    """The owner's claim on a job."""

    fence: int
    """Grows with every owner; writes with an older fence are refused."""
    attempts: int
    """How many workers took the job, this one included."""
    last_error: str = ""
    """What failed in the last attempt."""


def longest_lease(milliseconds: int) -> int:
    """Return an upper bound of all leases in milliseconds; workers request `milliseconds`."""
    return max(LONGEST_LEASE_MILLISECONDS, 2 * milliseconds)


def is_owned(until: int, now: int) -> bool:
    """Return whether a lease that ends at `until` is valid, both in milliseconds since 1970."""
    return now <= until <= now + LONGEST_LEASE_MILLISECONDS
