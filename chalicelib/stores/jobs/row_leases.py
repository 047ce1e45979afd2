"""Who owns an export, or a step of a batch: both are rows of one table with the same lease."""

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
    """Lends a row to one worker at a time; each owner raises its fence."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def take(
        self, row: ExportRow | BatchRow, fence: int, attempts: int, more: Iterable[Action] = ()
    ) -> bool:
        """Own a row that is not over; False when it is, or another owns it.

        Args:
            row: filled with what it holds then.
            fence: that of the last owner, as it was read.
            attempts: how often it was owned, as it was read.
            more: what is written with it.
        """
        kind, owner = type(row), secrets.token_hex(8)
        is_over = lease_is_over(kind.lease_until, to_milliseconds(self._clock()), self._longest)
        free = is_over & (kind.fence == fence)
        actions: list[Action] = [
            *self.longer(row),
            kind.lease_owner.set(owner),
            # Set, not added: a repeated call writes the same again.
            kind.attempts.set(attempts + 1),
            kind.fence.set(fence + 1),
            *more,
        ]
        mine = free | (kind.lease_owner == owner)
        return try_update(row, actions, kind.status.is_in(QUEUED, RUNNING) & mine)

    def longer(self, row: ExportRow | BatchRow) -> list[Action]:
        """Return what keeps a row for another lease."""
        until = to_milliseconds(self._clock()) + self._milliseconds
        return [type(row).lease_until.set(until)]
