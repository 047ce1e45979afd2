"""Leases of rows in the table of exports: exports, learned templates and steps of batches."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.export import FAILED, QUEUED, RUNNING
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.objects import ArtifactStore
from chalicelib.stores.aws.rows import find_row
from chalicelib.stores.aws.tables import BatchRow, ExportRow

# Index partitions: rows that the sweep may announce again, and rows that it deletes.
OPEN, ENDED = "OPEN", "ENDED"
# The sweep deletes rows with their files; the table's TTL only removes what the sweep missed.
_ROW_KEPT_SECONDS = 24 * 3600


class RowLease:
    """Gives the lease of a row to one worker at a time. A new owner gets a higher fence token."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def take(
        self, row: ExportRow | BatchRow, fence: int, attempts: int, more: Iterable[Action] = ()
    ) -> bool:
        """Acquire the lease of a row; return False if its job has ended or another worker owns it.

        Args:
            row: a row with its key. If the lease is acquired, the other attributes are set, too.
            fence: fence token that the caller has read from the row.
            attempts: number of attempts that the caller has read from the row.
            more: further changes in the same write.
        """
        kind, owner = type(row), secrets.token_hex(8)
        is_over = lease_is_over(kind.lease_until, to_milliseconds(self._clock()), self._longest)
        free = is_over & (kind.fence == fence)
        actions: list[Action] = [
            *self.renewal(row),
            kind.lease_owner.set(owner),
            # `set` instead of `add`, so that a retried call writes the same values.
            kind.attempts.set(attempts + 1),
            kind.fence.set(fence + 1),
            *more,
        ]
        mine = free | (kind.lease_owner == owner)
        return try_update(row, actions, kind.status.is_in(QUEUED, RUNNING) & mine)

    def renewal(self, row: ExportRow | BatchRow) -> list[Action]:
        """Return the changes that extend the lease of a row."""
        until = to_milliseconds(self._clock()) + self._milliseconds
        return [type(row).lease_until.set(until)]


class FileJob(Protocol):
    """Attributes that all jobs in the table of exports have."""

    @property
    def account_id(self) -> str:
        """Return the id of the account."""

    @property
    def fence(self) -> int:
        """Return the fence token of the lease under which the job runs."""


JobT = TypeVar("JobT", bound=FileJob)


@translate_errors
class FileJobStore(ABC, Generic[JobT]):
    """Jobs that write a file. Single conditional writes create, acquire and end a job.

    Changes under a lease raise LeaseLost if another worker owns the job, or it was deleted.
    """

    _kinds: tuple[str | None, ...]
    """Kinds of rows that this store reads. Jobs of other kinds are in the same table."""

    def __init__(
        self, clients: Clients, artifacts: ArtifactStore, clock: Clock, settings: Settings
    ) -> None:
        clients.bind_tables()
        self._artifacts = artifacts
        self._clock = clock
        self._lease = RowLease(clock, settings)

    def find(self, account_id: str, job_id: str) -> JobT | None:
        """Return a job that has not expired, or None."""
        row = find_row(ExportRow, account_id, job_id)
        if row is None or row.kind not in self._kinds:
            return None
        return self._load(row) if row.due_at > to_milliseconds(self._clock()) else None

    def acquire(self, account_id: str, job_id: str) -> JobT | None:
        """Acquire a job and set it RUNNING; None if it has ended or another worker owns it."""
        row = find_row(ExportRow, account_id, job_id)
        if row is None:
            return None
        begun = [ExportRow.status.set(RUNNING), self._now()]
        is_mine = self._lease.take(row, int(row.fence), int(row.attempts), begun)
        return self._load(row) if is_mine else None

    def renew(self, job: JobT) -> None:
        """Extend the lease of a job."""
        row = self._row(job)
        self._change(row, job, self._lease.renewal(row))

    def release(self, job: JobT, cause: str) -> None:
        """End the lease of a job, and store `cause`, the error of this attempt."""
        actions: list[Action] = [ExportRow.lease_until.set(0), ExportRow.last_error.set(cause)]
        self._change(self._row(job), job, actions)

    def fail(self, job: JobT, message: str) -> None:
        """End the job as FAILED."""
        self._end(job, FAILED, [ExportRow.message.set(message)])

    @abstractmethod
    def _row(self, job: JobT) -> ExportRow:
        """Return a row object with only the key of a job's row."""

    @abstractmethod
    def _load(self, row: ExportRow) -> JobT:
        """Return the job of a row."""

    def _create(self, row: ExportRow, created_at: datetime, expires_at: datetime) -> None:
        """Store a new job as QUEUED."""
        now, until = to_milliseconds(created_at), to_milliseconds(expires_at)
        row.status = QUEUED
        row.created_at = row.updated_at = row.nudged_at = now
        row.due_at = until
        row.expires_at = until // 1000 + _ROW_KEPT_SECONDS
        row.open = OPEN
        # The id is random, so a refusal means that an earlier try of this write succeeded.
        try_write(lambda: row.save(condition=ExportRow.export_id.does_not_exist()))

    def _end(self, job: JobT, status: str, actions: Iterable[Action] = ()) -> None:
        """End a job with a final status and other changes; raise LeaseLost if the lease is lost."""
        ended = [
            ExportRow.status.set(status),
            self._now(),
            ExportRow.lease_until.set(0),
            ExportRow.open.set(ENDED),
        ]
        # The same final status may be written again.
        self._change(self._row(job), job, [*actions, *ended], status)

    def _change(
        self, row: ExportRow, job: JobT, actions: list[Action], status: str = RUNNING
    ) -> None:
        mine = (ExportRow.fence == job.fence) & ExportRow.status.is_in(RUNNING, status)
        if not try_update(row, actions, mine):
            raise LeaseLost

    def _now(self) -> Action:
        return ExportRow.updated_at.set(to_milliseconds(self._clock()))
