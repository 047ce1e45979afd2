"""Finds the next job to start, whichever message a worker has received.

A message only means that a job is waiting. A lane has the waiting jobs of one plan tier. The worker
that received a message acquires the first job in its lanes that may start. If the indexes do not
show the job named in the message yet, the worker acquires this job. Subclasses define the kind of
jobs and how to acquire them. chalicelib/domain/jobs/turns.py defines the order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.lease import is_owned
from chalicelib.domain.jobs.messages import Job, kind_of, postponed
from chalicelib.domain.jobs.turns import Waiting, in_turn, running_jobs
from chalicelib.stores.jobs.queues import Queues, retried_by_sweep
from chalicelib.stores.jobs.turns import TurnStore

Owned = TypeVar("Owned")
Queued = TypeVar("Queued", bound=Job)


class TurnQueue(ABC, Generic[Queued, Waiting, Owned]):
    """The queue of one kind of job, in which accounts take turns."""

    def __init__(self, turns: TurnStore, queues: Queues, clock: Clock, limit: int) -> None:
        """Store the dependencies.

        Args:
            turns: assigns turns to jobs.
            queues: sends messages to workers.
            clock: returns the current time.
            limit: maximum number of running jobs of one account.
        """
        self._turns = turns
        self._queues = queues
        self._clock = clock
        self._limit = limit

    @abstractmethod
    def announce(self, job: Queued, delay_seconds: int = 0) -> None:
        """Send a message that a job is waiting."""

    @abstractmethod
    def _find(self, job: Queued) -> Waiting | None:
        """Return the job of a message; None if it has ended."""

    @abstractmethod
    def _job(self, waiting: Waiting) -> Queued:
        """Return the message for a waiting job."""

    @abstractmethod
    def _lanes(self, job: Queued) -> Sequence[Sequence[Waiting]]:
        """Return the waiting and running jobs in each lane that the worker of a message serves."""

    @abstractmethod
    def _own(self, job: Waiting) -> Owned | None:
        """Acquire a job, and store its turn as the lane's latest; None if it has an owner."""

    def acquire(self, job: Queued) -> Owned | None:
        """Acquire the next job in the lanes that the receiver of a message serves, or None."""
        now, own = self._now(), self._waiting(job)
        if own is not None and not own.turn:
            # A job from a version without turns is older than all others.
            return self._own(own)
        lanes = self._lanes(job)
        running = running_jobs((waiting for lane in lanes for waiting in lane), now)
        # A job that another worker acquires first is skipped, not waited for.
        for lane in lanes:
            for waiting in in_turn(lane, running, self._limit, now):
                if owned := self._own(waiting):
                    return owned
        if own is None:
            return None
        if running[own.account_id] >= self._limit:
            # A new message instead of an error, so that it never counts as a failed attempt.
            if again := postponed(job):
                self.announce(*again)
            return None
        # An index is eventually consistent, and may not show a job that was just accepted.
        return self._own(own)

    def announce_next(self, job: Queued, account_id: str) -> None:
        """Send a message for an account's next job, if the account was at its limit until now.

        Otherwise the job would start minutes later, when its delayed message arrives.

        Args:
            job: the job of the received message, which determines the lanes.
            account_id: account whose job has just ended.
        """
        with retried_by_sweep(kind_of(job)):
            now, lanes = self._now(), self._lanes(job)
            jobs = [found for lane in lanes for found in lane if found.account_id == account_id]
            waiting = [found for found in jobs if not is_owned(found.lease_until, now)]
            # If several jobs end at once, possibly none of them sees that the limit was reached.
            # Then a delayed message starts the next job.
            if waiting and len(jobs) - len(waiting) >= self._limit - 1:
                self.announce(self._job(min(waiting, key=lambda found: found.turn)))

    def own(self, job: Queued) -> Owned | None:
        """Acquire a job before its turn; None if it has ended or has an owner."""
        own = self._waiting(job)
        return None if own is None else self._own(own)

    def is_over(self, job: Queued) -> bool:
        """Return whether the job of a message has ended or its object was deleted."""
        return self._find(job) is None

    def announce_again(self, job: Queued) -> None:
        """Send the message of a job that still waits, because a worker used it for another job."""
        with retried_by_sweep(kind_of(job)):
            if self._waiting(job) is not None:
                self.announce(job)

    def _waiting(self, job: Queued) -> Waiting | None:
        """Return the job of a message; None if it has ended or a worker is running it."""
        found = self._find(job)
        is_waiting = found is not None and not is_owned(found.lease_until, self._now())
        return found if is_waiting else None

    def _now(self) -> int:
        return to_milliseconds(self._clock())
