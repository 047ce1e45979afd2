"""Calls counted per account and month, by single conditional writes."""

from __future__ import annotations

from datetime import datetime

from pynamodb.exceptions import PynamoDBException

from chalicelib import log
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import is_refused, translate_errors, try_update
from chalicelib.stores.aws.tables import QuotaRow


@translate_errors
class QuotaStore:
    """Counters that never pass their limit, however many callers count at once.

    Quota rows have a client that repeats no call, because an `ADD` whose answer was lost may
    have been counted: a repeated one would count twice.
    """

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def reserve(
        self, account_id: str, kind: str, month: str, limit: int, expires_at: datetime
    ) -> int | None:
        """Count one call, unless the limit is reached.

        Args:
            account_id: who calls.
            kind: PREDICTIONS or EXAMPLES of chalicelib/domain/usage.py.
            month: name of the month, for example `2026-11`.
            limit: calls allowed in the month.
            expires_at: when the row may disappear.

        Returns:
            Calls counted with this one, or None when the limit is reached.
        """
        if limit < 1:
            return None
        row = QuotaRow(account_id, _period(kind, month))
        try:
            row.update(
                actions=[
                    QuotaRow.used.add(1),
                    QuotaRow.expires_at.set(int(expires_at.timestamp())),
                ],
                condition=QuotaRow.used.does_not_exist() | (QuotaRow.used < limit),
            )
        except PynamoDBException as error:
            # Anything else leaves open whether the call was counted: logged, never repeated.
            if is_refused(error):
                return None
            log.warning("quota_reservation_unknown", account=account_id, kind=kind, month=month)
            raise
        return int(row.used)

    def give_back(self, account_id: str, kind: str, month: str) -> bool:
        """Take one counted call back, into the month it was counted in.

        Returns:
            False when the outcome is unknown and the call may stay counted: that is logged, and
            the caller's own error is more important than this one.
        """
        row = QuotaRow(account_id, _period(kind, month))
        try:
            try_update(row, [QuotaRow.used.add(-1)], QuotaRow.used > 0)
        except PynamoDBException:
            log.warning("quota_give_back_unknown", account=account_id, kind=kind, month=month)
            return False
        return True

    def used(self, account_id: str, kind: str, month: str) -> int:
        """Read how many calls are counted."""
        try:
            row = QuotaRow.get(account_id, _period(kind, month), consistent_read=True)
        except QuotaRow.DoesNotExist:
            return 0
        return int(row.used)


def _period(kind: str, month: str) -> str:
    return f"{kind}#{month}"
