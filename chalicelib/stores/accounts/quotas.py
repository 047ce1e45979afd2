"""Calls counted per account and month, by single conditional writes.

A write that counts a call leaves a token in the row with it, in one of two sets, and takes tokens
out of the other whose calls are over. So a write whose answer was lost is told from one that was
never made: it can be repeated, and taken back, any number of times.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.update import Action

from chalicelib import log
from chalicelib.domain.accounts.usage import GIVEN_BACK, NEVER_COUNTED, UNKNOWN, token_age
from chalicelib.domain.jobs.messages import SettleJob
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import (
    is_refused,
    is_throttled,
    translate_errors,
    try_update,
)
from chalicelib.stores.aws.tables import QuotaRow
from chalicelib.stores.jobs.queues import DELETE, Queues

PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Waits between two tries of one write, in seconds; short of what a caller waits."""
PATIENCE_SECONDS = 5.0
"""No try begins later than so long after the first: each may wait for its own time-out."""
SETTLE_SECONDS = (15.0, 10.0, 10.0, 10.0)
"""Waits before what is unknown is settled: the first is longer than any try is under way."""
# No call lasts so long: what is older belongs to a process that died.
_OLD_SECONDS = 600.0
# Beyond, tokens stay in their rows until they are old: memory has a bound.
_MOST_OVER = 100
_TAKEN_AT_ONCE = 10
"""Tokens of calls that are over which a write takes out: few enough for a row below 1 KB."""

Result = TypeVar("Result")


@translate_errors
class QuotaStore:
    """Counters that never pass their limit, however many callers count at once.

    Quota rows have a client that repeats no call, so that every try is one of these here.
    """

    def __init__(self, clients: Clients, queues: Queues) -> None:
        clients.bind_tables()
        self._queues = queues
        self._lock = threading.Lock()
        self._over: dict[tuple[str, str, int], set[str]] = {}
        # Rows that have their date: each clause of a write costs.
        self._dated: set[tuple[str, str]] = set()

    def reserve(
        self, account_id: str, kind: str, month: str, limit: int, expires_at: datetime, token: str
    ) -> int | None:  # fmt: skip
        """Count one call, unless the limit is reached.

        Args:
            account_id: who calls.
            kind: PREDICTIONS or EXAMPLES of chalicelib/domain/accounts/usage.py.
            month: name of the month, for example `2026-11`.
            limit: calls allowed in the month.
            expires_at: when the row may disappear.
            token: names the call, as `new_token` makes it.

        Returns:
            Calls counted with this one, or None when the limit is reached.

        Raises:
            StorageUnavailable: it could not be counted. Where that is not certain it is settled
                later, and logged.
        """
        # A row that is not there yet has room whatever the limit is.
        if limit < 1:
            return None
        row = QuotaRow(account_id, period_of(kind, month))
        held, others = _sets(token)
        actions: list[Action] = [QuotaRow.used.add(1), held.add({token})]
        if (account_id, row.period) not in self._dated:
            actions.append(QuotaRow.expires_at.set(int(expires_at.timestamp())))
        if over := self._take_over(row, token):
            actions.append(others.delete(over))
        room = QuotaRow.used.does_not_exist() | (QuotaRow.used < limit)
        # The first try cannot meet itself, and each clause of a condition costs.
        conditions = [*[room & ~held.contains(token)] * len(PAUSES), room]
        try:
            is_done = repeated(
                lambda: row.update(actions=actions, condition=conditions.pop()),
                lambda: _holds(row, token),
            )
        except OutcomeUnknown as error:
            log.warning("quota_reservation_unknown", account=account_id, kind=kind, month=month)
            self._settle_later(account_id, kind, month, token)
            raise StorageUnavailable from error
        if not is_done:
            return None
        self._note_old(row, token)
        self._dated.add((account_id, row.period))
        return int(row.used)

    def release(self, account_id: str, kind: str, month: str, token: str) -> bool:
        """Take one counted call back, into the month it was counted in; once, however often asked.

        Returns:
            False when the outcome is unknown and the call may stay counted: that is logged and
            settled later, and the caller's own error is more important than this one.
        """
        try:
            self._remove_call(account_id, kind, month, token)
        except (PynamoDBException, StorageUnavailable, OutcomeUnknown):
            log.warning("quota_release_unknown", account=account_id, kind=kind, month=month)
            self._settle_later(account_id, kind, month, token)
            return False
        return True

    def keep(self, account_id: str, kind: str, month: str, token: str) -> None:
        """Let a call stay counted; the next one takes its token out of the row."""
        with self._lock:
            tokens = self._over.setdefault(
                (account_id, period_of(kind, month), _side(token)), set()
            )
            # Tokens of processes that died are taken out by whoever sees them, when they are old.
            if len(tokens) < _MOST_OVER:
                tokens.add(token)

    def settle(self, job: SettleJob) -> None:
        """Take a call back that may be counted and has no answer, or try again later.

        Args:
            job: names it; may be delivered more than once.
        """
        call = job.account_id, job.kind, job.month, job.token
        try:
            was_counted = self._remove_call(*call)
        except (PynamoDBException, StorageUnavailable, OutcomeUnknown):
            self._settle_later(*call, job.tries + 1)
            return
        _note_settlement(*call, GIVEN_BACK if was_counted else NEVER_COUNTED)

    def used(self, account_id: str, kind: str, month: str) -> int:
        """Read how many calls are counted."""
        row = QuotaRow(account_id, period_of(kind, month))
        return int(row.used) if refresh(row) else 0

    def add(
        self, account_id: str, kind: str, day: str, count: int, limit: int, expires_at: datetime
    ) -> bool:  # fmt: skip
        """Count records of a day, all of them or none.

        Returns:
            False when the limit would be passed.

        Raises:
            StorageUnavailable: it is not known whether they were counted; they stay counted.
        """
        actions: list[Action] = [
            QuotaRow.used.add(count),
            QuotaRow.expires_at.set(int(expires_at.timestamp())),
        ]
        room = QuotaRow.used.does_not_exist() | (QuotaRow.used <= limit - count)
        row = QuotaRow(account_id, period_of(kind, day))
        return count <= limit and _unthrottled(lambda: try_update(row, actions, room))

    def _remove_call(self, account_id: str, kind: str, month: str, token: str) -> bool:
        """Take a call back if it is counted; tell whether it was."""
        row = QuotaRow(account_id, period_of(kind, month))
        held, _ = _sets(token)
        actions: list[Action] = [QuotaRow.used.add(-1), held.delete({token})]
        return repeated(
            lambda: row.update(actions=actions, condition=held.contains(token)),
            lambda: not _holds(row, token),
        )

    def _settle_later(
        self, account_id: str, kind: str, month: str, token: str, tries: int = 0
    ) -> None:
        """Have a call taken back soon that may be counted and has no answer."""
        if tries == len(SETTLE_SECONDS):
            _note_settlement(account_id, kind, month, token, UNKNOWN)
            return
        job = SettleJob(account_id=account_id, kind=kind, month=month, token=token, tries=tries)
        pause = SETTLE_SECONDS[tries]

        def settle_here() -> None:
            time.sleep(pause)
            self.settle(job)

        try:
            # A function stands still from its answer to its next call: somebody else has to do it.
            self._queues.send(DELETE, job, math.ceil(pause))
        except StorageUnavailable:
            threading.Thread(target=log.with_context(settle_here), daemon=True).start()

    def _take_over(self, row: QuotaRow, token: str) -> set[str]:
        """Take the tokens whose calls are over and which this write can take out."""
        key = (row.account_id, row.period, 1 - _side(token))
        with self._lock:
            # Each clause of a write costs, so some are collected first.
            is_worth_it = len(self._over.get(key, ())) >= _TAKEN_AT_ONCE
            return self._over.pop(key) if is_worth_it else set()

    def _note_old(self, row: QuotaRow, token: str) -> None:
        """Note the tokens that dead processes left, for the next write to take out."""
        left = _old((row.held_b, row.held_a)[_side(token)] or ())
        if left:
            key = (row.account_id, row.period, 1 - _side(token))
            with self._lock:
                self._over.setdefault(key, set()).update(left[:_MOST_OVER])


def _note_settlement(account_id: str, kind: str, month: str, token: str, outcome: str) -> None:
    """Write the line that the audit takes in."""
    log.record(
        "settlement", account=account_id, kind=kind, month=month, token=token, outcome=outcome
    )


class OutcomeUnknown(Exception):
    """Nobody knows whether a write was made."""


def repeated(write: Callable[[], Any], is_done: Callable[[], bool]) -> bool:
    """Make a write until its outcome is certain; False when its condition refused it.

    Args:
        write: may be made twice: its condition refuses the second.
        is_done: tells, after a try whose answer was lost, whether the write had been made.

    Raises:
        OutcomeUnknown: it was made or not.
        StorageUnavailable: it was not made.
    """
    began, is_lost = time.monotonic(), False
    for pause in (*PAUSES, None):
        try:
            write()
        except PynamoDBException as error:
            if is_refused(error):
                # Refused at once is the limit; after a lost answer the write may have met itself.
                return is_lost and _ask(is_done)
            # A throttled write is a write that was not made: certain, and worth another try.
            is_lost = is_lost or not is_throttled(error)
            if pause is None or time.monotonic() - began > PATIENCE_SECONDS:
                raise (OutcomeUnknown if is_lost else StorageUnavailable)() from error
            time.sleep(pause)
        else:
            return True
    raise AssertionError("The last try ends the loop.")


def _ask(is_done: Callable[[], bool]) -> bool:
    """Read whether a write was made.

    Raises:
        OutcomeUnknown: it cannot be read.
    """
    try:
        return is_done()
    except PynamoDBException as error:
        raise OutcomeUnknown from error


def _holds(row: QuotaRow, token: str) -> bool:
    """Tell whether a row holds a token, reading it anew."""
    return refresh(row) and token in ((row.held_a, row.held_b)[_side(token)] or ())


def refresh(row: QuotaRow) -> bool:
    """Read a row anew; False when there is none."""
    try:
        _unthrottled(lambda: row.refresh(consistent_read=True))
    except QuotaRow.DoesNotExist:
        return False
    return True


def _unthrottled(call: Callable[[], Result]) -> Result:
    """Make a call again while it is refused because there are too many."""
    for pause in PAUSES:
        try:
            return call()
        except PynamoDBException as error:
            if not is_throttled(error):
                raise
            time.sleep(pause)
    return call()


def _sets(token: str) -> tuple[Any, Any]:
    """Return the set that holds a token, and the other one: no write may change one set twice."""
    sets = QuotaRow.held_a, QuotaRow.held_b
    return sets[_side(token)], sets[1 - _side(token)]


def _side(token: str) -> int:
    return int(token[-1], 16) % 2


def _old(tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if token_age(token) > _OLD_SECONDS]


def period_of(kind: str, month: str) -> str:
    """Return the sort key of a month's counter."""
    return f"{kind}#{month}"
