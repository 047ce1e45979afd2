"""Reserves the predictions of batches in the monthly counter, and releases the unused ones once.

A reservation adds an entry with the batch's id and the number to the counter's row, in the same
write. So after a lost response the store can check whether the write was made, and a retried
release takes effect once.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.update import Action

from chalicelib.domain.accounts.usage import PREDICTIONS
from chalicelib.domain.jobs.batch import Batch
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts.quotas import OutcomeUnknown, period_of, refresh, repeated
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import QuotaRow

# Attempts to reserve: each fails only because another call changed the counter in between.
_TRIES = 20


@translate_errors
class BatchQuotaStore:
    """Reserves predictions for batches, within the same monthly limit as single predictions."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def reserve(self, batch: Batch, limit: int, expires_at: datetime) -> tuple[int, int]:
        """Reserve one prediction per line, all or none; a partial batch gets what is left.

        Args:
            batch: the batch, with lines and month. A repeated call returns the first reservation.
            limit: predictions allowed in the month.
            expires_at: when the counter's row may be deleted.

        Returns:
            The number reserved, 0 if refused, and the number of other predictions counted.

        Raises:
            StorageUnavailable: the reservation failed, or its outcome is unknown.
        """
        row = _row(batch)
        for _ in range(_TRIES):
            used = int(row.used) if refresh(row) else 0
            if entry := _entry_of(row, batch.batch_id):
                return _count(entry), used - _count(entry)
            fitting = max(0, min(batch.total, limit - used))
            if fitting < (1 if batch.is_partial else batch.total):
                return 0, used
            if _add(row, f"{batch.batch_id}#{fitting}", limit - fitting, expires_at):
                return fitting, used
        raise StorageUnavailable

    def settle(self, batch: Batch, kept: int) -> int:
        """Leave `kept` of a batch's reserved predictions counted, and release the others.

        Idempotent.

        Returns:
            The number of predictions that were reserved; 0 if there were none or the batch is
            settled already.

        Raises:
            StorageUnavailable: the outcome is unknown; call again.
        """
        row = _row(batch)
        entry = _entry_of(row, batch.batch_id) if refresh(row) else ""
        if not entry:
            return 0
        actions: list[Action] = [
            QuotaRow.used.add(kept - _count(entry)),
            QuotaRow.batches.delete({entry}),
        ]
        is_done = _written(
            lambda: row.update(actions=actions, condition=QuotaRow.batches.contains(entry)),
            lambda: not (refresh(row) and _entry_of(row, batch.batch_id)),
        )
        return _count(entry) if is_done else 0


def _row(batch: Batch) -> QuotaRow:
    return QuotaRow(batch.account_id, period_of(PREDICTIONS, batch.month))


def _add(row: QuotaRow, entry: str, most_before: int, expires_at: datetime) -> bool:
    """Write a reservation; False when more than `most_before` predictions are counted already."""
    actions: list[Action] = [
        QuotaRow.used.add(_count(entry)),
        QuotaRow.batches.add({entry}),
        QuotaRow.expires_at.set(int(expires_at.timestamp())),
    ]
    is_below = QuotaRow.used.does_not_exist() | (QuotaRow.used <= most_before)
    is_new = ~QuotaRow.batches.contains(entry)
    return _written(
        lambda: row.update(actions=actions, condition=is_below & is_new),
        lambda: refresh(row) and entry in (row.batches or ()),
    )


def _written(write: Callable[[], object], is_done: Callable[[], bool]) -> bool:
    """Repeat a write until its outcome is certain."""
    try:
        return repeated(write, is_done)
    except (OutcomeUnknown, PynamoDBException) as error:
        raise StorageUnavailable from error


def _entry_of(row: QuotaRow, batch_id: str) -> str:
    """Return a batch's entry in a loaded row; an empty string if it has none."""
    mark = f"{batch_id}#"
    return next((entry for entry in row.batches or () if entry.startswith(mark)), "")


def _count(entry: str) -> int:
    return int(entry.rpartition("#")[2])
