"""Rows of batches, which are changed by single conditional writes.

A part is answered once its number is in `parts_done` of the row. The number is added after the
answers of the part were stored, and never after the batch has ended.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.datasets.upload_format import UploadWarning
from chalicelib.domain.jobs.batch import (
    ANSWER,
    CANCELLED,
    FAILED,
    KIND_TYPES,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    Batch,
    part_entry,
)
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.rows import find_row, load
from chalicelib.stores.aws.tables import BatchRow, ExportRow
from chalicelib.stores.jobs.row_leases import ENDED, OPEN, RowLease

# Marks the rows of batches, which share the table of exports.
KIND = "batch"
# The sweep deletes rows with their files; the table's TTL only removes what the sweep missed.
_ROW_KEPT_SECONDS = 24 * 3600


@translate_errors
class BatchStore:
    """Reads the rows of batches, and changes their state.

    Changes under a lease raise LeaseLost if another worker owns the step, or the batch has ended.
    """

    def __init__(self, clients: Clients, clock: Clock, settings: Settings) -> None:
        clients.bind_tables()
        self._clock = clock
        self._lease = RowLease(clock, settings)

    def create(self, batch: Batch) -> None:
        """Store a new batch as QUEUED."""
        now, until = to_milliseconds(batch.created_at), to_milliseconds(batch.expires_at)
        row = BatchRow(
            batch.account_id,
            batch.batch_id,
            kind=KIND,
            family=batch.family,
            name=batch.name,
            model_id=batch.model_id,
            # Batches of documents have no model, and not every DynamoDB accepts an empty string.
            model_version=batch.model_version or None,
            request={
                "kind": batch.kind,
                "format": batch.format,
                "count": batch.count,
                "partial": batch.is_partial,
                "type": batch.model_type,
                "reading": dict(batch.reading),
                "columns": batch.columns,
                "reviewBelow": batch.review_below,
            },
            source=dict(batch.source),
            status=QUEUED,
            created_at=now,
            updated_at=now,
            due_at=until,
            nudged_at=now,
            expires_at=until // 1000 + _ROW_KEPT_SECONDS,
            open=OPEN,
        )
        # The id is random, so a refusal means that an earlier try of this write succeeded.
        try_write(lambda: row.save(condition=BatchRow.batch_id.does_not_exist()))

    def find(self, account_id: str, batch_id: str) -> Batch | None:
        """Return a batch, even if it has expired; None if it does not exist."""
        row = find_row(BatchRow, account_id, batch_id)
        return _load(row) if row and row.kind == KIND else None

    def count_open(self) -> int:
        """Return the number of unfinished batches of all accounts."""
        return int(ExportRow.open_index.count(OPEN, filter_condition=ExportRow.kind == KIND))

    def of_account(self, account_id: str) -> list[Batch]:
        """Return the batches of an account that have not expired, newest first."""
        now = to_milliseconds(self._clock())
        rows = BatchRow.query(
            account_id, consistent_read=True, filter_condition=BatchRow.kind == KIND
        )
        found = [_load(row) for row in rows if row.due_at > now]
        return sorted(found, key=lambda batch: (batch.created_at, batch.batch_id), reverse=True)

    def used_versions(self, account_id: str, model_id: str) -> frozenset[str]:
        """Return the version folders of a model that unfinished batches use."""
        return frozenset(
            batch.model_version
            for batch in self.of_account(account_id)
            if batch.model_id == model_id and batch.status in (QUEUED, RUNNING)
        )

    def acquire(self, batch: Batch) -> Batch | None:
        """Acquire a batch for its next step; None if no step is left or another worker owns it."""
        row = _row(batch)
        return _load(row) if self._lease.take(row, batch.fence, batch.attempts) else None

    def renew(self, batch: Batch) -> None:
        """Extend the lease of a batch's current step."""
        self._update_owned(batch, self._lease.renewal(_row(batch)))

    def release(self, batch: Batch) -> None:
        """End the lease of a batch's current step, so that another worker can resume the step."""
        self._update_owned(batch, [BatchRow.lease_until.set(0)])

    def count(
        self,
        batch: Batch,
        ends: Sequence[int],
        month: str,
        warnings: Sequence[UploadWarning] = (),
    ) -> None:
        """Store the number of lines, the month whose quota the lines use, and warnings.

        Args:
            batch: the batch.
            ends: for each part, the number of lines in this part and all parts before it. There is
                at least one part.
            month: month of the quota, such as `2026-11`; "" if lines do not count as predictions.
            warnings: warnings about properties of the input that had to be guessed.
        """
        # OCR calls are not metered, so their batches have no month.
        counted = BatchRow.month.set(month) if month else BatchRow.month.remove()
        # Only parts of long texts have fewer lines than others, so most batches store no ends.
        is_even = [*ends[:-1]] == [*range(batch.part_lines, ends[-1], batch.part_lines)]
        parts = BatchRow.part_ends.remove() if is_even else BatchRow.part_ends.set([*ends])
        actions = [BatchRow.total.set(ends[-1]), parts, counted]
        if warnings:
            actions.append(BatchRow.warnings.set([asdict(one) for one in warnings]))
        self._update_owned(batch, actions)

    def prepared(self, batch: Batch, covered: int) -> None:
        """Store that all parts are written, and the number of reserved predictions (`covered`)."""
        actions = [BatchRow.is_prepared.set(True), BatchRow.covered.set(covered)]
        self._update_owned(batch, [*actions, *self._rested()])

    def start(self, batch: Batch) -> Batch | None:
        """Set a prepared batch RUNNING; return None if it is RUNNING already, or has ended."""
        actions = [BatchRow.status.set(RUNNING), *self._progress()]
        is_ready = (BatchRow.status == QUEUED) & (BatchRow.is_prepared == True)  # noqa: E712 - a condition
        return self._update(batch, actions, is_ready)

    def mark_answered(self, batch: Batch, number: int, failed: int) -> Batch | None:
        """Mark a part as answered; return None if it was answered before or if the batch has ended.

        `number` is the number of the part, from 0. `failed` is the number of lines with an error.
        """
        entry, token = part_entry(number, failed), secrets.token_hex(8)
        actions = [
            BatchRow.parts_done.add({entry}),
            BatchRow.done_by.set(token),
            BatchRow.stalls.set(0),
            *self._progress(),
        ]
        # If an earlier try of this write succeeded, the entry must not count as another worker's.
        is_new = ~BatchRow.parts_done.contains(entry) | (BatchRow.done_by == token)
        return self._update(batch, actions, (BatchRow.status == RUNNING) & is_new)

    def stall(self, batch: Batch) -> Batch | None:
        """Increase the stored number of times that unanswered parts were sent again.

        Returns:
            The changed batch; None if the batch has ended.
        """
        actions: list[Action] = [BatchRow.stalls.set(batch.stalls + 1)]
        return self._update(batch, actions, BatchRow.status == RUNNING)

    def succeed(self, batch: Batch, result: str, size_bytes: int) -> Batch:
        """End a batch as SUCCEEDED, with a result that can be downloaded."""
        actions = [BatchRow.result.set(result), BatchRow.size_bytes.set(size_bytes)]
        self._update_owned(batch, [*actions, *self._over(SUCCEEDED)], SUCCEEDED)
        ended = self.find(batch.account_id, batch.batch_id)
        if ended is None:
            raise LeaseLost
        return ended

    def fail(self, batch: Batch, message: str) -> Batch | None:
        """End a batch as FAILED, even if a worker owns it; return None if it had ended before."""
        actions = [BatchRow.message.set(message), *self._over(FAILED)]
        return self._update(batch, actions, BatchRow.status.is_in(QUEUED, RUNNING))

    def cancel(self, batch: Batch) -> Batch | None:
        """End a batch as CANCELLED; return None if it had ended before."""
        # The lease stays, because its owner may be about to reserve predictions.
        actions = self._over(CANCELLED, keeps_lease=True)
        return self._update(batch, actions, BatchRow.status.is_in(QUEUED, RUNNING))

    def close(self, batch: Batch, result: str = "", size_bytes: int = 0) -> None:
        """Store that an ended batch needs no more work; also store its result's name and size."""
        actions: list[Action] = [BatchRow.open.set(ENDED), BatchRow.lease_until.set(0)]
        if result:
            actions += [BatchRow.result.set(result), BatchRow.size_bytes.set(size_bytes)]
        try_update(_row(batch), actions, BatchRow.open == OPEN)

    def delete(self, batch: Batch) -> None:
        """Delete the row of a batch. A missing row is ignored."""
        _row(batch).delete()

    def _progress(self) -> list[Action]:
        now = to_milliseconds(self._clock())
        return [BatchRow.updated_at.set(now), BatchRow.nudged_at.set(now)]

    def _rested(self) -> list[Action]:
        # With 0 attempts, the sweep waits longer before it sends the parts' messages again.
        return [BatchRow.lease_until.set(0), BatchRow.attempts.set(0), *self._progress()]

    def _over(self, status: str, *, keeps_lease: bool = False) -> list[Action]:
        # One attempt without a lease looks like a dead worker: if the cleanup does not happen, the
        # sweep announces the batch again.
        ended: list[Action] = [
            BatchRow.status.set(status),
            BatchRow.attempts.set(1),
            *self._progress(),
        ]
        return ended if keeps_lease else [*ended, BatchRow.lease_until.set(0)]

    def _update_owned(self, batch: Batch, actions: Iterable[Action], status: str = RUNNING) -> None:
        """Change the row of a batch under its lease; raise LeaseLost if another worker owns it.

        The row may already have the status `status`, because the write may be a retry. Any other
        final status raises LeaseLost.
        """
        mine = (BatchRow.fence == batch.fence) & BatchRow.status.is_in(QUEUED, RUNNING, status)
        if self._update(batch, actions, mine) is None:
            raise LeaseLost

    def _update(
        self, batch: Batch, actions: Iterable[Action], condition: Condition
    ) -> Batch | None:
        """Change the row of a batch if it meets a condition; return the changed batch or None."""
        row = _row(batch)
        return _load(row) if try_update(row, list(actions), condition) else None


def _row(batch: Batch) -> BatchRow:
    return BatchRow(batch.account_id, batch.batch_id)


def _load(row: BatchRow) -> Batch:
    request = row.request
    return load(
        Batch,
        row,
        model_version=row.model_version or "",
        kind=request["kind"],
        format=request["format"],
        count=request["count"],
        # Rows of older versions have no type and are of texts.
        model_type=request.get("type") or KIND_TYPES[request["kind"]][0],
        reading=request.get("reading") or {},
        columns=request.get("columns") or ANSWER,
        review_below=request.get("reviewBelow"),
        warnings=tuple(
            UploadWarning(**{**stored, "places": tuple(stored["places"])})
            for stored in row.warnings or ()
        ),
        is_partial=request["partial"],
        expires_at=from_milliseconds(row.due_at),
        is_open=row.open == OPEN,
        part_ends=tuple(row.part_ends or ()),
    )
