"""Limits how much slow work runs at the same time, per account and per process.

Without a limit, thirty downloads from a server that hangs would block thirty threads. Each account
has one row per kind of work, with an entry for each running call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import BoundedSemaphore

from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.condition import size

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.ids import new_string_id
from chalicelib.errors import MachineBusy, RateExceeded
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import try_update
from chalicelib.stores.aws.tables import QuotaRow

# Kinds of work: files that calls read from a URL, and documents that are being read.
DOWNLOADS = "downloads"
DOCUMENTS = "documents"
# Deliveries to webhooks, which may take seconds each.
DELIVERIES = "deliveries"
DELIVERIES_AT_ONCE = 2
# URLs that one process reads at a time for all accounts: half of the local stack's threads, so
# that slow servers cannot hold all of them.
DOWNLOADS_OF_A_PROCESS = 12
# No call takes longer than this, so an older entry is from a process that died and is removed.
_HELD_SECONDS = 60


class InFlight:
    """Counts the running work of each account, and refuses work above the limit."""

    def __init__(self, settings: Settings, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock
        self._limits: Mapping[str, int] = {
            DOWNLOADS: settings.max_downloads,
            DOCUMENTS: settings.max_documents,
            DELIVERIES: DELIVERIES_AT_ONCE,
        }
        self._free = BoundedSemaphore(DOWNLOADS_OF_A_PROCESS)

    @contextmanager
    def downloading(self, account_id: str) -> Iterator[None]:
        """Count one download of the account and of this process while the `with` block runs.

        Raises:
            RateExceeded: the account has the maximum number of running downloads.
            MachineBusy: this process has the maximum number of running downloads.
        """
        with self.running(account_id, DOWNLOADS):
            # Refuse instead of waiting, because a waiting call would hold one of the few threads.
            if not self._free.acquire(blocking=False):
                raise MachineBusy("The file behind the URL", retry_after_seconds=2)
            try:
                yield
            finally:
                self._free.release()

    @contextmanager
    def running(self, account_id: str, kind: str) -> Iterator[None]:
        """Count one running call of an account while the `with` block runs.

        The kind is DOWNLOADS or DOCUMENTS.

        Raises:
            RateExceeded: the account has the maximum number of running calls of this kind.
        """
        limit, row = self._limits[kind], QuotaRow(account_id, f"running#{kind}")
        now = to_milliseconds(self._clock())
        entry = _entry(now + 1000 * _HELD_SECONDS)
        if limit < 1 or not _add_entry(row, entry, limit, now):
            raise RateExceeded(
                f"{limit} {kind} of this account are in progress, the maximum. Wait "
                "until one has finished, then try again.",
                retry_after_seconds=2,
            )
        try:
            yield
        finally:
            _remove_entry(row, entry)

    def begin_delivery(self, account_id: str) -> str:
        """Count a running webhook delivery; return its entry, or "" if the limit is reached."""
        row, now = QuotaRow(account_id, f"running#{DELIVERIES}"), to_milliseconds(self._clock())
        entry = _entry(now + 1000 * _HELD_SECONDS)
        return entry if _add_entry(row, entry, self._limits[DELIVERIES], now) else ""

    def end_delivery(self, account_id: str, entry: str, rest_seconds: float) -> None:
        """Stop counting a delivery as running after `rest_seconds`; 0 means at once.

        `entry` is the value that `begin_delivery` returned.
        """
        row = QuotaRow(account_id, f"running#{DELIVERIES}")
        if rest_seconds > 0:
            until = to_milliseconds(self._clock()) + int(1000 * rest_seconds)
            # Added first, so that no other delivery of the account takes the place in between.
            try_update(row, [QuotaRow.running.add({_entry(until)})], QuotaRow.running.exists())
        _remove_entry(row, entry)


def _entry(until: int) -> str:
    return f"{until}-{new_string_id()}"


def _add_entry(row: QuotaRow, entry: str, limit: int, now: int) -> bool:
    """Add an entry to a row; return False if the limit is reached. Expired entries do not count."""
    running = QuotaRow.running
    count = size(running)
    has_place = running.does_not_exist() | (count < limit)
    actions = [running.add({entry}), QuotaRow.expires_at.set(now // 1000 + 86400)]
    try:
        if try_update(row, actions, has_place):
            return True
        row.refresh(consistent_read=True)
        # An entry that ends later than a new one was written before the clock was set back.
        latest = now + 2000 * _HELD_SECONDS
        dead = {e for e in row.running or () if not now < int(e.partition("-")[0]) <= latest}
        if not dead:
            return False
        # Two writes, because one update cannot both remove from a set and add to it.
        try_update(row, [running.delete(dead)], running.exists())
        return try_update(row, actions, has_place)
    except PynamoDBException as error:
        # A limit that protects threads must not stop the work when its row is unavailable.
        log.error("in_flight_unknown", error, row=row.period)
        return True


def _remove_entry(row: QuotaRow, entry: str) -> None:
    """Remove an entry from a row. If that fails, the entry expires later."""
    try:
        row.update(actions=[QuotaRow.running.delete({entry})])
    except PynamoDBException as error:
        log.error("in_flight_left", error, row=row.period)
