"""Leases of rows in the table of exports: exports, learned templates and steps of batches."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime

from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.export import QUEUED, RUNNING
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.errors import try_update, try_write
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.tables import BatchRow, ExportRow

# Index partitions: rows that the sweep may announce again, and rows that it deletes.
OPEN, ENDED = "OPEN", "ENDED"
# The sweep deletes rows with their files; the table's TTL only removes what the sweep missed.
_ROW_KEPT_SECONDS = 24 * 3600


class RowLease:
    """Gives the lease of a row to one worker at a time. A new owner increases the fence."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def take(
        self, row: ExportRow | BatchRow, fence: int, attempts: int, more: Iterable[Action] = ()
    ) -> bool:
        """Acquire the lease of a row; return False if its job has ended or has another owner.

        Args:
            row: row with its key. Afterwards it has all of its attributes.
            fence: fence of the last owner, as read before.
            attempts: number of attempts, as read before.
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


class FileJobRows:
    """Rows of jobs that write a file. Single conditional writes create, acquire and end a job."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._lease = RowLease(clock, settings)

    def create(self, row: ExportRow, created_at: datetime, expires_at: datetime) -> None:
        """Store a new job as QUEUED.

        Args:
            row: row with its key and the attributes of its kind.
            created_at: time of the call.
            expires_at: when the file is deleted.
        """
        now, until = to_milliseconds(created_at), to_milliseconds(expires_at)
        row.status = QUEUED
        row.created_at = row.updated_at = row.nudged_at = now
        row.due_at = until
        row.expires_at = until // 1000 + _ROW_KEPT_SECONDS
        row.open = OPEN
        # The id is random, so a refusal means that a retried call met its own first write.
        try_write(lambda: row.save(condition=ExportRow.export_id.does_not_exist()))

    def acquire(self, account_id: str, row_id: str) -> ExportRow | None:
        """Acquire a job and set it RUNNING; None if it has ended or has another owner."""
        row = ExportRow(account_id, row_id)
        try:
            row.refresh(consistent_read=True)
        except ExportRow.DoesNotExist:
            return None
        begun = [ExportRow.status.set(RUNNING), self._now()]
        return row if self._lease.take(row, int(row.fence), int(row.attempts), begun) else None

    def renew(self, row: ExportRow, fence: int) -> None:
        """Extend the lease of a job; raise LeaseLost in the cases of `change`."""
        self.change(row, fence, self._lease.renewal(row))

    def end(self, row: ExportRow, fence: int, status: str, actions: Iterable[Action] = ()) -> None:
        """End a job with a final status; raise LeaseLost in the cases of `change`."""
        ended = [
            ExportRow.status.set(status),
            self._now(),
            ExportRow.lease_until.set(0),
            ExportRow.open.set(ENDED),
        ]
        self.change(row, fence, [*actions, *ended], status)

    def change(
        self, row: ExportRow, fence: int, actions: list[Action], ended: str = RUNNING
    ) -> None:
        """Change the row as the owner of a job. Repeating a write with the same status is allowed.

        Args:
            row: row of the job.
            fence: fence of the owner.
            actions: the changes.
            ended: final status of a write that may be repeated.

        Raises:
            LeaseLost: another worker owns the job, or the job was deleted.
        """
        mine = (ExportRow.fence == fence) & ExportRow.status.is_in(RUNNING, ended)
        if not try_update(row, actions, mine):
            raise LeaseLost

    def _now(self) -> Action:
        return ExportRow.updated_at.set(to_milliseconds(self._clock()))
