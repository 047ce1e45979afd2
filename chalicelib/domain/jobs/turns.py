"""Fair queueing: accounts take turns, and the jobs of each account run in order.

Start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queuing, 1996). All jobs are treated
as equally long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from chalicelib.domain.jobs.lease import is_owned


@dataclass(frozen=True)
class Turn:
    """The position of a job in a lane (a queue of jobs of one kind and plan tier)."""

    lane: str
    """Name of the lane, such as `train-paid`."""
    number: int
    """Jobs of a lane start in ascending order of this number."""


class WaitingJob(Protocol):
    """An upload or training that waits or runs, with the attributes that decide when it starts."""

    @property
    def account_id(self) -> str:
        """Return the owner of the job."""
        ...

    @property
    def turn(self) -> int:
        """Return the number that orders the job within its queue (lane)."""
        ...

    @property
    def lease_until(self) -> int:
        """Return the end of the worker's lease, in milliseconds since 1970; 0 for no lease."""
        ...


Waiting = TypeVar("Waiting", bound=WaitingJob)


def running_jobs(jobs: Iterable[WaitingJob], now: int) -> Counter[str]:
    """Return, for each account, the number of its jobs that have a valid lease.

    `now` is in milliseconds since 1970.
    """
    return Counter(job.account_id for job in jobs if is_owned(job.lease_until, now))


def in_turn(
    jobs: Iterable[Waiting], running: Counter[str], limit: int, now: int
) -> Iterator[Waiting]:
    """Yield the jobs that may start now, in the order in which they should start.

    Jobs of accounts that already run `limit` jobs are left out.

    `jobs` are the jobs of one queue. `running` has the number of running jobs by account. `now` is
    in milliseconds since 1970.
    """
    for job in sorted(jobs, key=lambda job: job.turn):
        if not is_owned(job.lease_until, now) and running[job.account_id] < limit:
            yield job
