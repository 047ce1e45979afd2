"""Leases of exports and of steps of batches, which are rows of one table."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.export import QUEUED, RUNNING
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.stores.aws.errors import try_update
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.tables import BatchRow, ExportRow


class RowLease:
    """Gives a row to one worker at a time; each owner increases its fence."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def take(
        self, row: ExportRow | BatchRow, fence: int, attempts: int, more: Iterable[Action] = ()
    ) -> bool:
        """Acquire a row; False when it has ended or has another owner.

        Args:
            row: row with its key; afterwards it has the written attributes.
            fence: the fence of the last owner, as read before.
            attempts: the number of attempts, as read before.
            more: further changes of the same write.
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
