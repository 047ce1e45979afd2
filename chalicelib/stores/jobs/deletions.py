"""Deletion records. They remain after their objects are deleted."""

from __future__ import annotations

import secrets

from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.deletion import QUEUED, RUNNING, SUCCEEDED, WAITING, Deletion
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.moments import is_announced_before, lease_is_over
from chalicelib.stores.aws.rows import find_row, load
from chalicelib.stores.aws.tables import DeletionRow

# Index key of an unfinished record, by which the sweep finds it.
OPEN = "OPEN"
# Progress of a deletion that has just started, so that it differs from a waiting one.
_BEGUN = 0.01


@translate_errors
class DeletionStore:
    """Reads and writes deletion records. Only `reopen` sets a record back to an earlier state."""

    def __init__(self, clients: Clients, clock: Clock, settings: Settings) -> None:
        clients.bind_tables()
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def create(self, deletion: Deletion) -> Deletion:
        """Store a QUEUED record; return the existing record if its deletion is not complete."""
        now = to_milliseconds(self._clock())
        row = DeletionRow(
            deletion.account_id,
            deletion.deletion_id,
            kind=deletion.kind,
            object_id=deletion.object_id,
            family=deletion.family or None,
            status=QUEUED,
            updated_at=now,
            nudged_at=now,
            open=OPEN,
        )
        if try_write(lambda: row.save(condition=DeletionRow.deletion_id.does_not_exist())):
            return deletion
        found = self.find(deletion.account_id, deletion.deletion_id)
        if found is None or found.status in (QUEUED, RUNNING):
            return found or deletion
        # A repeated call has created the object again after it was deleted.
        self.reopen(deletion)
        return deletion

    def reopen(self, deletion: Deletion) -> None:
        """Set a record to QUEUED again, because there is more to delete.

        This is allowed while the deletion is running and after it has ended.
        """
        now = to_milliseconds(self._clock())
        row = DeletionRow(deletion.account_id, deletion.deletion_id)
        row.update(
            [
                DeletionRow.kind.set(deletion.kind),
                DeletionRow.object_id.set(deletion.object_id),
                DeletionRow.family.set(deletion.family),
                DeletionRow.status.set(QUEUED),
                DeletionRow.progress.set(0),
                DeletionRow.attempts.set(0),
                DeletionRow.lease_until.set(0),
                DeletionRow.updated_at.set(now),
                DeletionRow.nudged_at.set(now),
                DeletionRow.open.set(OPEN),
                # The worker that runs now does not know of the new work, so it may not end the job.
                DeletionRow.fence.add(1),
            ]
        )

    def find(self, account_id: str, deletion_id: str) -> Deletion | None:
        """Return a deletion of an account, or None."""
        row = find_row(DeletionRow, account_id, deletion_id)
        return _load(row) if row else None

    def acquire(self, account_id: str, deletion_id: str) -> Deletion | None:
        """Acquire a deletion and set it RUNNING; None if it has ended or another worker owns it."""
        # Deleting twice is harmless, so the lease only saves work and needs no fence.
        now = to_milliseconds(self._clock())
        owner = secrets.token_hex(8)
        free = lease_is_over(DeletionRow.lease_until, now, self._longest)
        free |= DeletionRow.lease_owner == owner
        unfinished = DeletionRow.status.is_in(QUEUED, RUNNING) & free
        actions: list[Action] = [
            DeletionRow.status.set(RUNNING),
            DeletionRow.lease_until.set(now + self._milliseconds),
            DeletionRow.lease_owner.set(owner),
            DeletionRow.attempts.add(1),
            DeletionRow.updated_at.set(now),
        ]
        row = DeletionRow(account_id, deletion_id)
        return _load(row) if try_update(row, actions, unfinished) else None

    def report(self, deletion: Deletion, progress: float) -> None:
        """Store the progress of a running deletion, and extend its lease."""
        now = to_milliseconds(self._clock())
        row = DeletionRow(deletion.account_id, deletion.deletion_id)
        # A worker that lost its lease must not set the progress back.
        forward = (DeletionRow.status == RUNNING) & (DeletionRow.progress <= progress)
        actions: list[Action] = [
            DeletionRow.progress.set(progress),
            DeletionRow.lease_until.set(now + self._milliseconds),
        ]
        try_update(row, actions, forward)

    def release(self, deletion: Deletion) -> None:
        """End the lease of a deletion, so that another worker can resume it."""
        row = DeletionRow(deletion.account_id, deletion.deletion_id)
        try_update(row, [DeletionRow.lease_until.set(0)], DeletionRow.status == RUNNING)

    def note_urls(self, deletion: Deletion, until: int) -> None:
        """Store when the last presigned URL of the deleted images expires."""
        row = DeletionRow(deletion.account_id, deletion.deletion_id)
        actions: list[Action] = [DeletionRow.urls_until.set(until)]
        try_update(row, actions, DeletionRow.status == RUNNING)

    def finish(self, deletion: Deletion) -> bool:
        """Set a deletion SUCCEEDED, or WAITING while a presigned URL of a deleted image is valid.

        Returns:
            False if the deletion has ended, or `reopen` was called after this job began.
        """
        row = DeletionRow(deletion.account_id, deletion.deletion_id)
        now = to_milliseconds(self._clock())
        is_waiting = deletion.urls_until > now
        actions: list[Action] = [
            DeletionRow.status.set(WAITING if is_waiting else SUCCEEDED),
            DeletionRow.progress.set(1),
            DeletionRow.lease_until.set(0),
            DeletionRow.updated_at.set(now),
            DeletionRow.open.set(WAITING) if is_waiting else DeletionRow.open.remove(),
        ]
        unfinished = DeletionRow.status.is_in(QUEUED, RUNNING)
        # A reopened record has a higher fence.
        return try_update(row, actions, unfinished & (DeletionRow.fence == deletion.fence))

    def end_waiting(self) -> int:
        """End WAITING deletions, if no presigned URL of their images is valid.

        Returns:
            The number of ended deletions.
        """
        now = to_milliseconds(self._clock())
        dead = DeletionRow.urls_until <= now
        actions: list[Action] = [
            DeletionRow.status.set(SUCCEEDED),
            DeletionRow.updated_at.set(now),
            DeletionRow.open.remove(),
        ]
        still_waiting = dead & (DeletionRow.status == WAITING)
        waiting = list(DeletionRow.open_index.query(WAITING, filter_condition=dead))
        return sum(try_update(row, actions, still_waiting) for row in waiting)

    def claim_stale(self, older_than: int) -> list[Deletion]:
        """Return unfinished deletions without a worker, so that the caller sends their jobs again.

        The current time is stored in each row, so that a simultaneous sweep returns other
        deletions.

        Deletions whose last message was sent after `older_than` (in milliseconds since 1970) are
        not returned.
        """
        now = to_milliseconds(self._clock())
        stale = is_announced_before(DeletionRow.nudged_at, older_than, now)
        stale &= lease_is_over(DeletionRow.lease_until, now)
        unfinished = stale & DeletionRow.status.is_in(QUEUED, RUNNING)
        claimed = []
        for row in list(DeletionRow.open_index.query(OPEN, filter_condition=stale)):
            actions: list[Action] = [DeletionRow.nudged_at.set(now)]
            # The index is eventually consistent, so the condition on the row decides.
            if try_update(row, actions, unfinished):
                claimed.append(_load(row))
        return claimed


def _load(row: DeletionRow) -> Deletion:
    progress = max(float(row.progress), _BEGUN if row.status == RUNNING else 0)
    return load(Deletion, row, progress=progress)
