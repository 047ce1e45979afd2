"""Predictions of batches in the month's counter: many by one write, and given back once.

A reservation leaves an entry in the row with it, the batch's id and the number. So a write whose
answer was lost is told from one that was never made, and what is left over is given back once,
however often that is tried.
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

_TRIES = 20
"""Others may count between a reading and its write; so often it is read again."""


@translate_errors
class BatchQuotaStore:
    """Reserves predictions for batches within the limit that single calls have."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def reserve(self, batch: Batch, limit: int, expires_at: datetime) -> tuple[int, int]:
        """Reserve a prediction for each line, all or none; a partial batch takes what is left.

        Args:
            batch: with its lines and month; asked again, it gets what it has.
            limit: predictions of the month.
            expires_at: when the counter may disappear.

        Returns:
            How many were reserved, 0 when they were refused; and how many others are counted.

        Raises:
            StorageUnavailable: they could not be reserved, or nobody knows whether they are.
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
        """Let some of a batch's predictions stay counted, and give the others back, once.

        Returns:
            How many it had reserved; 0 when that is settled already, or there were none.

        Raises:
            StorageUnavailable: nobody knows whether they were given back; ask again.
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
    """Write a reservation; False when too many are counted by now."""
    actions: list[Action] = [
        QuotaRow.used.add(_count(entry)),
        QuotaRow.batches.add({entry}),
        QuotaRow.expires_at.set(int(expires_at.timestamp())),
    ]
    room = QuotaRow.used.does_not_exist() | (QuotaRow.used <= most_before)
    is_new = ~QuotaRow.batches.contains(entry)
    return _written(
        lambda: row.update(actions=actions, condition=room & is_new),
        lambda: refresh(row) and entry in (row.batches or ()),
    )


def _written(write: Callable[[], object], is_done: Callable[[], bool]) -> bool:
    """Make a write until its outcome is certain."""
    try:
        return repeated(write, is_done)
    except (OutcomeUnknown, PynamoDBException) as error:
        raise StorageUnavailable from error


def _entry_of(row: QuotaRow, batch_id: str) -> str:
    """Return the entry of a batch in a row that was read; empty when there is none."""
    mark = f"{batch_id}#"
    return next((entry for entry in row.batches or () if entry.startswith(mark)), "")


def _count(entry: str) -> int:
    return int(entry.rpartition("#")[2])
