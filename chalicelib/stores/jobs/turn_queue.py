"""Finds the job whose turn it is, whichever message a worker has received.

A message says only that work waits. The worker that receives it takes the first job of its lanes
that may begin, and the message's own job where no index shows it yet. What kinds of jobs there are,
and how one is owned, is said beside this file. See chalicelib/domain/jobs/turns.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from chalicelib import log
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.lease import is_owned
from chalicelib.domain.jobs.messages import Job, kind_of
from chalicelib.domain.jobs.turns import Waiting, in_turn, running_jobs
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.jobs.queues import CAPPED_SECONDS, Queues
from chalicelib.stores.jobs.turns import TurnStore

Owned = TypeVar("Owned")
Queued = TypeVar("Queued", bound=Job)


class TurnQueue(ABC, Generic[Queued, Waiting, Owned]):
    """One kind of jobs that accounts take turns at."""

    def __init__(self, turns: TurnStore, queues: Queues, clock: Clock, limit: int) -> None:
        """Keep what is needed.

        Args:
            turns: places jobs in their lanes.
            queues: brings messages to workers.
            clock: tells the time.
            limit: jobs of one account that may run at the same time.
        """
        self._turns = turns
        self._queues = queues
        self._clock = clock
        self._limit = limit

    @abstractmethod
    def announce(self, job: Queued, delay_seconds: int = 0) -> None:
        """Send a message that a job waits."""

    @abstractmethod
    def _find(self, job: Queued) -> Waiting | None:
        """Find the job of a message; None when it is over."""

    @abstractmethod
    def _lanes(self, job: Queued) -> Sequence[Sequence[Waiting]]:
        """List the jobs that a message may stand for, those that run included, lane by lane."""

    @abstractmethod
    def _own(self, job: Waiting) -> Owned | None:
        """Own a job unless another worker was quicker, and move its lane on."""

    def acquire(self, job: Queued) -> Owned | None:
        """Own the job whose turn it is; None when there is none to begin.

        Args:
            job: what a message said.
        """
        now, own = self._now(), self._waiting(job)
        if own is not None and not own.turn:
            # Accepted by a version that knew no turns: it is older than all others.
            return self._own(own)
        lanes = self._lanes(job)
        running = running_jobs((waiting for lane in lanes for waiting in lane), now)
        # A job that another worker is quicker to own is passed over, not waited for.
        for lane in lanes:
            for waiting in in_turn(lane, running, self._limit, now):
                if owned := self._own(waiting):
                    return owned
        if own is None:
            return None
        if running[own.account_id] >= self._limit:
            # Sent anew rather than failed: it is no attempt, and must never be given up.
            self.announce(job, CAPPED_SECONDS)
            return None
        # An index may be a moment late, and show nothing of a job that was just accepted.
        return self._own(own)

    def own(self, job: Queued) -> Owned | None:
        """Own the job of a message, whosever turn it is; None when it is over, or owned."""
        own = self._waiting(job)
        return None if own is None else self._own(own)

    def is_over(self, job: Queued) -> bool:
        """Tell whether the job of a message has ended, or what it was for is gone."""
        return self._find(job) is None

    def remind(self, job: Queued) -> None:
        """Announce the job of a message that was not what ran for it, if it still waits."""
        try:
            if self._waiting(job) is not None:
                self.announce(job)
        except StorageUnavailable:
            log.warning("enqueue_failed", job=kind_of(job))

    def _waiting(self, job: Queued) -> Waiting | None:
        """Find the job of a message; None when it is over, or a worker owns it."""
        found = self._find(job)
        is_waiting = found is not None and not is_owned(found.lease_until, self._now())
        return found if is_waiting else None

    def _now(self) -> int:
        """Return the present moment in milliseconds since 1970."""
        return to_milliseconds(self._clock())
