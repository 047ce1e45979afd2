"""How much slow work of an account goes on at once, in all processes: entries in one row a kind.

So thirty calls that wait for a server that hangs hold no more threads than a few of them would,
whether they are of one account or of ten: one process has a limit of its own for all of them.
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

DOWNLOADS = "downloads"
"""Files that calls read from a URL."""
DOCUMENTS = "documents"
"""Documents that are read."""
DOWNLOADS_OF_A_PROCESS = 12
"""Files that one process reads from URLs for all accounts: half of the local stack's threads."""
_HELD_SECONDS = 60
"""An entry of a process that died is dropped after so long; no call takes longer."""


class InFlight:
    """Lets so many pieces of work of an account go on, and refuses the next.

    While the row is out of reach, all may go on.
    """

    def __init__(self, settings: Settings, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock
        self._limits: Mapping[str, int] = {
            DOWNLOADS: settings.max_downloads,
            DOCUMENTS: settings.max_documents,
        }
        self._free = BoundedSemaphore(DOWNLOADS_OF_A_PROCESS)

    @contextmanager
    def downloading(self, account_id: str) -> Iterator[None]:
        """Count a file that is read from a URL, for its account and for this process.

        Raises:
            RateExceeded: as many of the account go on as it may have.
            MachineBusy: this process reads as many as it may.
        """
        with self.running(account_id, DOWNLOADS):
            # Whoever waits holds a thread, and threads are what is short.
            if not self._free.acquire(blocking=False):
                raise MachineBusy("The file behind the URL", retry_after_seconds=2)
            try:
                yield
            finally:
                self._free.release()

    @contextmanager
    def running(self, account_id: str, kind: str) -> Iterator[None]:
        """Count a piece of work for as long as the block runs.

        Args:
            account_id: whose work.
            kind: DOWNLOADS or DOCUMENTS.

        Raises:
            RateExceeded: as many go on as the account may have.
        """
        limit, row = self._limits[kind], QuotaRow(account_id, f"running#{kind}")
        now = to_milliseconds(self._clock())
        entry = f"{now + 1000 * _HELD_SECONDS}-{new_string_id()}"
        if limit < 1 or not _enter(row, entry, limit, now):
            raise RateExceeded(
                f"{limit} {kind} of this account are going on, the most at the same time. Wait "
                "until one has finished, then try again.",
                retry_after_seconds=2,
            )
        try:
            yield
        finally:
            _leave(row, entry)


def _enter(row: QuotaRow, entry: str, limit: int, now: int) -> bool:
    """Add an entry; False when there is no place, even without those of processes that died."""
    running = QuotaRow.running
    count = size(running)  # type: ignore[no-untyped-call]
    has_place = running.does_not_exist() | (count < limit)
    actions = [running.add({entry}), QuotaRow.expires_at.set(now // 1000 + 86400)]
    try:
        if try_update(row, actions, has_place):
            return True
        row.refresh(consistent_read=True)
        # One that ends later than any new one was entered by a clock that has been set back.
        latest = now + 2000 * _HELD_SECONDS
        dead = {e for e in row.running or () if not now < int(e.partition("-")[0]) <= latest}
        if not dead:
            return False
        # Two writes, since one may not take from a set and add to it.
        try_update(row, [running.delete(dead)], running.exists())
        return try_update(row, actions, has_place)
    except PynamoDBException as error:
        log.error("in_flight_unknown", error, row=row.period)
        return True


def _leave(row: QuotaRow, entry: str) -> None:
    """Take an entry away; one that stays is dropped later."""
    try:
        row.update(actions=[QuotaRow.running.delete({entry})])
    except PynamoDBException as error:
        log.error("in_flight_left", error, row=row.period)
