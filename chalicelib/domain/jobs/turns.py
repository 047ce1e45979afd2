"""Whose turn it is: accounts are served one after the other, and each its own jobs in their order.

Start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queuing, 1996) with jobs of length 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from chalicelib.domain.jobs.lease import is_owned


@dataclass(frozen=True)
class Turn:
    """A place in a lane."""

    lane: str
    """Where the job waits, such as `train-paid`."""
    number: int
    """Jobs begin in the order of their numbers."""


class WaitingJob(Protocol):
    """A job as an index shows it."""

    @property
    def account_id(self) -> str:
        """Whose job it is."""
        ...

    @property
    def turn(self) -> int:
        """Its number in its lane."""
        ...

    @property
    def lease_until(self) -> int:
        """Until when a worker owns it, in milliseconds since 1970."""
        ...


Waiting = TypeVar("Waiting", bound=WaitingJob)


def running_jobs(jobs: Iterable[WaitingJob], now: int) -> Counter[str]:
    """Count the jobs that workers own now, by account.

    Args:
        jobs: of one kind.
        now: milliseconds since 1970.
    """
    return Counter(job.account_id for job in jobs if is_owned(job.lease_until, now))


def in_turn(
    jobs: Iterable[Waiting], running: Counter[str], limit: int, now: int
) -> Iterator[Waiting]:
    """Yield the jobs that may begin, the one whose turn it is first.

    Args:
        jobs: of one lane.
        running: jobs that workers own now, by account.
        limit: how many of one account may run at the same time.
        now: milliseconds since 1970.
    """
    for job in sorted(jobs, key=lambda job: job.turn):
        if not is_owned(job.lease_until, now) and running[job.account_id] < limit:
            yield job
