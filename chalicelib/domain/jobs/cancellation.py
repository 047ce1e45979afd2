"""Stops work when its lease is lost or its time is up."""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.domain.common.clock import Clock
from chalicelib.errors import TimedOut


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
        """Return the time left, at least 0; infinite without a limit."""
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
