"""Token buckets for rate limits: one row per account and cost class, shared by all processes.

A row stores one number: the time at which the bucket will be full again. Taking tokens moves this
time into the future (generic cell rate algorithm, ITU-T I.371).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pynamodb.expressions.condition import Condition

from chalicelib.domain.accounts.rates import Rate
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import QuotaRow

_ATTEMPTS = 5
_EPOCH = datetime.fromtimestamp(0, UTC)
_MICROSECOND = timedelta(microseconds=1)
# Largest difference between the clocks of two machines that is not treated as a clock error, in
# microseconds. Without it, the slower machine would fill the bucket that the faster one has
# emptied.
_SKEW = 5_000_000
# A bucket is full again long before, so a row that was not used for a day can be deleted.
_KEPT = timedelta(days=1)


@translate_errors
class RateStore:
    """Takes tokens from buckets that all processes share. Each token permits one call.

    No bucket is ever overdrawn.
    """

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def draw(self, account_id: str, cost: str, rate: Rate, max_tokens: int, now: datetime) -> int:
        """Take up to `max_tokens` tokens from a bucket.

        Each account has a bucket for each cost class. `rate` has the fill rate and the capacity of
        the bucket.

        Returns:
            The number of tokens taken; 0 if the bucket is empty.

        Raises:
            StorageUnavailable: the row cannot be read, or other processes changed it at every
                attempt.
        """
        row = QuotaRow(account_id, f"rate#{cost}")
        present, interval = (now - _EPOCH) // _MICROSECOND, rate.interval // _MICROSECOND
        latest = present + rate.burst_seconds * 1_000_000
        for _ in range(_ATTEMPTS):
            seen = _full_at(row)
            # The time comes from a clock that was set back since. It does not show how many calls
            # were taken, and the bucket would stay empty for as long as the clock was ahead.
            is_ahead = seen is not None and seen > latest + _SKEW
            full_at = min(max(present, 0 if is_ahead else seen or 0), latest)
            calls = min(max_tokens, (latest - full_at) // interval)
            if calls < 1:
                return 0
            actions = [
                QuotaRow.full_at.set(full_at + calls * interval),
                QuotaRow.expires_at.set(int((now + _KEPT).timestamp())),
            ]
            if try_update(row, actions, _is_unchanged(seen)):
                return calls
        raise StorageUnavailable


def _is_unchanged(full_at: int | None) -> Condition:
    return QuotaRow.full_at.does_not_exist() if full_at is None else QuotaRow.full_at == full_at


def _full_at(row: QuotaRow) -> int | None:
    """Return when the bucket will be full, in microseconds since 1970; None for a new bucket."""
    try:
        row.refresh(consistent_read=True)
    except QuotaRow.DoesNotExist:
        return None
    return None if row.full_at is None else int(row.full_at)
