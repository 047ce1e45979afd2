"""A lease: the right to work on a job for some time. Its fence token stops stalled workers."""

from __future__ import annotations

from dataclasses import dataclass

# No job is owned for longer without a heartbeat, because Lambda ends a run after 900 seconds.
# A lease that ends later was taken before the machine's clock was set back.
LONGEST_LEASE_MILLISECONDS = 900_000


@dataclass(frozen=True)
class Lease:
    """The lease that a worker holds on a job."""

    fence: int
    """Fence token of this lease. Each new lease has a higher one, and older writes are refused."""
    attempts: int
    """Number of attempts at the job, including this one."""
    last_error: str = ""
    """Description of the error in the last attempt; empty if there was none."""


def longest_lease(milliseconds: int) -> int:
    """Return the longest time that a lease can last, in milliseconds.

    A stored lease that ends later was taken before the clock was set back, so it is not valid.

    Args:
        milliseconds: duration of the leases that workers request.
    """
    return max(LONGEST_LEASE_MILLISECONDS, 2 * milliseconds)


def is_owned(until: int, now: int) -> bool:
    """Return whether a lease is valid now.

    Args:
        until: end of the lease, in milliseconds since 1970.
        now: the current time, in milliseconds since 1970.
    """
    return now <= until <= now + LONGEST_LEASE_MILLISECONDS
