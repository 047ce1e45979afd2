"""Counts calls per account and month by single conditional writes.

The write that counts a call also stores the call's token in the row. So if the response of DynamoDB
is lost, the token shows whether the write was made, and the store can repeat or undo the write any
number of times. The write also removes tokens of finished calls. The row has two sets of tokens,
because one write cannot add to a set and remove from the same set.
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
from chalicelib.domain.accounts.usage import GIVEN_BACK, NEVER_COUNTED, UNKNOWN
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

# Seconds between the tries of a write. Their sum is less than a caller waits.
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
# No try starts later than this after the first, because each may last until its own timeout.
PATIENCE_SECONDS = 5.0
# Seconds before an unknown outcome is settled. The first is longer than any try can take.
SETTLE_SECONDS = (15.0, 10.0, 10.0, 10.0)
# No call takes longer, so an older token is from a process that died.
_OLD_SECONDS = 600.0
# Maximum number of tokens of finished calls in memory, per row. Further tokens stay in the row
# until they are old.
_MOST_OVER = 100
# Tokens of finished calls that one write removes: few enough to keep a row below 1 KB.
_TAKEN_AT_ONCE = 10

Result = TypeVar("Result")


@translate_errors
class QuotaStore:
    """Counters that never exceed their limit, even if many callers count at the same time.

    Its DynamoDB client does not retry. The class itself decides which calls to repeat.
    """

    def __init__(self, clients: Clients, queues: Queues) -> None:
        clients.bind_tables()
        self._queues = queues
        self._lock = threading.Lock()
        self._over: dict[tuple[str, str, int], set[str]] = {}
        # Rows whose expiry is set. It is set only once, because each clause makes a write slower.
        self._dated: set[tuple[str, str]] = set()

    def reserve(
        self, account_id: str, kind: str, month: str, limit: int, expires_at: datetime, token: str
    ) -> int | None:  # fmt: skip
        """Count one call, unless the limit is reached.

        `kind` is PREDICTIONS or EXAMPLES of chalicelib/domain/accounts/usage.py. `month` has the
        form `2026-11`. `limit` is the maximum number of calls in the month. `token` is the id of
        the call, from `new_token`.

        Returns:
            The number of counted calls, including this one; None if the limit is reached.

        Raises:
            StorageUnavailable: the call was not counted, or the outcome is unknown. An unknown
                outcome is logged and settled later.
        """
        # A row that does not exist yet passes the condition below, whatever the limit is.
        if limit < 1:
            return None
        row = QuotaRow(account_id, period_of(kind, month))
        held, others = _sets(token)
        actions: list[Action] = [QuotaRow.used.add(1), held.add({token})]
        if (account_id, row.period) not in self._dated:
            actions.append(QuotaRow.expires_at.set(int(expires_at.timestamp())))
        if over := self._pop_finished(row, token):
            actions.append(others.delete(over))
        is_below = QuotaRow.used.does_not_exist() | (QuotaRow.used < limit)
        # The first try cannot find its own token in the row, so it does not check for the token:
        # each clause makes a write slower.
        conditions = [*[is_below & ~held.contains(token)] * len(PAUSES), is_below]
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
        """Subtract one call from the month in which it was counted. Idempotent.

        Returns:
            Whether the outcome is known. An unknown outcome is logged, and settled later.
        """
        try:
            self._remove_call(account_id, kind, month, token)
        except (PynamoDBException, StorageUnavailable, OutcomeUnknown):
            # Not raised: the caller handles an error that is more important than this one.
            log.warning("quota_release_unknown", account=account_id, kind=kind, month=month)
            self._settle_later(account_id, kind, month, token)
            return False
        return True

    def keep(self, account_id: str, kind: str, month: str, token: str) -> None:
        """Count a reserved call permanently, and let a later write remove the call's token."""
        with self._lock:
            tokens = self._over.setdefault(
                (account_id, period_of(kind, month), _side(token)), set()
            )
            # A token that is not collected here is removed once it is old.
            if len(tokens) < _MOST_OVER:
                tokens.add(token)

    def settle(self, job: SettleJob) -> None:
        """Check whether a call of unknown outcome was counted, and subtract the call if so.

        After an error, another attempt is scheduled. The job may be delivered more than once.
        """
        call = job.account_id, job.kind, job.month, job.token
        try:
            was_counted = self._remove_call(*call)
        except (PynamoDBException, StorageUnavailable, OutcomeUnknown):
            self._settle_later(*call, job.tries + 1)
            return
        _note_settlement(*call, GIVEN_BACK if was_counted else NEVER_COUNTED)

    def used(self, account_id: str, kind: str, month: str) -> int:
        """Return how many calls of a kind are counted for an account in a month."""
        row = QuotaRow(account_id, period_of(kind, month))
        return int(row.used) if refresh(row) else 0

    def add(
        self, account_id: str, kind: str, day: str, count: int, limit: int, expires_at: datetime
    ) -> bool:  # fmt: skip
        """Add `count` examples to the counter of a day; return False if it would exceed `limit`.

        Raises:
            StorageUnavailable: it is unknown whether the examples were counted.
        """
        actions: list[Action] = [
            QuotaRow.used.add(count),
            QuotaRow.expires_at.set(int(expires_at.timestamp())),
        ]
        is_below = QuotaRow.used.does_not_exist() | (QuotaRow.used <= limit - count)
        row = QuotaRow(account_id, period_of(kind, day))
        return count <= limit and _unthrottled(lambda: try_update(row, actions, is_below))

    def delete_all(self, account_id: str) -> None:
        """Delete the usage and the rates of an account."""
        for row in QuotaRow.query(account_id, consistent_read=True):
            row.delete()

    def _remove_call(self, account_id: str, kind: str, month: str, token: str) -> bool:
        """Subtract a call; return whether it was counted."""
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
        """Schedule a job that subtracts a call of unknown outcome. After several tries, give up."""
        if tries == len(SETTLE_SECONDS):
            _note_settlement(account_id, kind, month, token, UNKNOWN)
            return
        job = SettleJob(account_id=account_id, kind=kind, month=month, token=token, tries=tries)
        pause = SETTLE_SECONDS[tries]

        def settle_here() -> None:
            time.sleep(pause)
            self.settle(job)

        try:
            # A Lambda function is frozen after its response, so a queue worker has to do it.
            self._queues.send(DELETE, job, math.ceil(pause))
        except StorageUnavailable:
            threading.Thread(target=log.with_context(settle_here), daemon=True).start()

    def _pop_finished(self, row: QuotaRow, token: str) -> set[str]:
        """Return the tokens of finished calls that the next write removes.

        The set is empty if only a few tokens are collected, because each removal takes time.
        """
        key = (row.account_id, row.period, 1 - _side(token))
        with self._lock:
            # Each clause makes a write slower, so tokens are collected first.
            is_worth_it = len(self._over.get(key, ())) >= _TAKEN_AT_ONCE
            return self._over.pop(key) if is_worth_it else set()

    def _note_old(self, row: QuotaRow, token: str) -> None:
        """Collect the tokens that crashed processes left in a row; a later write removes them."""
        left = _old((row.held_b, row.held_a)[_side(token)] or ())
        if left:
            key = (row.account_id, row.period, 1 - _side(token))
            with self._lock:
                self._over.setdefault(key, set()).update(left[:_MOST_OVER])


def _note_settlement(account_id: str, kind: str, month: str, token: str, outcome: str) -> None:
    log.record(
        "settlement", account=account_id, kind=kind, month=month, token=token, outcome=outcome
    )


class OutcomeUnknown(Exception):
    """Raised when it is unknown whether a write was made."""


def repeated(write: Callable[[], Any], is_done: Callable[[], bool]) -> bool:
    """Repeat a write until its outcome is certain.

    Args:
        write: performs the write. Its condition must refuse a second write.
        is_done: reads whether the write was made; called after a lost response.

    Returns:
        False if the condition of the write was not met.

    Raises:
        OutcomeUnknown: the write may have been made.
        StorageUnavailable: the write was not made.
    """
    began, is_lost = time.monotonic(), False
    for pause in (*PAUSES, None):
        try:
            write()
        except PynamoDBException as error:
            if is_refused(error):
                # A refusal means that the limit is reached. After a lost response, it can also mean
                # that an earlier try succeeded.
                return is_lost and _ask(is_done)
            # A throttled write was certainly not made, so it can be tried again.
            is_lost = is_lost or not is_throttled(error)
            if pause is None or time.monotonic() - began > PATIENCE_SECONDS:
                raise (OutcomeUnknown if is_lost else StorageUnavailable)() from error
            time.sleep(pause)
        else:
            return True
    raise AssertionError("The last try ends the loop.")


def _ask(is_done: Callable[[], bool]) -> bool:
    try:
        return is_done()
    except PynamoDBException as error:
        raise OutcomeUnknown from error


def _holds(row: QuotaRow, token: str) -> bool:
    return refresh(row) and token in ((row.held_a, row.held_b)[_side(token)] or ())


def refresh(row: QuotaRow) -> bool:
    """Read a row again; return False if it does not exist."""
    try:
        _unthrottled(lambda: row.refresh(consistent_read=True))
    except QuotaRow.DoesNotExist:
        return False
    return True


def _unthrottled(call: Callable[[], Result]) -> Result:
    """Repeat a call while it is throttled."""
    for pause in PAUSES:
        try:
            return call()
        except PynamoDBException as error:
            if not is_throttled(error):
                raise
            time.sleep(pause)
    return call()


def _sets(token: str) -> tuple[Any, Any]:
    """Return the attribute that stores `token` (`held_a` or `held_b`), then the other attribute."""
    # DynamoDB refuses an update that adds to and removes from the same set.
    sets = QuotaRow.held_a, QuotaRow.held_b
    return sets[_side(token)], sets[1 - _side(token)]


def _side(token: str) -> int:
    return int(token[-1], 16) % 2


def _old(tokens: Iterable[str]) -> list[str]:
    # A token begins with the second in which it was made.
    latest = time.time() - _OLD_SECONDS
    return [token for token in tokens if int(token.partition("-")[0], 16) < latest]


def period_of(kind: str, month: str) -> str:
    """Return the sort key of a counter, such as `predictions#2026-11`."""
    return f"{kind}#{month}"
