"""Reserves predictions for batches in the monthly counter, and releases the unused predictions.

One write increases the counter by the reserved number, and adds an entry with this number and the
batch id to the counter's row. So after a lost response, the store can check whether the write was
made. A repeated release finds no entry, and changes nothing.
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
    """Reserves predictions for batches. Reserved and single predictions have one common limit."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def reserve(self, batch: Batch, limit: int, expires_at: datetime) -> tuple[int, int]:
        """Reserve one prediction per line of a batch.

        If too few predictions are left, a batch with `is_partial` gets the predictions that are
        left, and any other batch gets none.

        A repeated call for a batch returns the first reservation. `limit` is the maximum number of
        predictions in the batch's month.

        Returns:
            The number of predictions reserved for the batch, and the number of other predictions
                that are counted in the month.

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

    def settle(self, batch: Batch, counted: int) -> int:
        """Release the predictions reserved for a batch, except `counted` predictions. Idempotent.

        Returns:
            The number that was reserved; 0 if there was no reservation or it was settled before.

        Raises:
            StorageUnavailable: the outcome is unknown; call again.
        """
        row = _row(batch)
        entry = _entry_of(row, batch.batch_id) if refresh(row) else ""
        if not entry:
            return 0
        actions: list[Action] = [
            QuotaRow.used.add(counted - _count(entry)),
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
    """Store a reservation; return False if `row` counts over `most_before` predictions already."""
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
    """Repeat a write until its outcome is certain; return False if its condition was not met."""
    try:
        return repeated(write, is_done)
    except (OutcomeUnknown, PynamoDBException) as error:
        raise StorageUnavailable from error


def _entry_of(row: QuotaRow, batch_id: str) -> str:
    mark = f"{batch_id}#"
    return next((entry for entry in row.batches or () if entry.startswith(mark)), "")


def _count(entry: str) -> int:
    return int(entry.rpartition("#")[2])
