"""Leases. A lease is the right to work on a job for some time.

A worker stops when it has lost the lease or its time is up. The fence token of a lease prevents
writes of a worker that has lost the lease.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.domain.common.clock import Clock
from chalicelib.errors import TimedOut

# No job is owned for longer without a heartbeat, because Lambda ends a run after 900 seconds.
# A lease that ends later was taken before the machine's clock was set back.
LONGEST_LEASE_MILLISECONDS = 900_000


@dataclass(frozen=True)
class Lease:
    """The lease that a worker holds on a job."""

    fence: int
    """Fence token of this lease. Each new lease has a higher token; writes with an older token
    fail.
    """
    attempts: int
    """Number of attempts at the job, including this one."""
    last_error: str = ""
    """Description of the error in the last attempt; empty if there was none."""


def longest_lease(milliseconds: int) -> int:
    """Return the longest time that a lease can last, in milliseconds.

    `milliseconds` is the duration of the leases that workers request.

    A stored lease with more time left is not valid: the clock was set back after it was taken.
    """
    return max(LONGEST_LEASE_MILLISECONDS, 2 * milliseconds)


def is_owned(until: int, now: int) -> bool:
    """Return whether a lease that ends at `until` is valid. Times are milliseconds since 1970."""
    return now <= until <= now + LONGEST_LEASE_MILLISECONDS


class Cancellation:
    """Raises an error in a running job if the job must stop."""

    def __init__(
        self, check_lease: Callable[[], None], clock: Clock, remaining_seconds: float
    ) -> None:
        self._check_lease = check_lease
        self._clock = clock
        self._deadline = clock().timestamp() + remaining_seconds if remaining_seconds else None

    @property
    def remaining_seconds(self) -> float:
        """Return the time until the job must stop, at least 0; infinite without a limit."""
        if self._deadline is None:
            return float("inf")
        return max(0.0, self._deadline - self._clock().timestamp())

    def check(self) -> None:
        """Raise an error if the work must stop.

        Raises:
            LeaseLost: another worker owns the job, or the job has ended.
            TimedOut: this worker's time is up. The queue delivers the job again.
        """
        self._check_lease()
        if self._deadline is not None and self._clock().timestamp() > self._deadline:
            raise TimedOut("The file was not read in time; the queue delivers the job again.")
