"""Stores the answers to calls with an idempotency key.

The rows are in a separate partition of the table of exports, so lists of exports do not read them.
Backups skip this table, because a restored answer could name an object that the backup does not
contain. Answers are encrypted, because some contain secrets that are returned only once.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import msgspec
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.common.decoding import prepare
from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.common.repeats import (
    ANSWER_KEPT,
    KeptAnswer,
    KeyedCall,
    KeyReused,
    KeyUnderWay,
)
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.rows import find_row
from chalicelib.stores.aws.secrets import Seal, SecretStore
from chalicelib.stores.aws.tables import KeyRow

# Upper bound in seconds of `Retry-After`, which is three times what the first call has taken.
_LONGEST_PAUSE = 30
# How long a row stays in the table after its stored answer is no longer returned.
_ROW_KEPT = timedelta(hours=1)


@translate_errors
class IdempotencyStore:
    """Claims idempotency keys by conditional writes, and stores the first answer of each key."""

    def __init__(
        self, clients: Clients, secrets: SecretStore, clock: Clock, settings: Settings
    ) -> None:
        clients.bind_tables()
        self._seal = Seal(secrets, "kept answers")
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def claim(
        self, account_id: str, key: str, request: str, reserve: Callable[[], int]
    ) -> KeyedCall:
        """Start an attempt at a call with an idempotency key.

        The result contains the answer of an earlier attempt, if an answer is stored.

        `key` and `request` are digests. `reserve` reserves an integer id for the object that the
        call creates, and returns the id; it returns 0 if the call needs no integer id.

        Raises:
            KeyReused: the key was used with another request.
            KeyUnderWay: another attempt is running.
        """
        row = _read(account_id, key)
        now = to_milliseconds(self._clock())
        if row is None or row.kept_until <= now:
            fresh = self._new_row(account_id, key, request, reserve())
            is_free = KeyRow.key.does_not_exist() | (KeyRow.kept_until <= now)
            if try_write(lambda: fresh.save(condition=is_free)):
                return _load(fresh)
            row = _read(account_id, key)
            if row is not None and row.object_id == fresh.object_id:
                # An earlier try of this write succeeded, but its response was lost.
                return _load(fresh)
        if row is None or row.request != request:
            raise KeyReused
        if row.sealed is not None and (answer := self._opened(row)):
            return replace(_load(row), answer=answer)
        return self._take_over(row, now)

    def keep(self, call: KeyedCall, answer: KeptAnswer) -> KeptAnswer:
        """Store the answer of an attempt, unless another attempt has stored an answer.

        Returns:
            The stored answer.
        """
        text = zlib.compress(msgspec.json.encode(answer))
        row = KeyRow(_owner(call.account_id), _range(call.key))
        sealed = self._seal.close(text, _place(row))
        actions: list[Action] = [KeyRow.sealed.set(sealed), KeyRow.lease_until.set(0)]
        if try_update(row, actions, _is_mine(call) & KeyRow.sealed.does_not_exist()):
            return answer
        found = _read(call.account_id, call.key)
        first = self._opened(found) if found is not None and found.sealed is not None else None
        return first or answer

    def release(self, call: KeyedCall) -> None:
        """End an attempt that has no answer to store. The next attempt can then start at once."""
        row = KeyRow(_owner(call.account_id), _range(call.key))
        try_update(row, [KeyRow.lease_until.set(0)], _is_mine(call))

    def _new_row(self, account_id: str, key: str, request: str, number: int) -> KeyRow:
        now = self._clock()
        until = now + ANSWER_KEPT
        return KeyRow(
            _owner(account_id),
            _range(key),
            request=request,
            object_id=new_string_id(),
            object_number=number,
            began_at=to_milliseconds(now),
            attempt=1,
            lease_until=to_milliseconds(now) + self._milliseconds,
            kept_until=to_milliseconds(until),
            expires_at=to_milliseconds(until + _ROW_KEPT) // 1000,
        )

    def _take_over(self, row: KeyRow, now: int) -> KeyedCall:
        """Claim a key for a new attempt, because the last attempt stored no answer in time."""
        attempt = int(row.attempt) + 1
        actions: list[Action] = [
            KeyRow.attempt.set(attempt),
            KeyRow.lease_until.set(now + self._milliseconds),
            KeyRow.sealed.remove(),
        ]
        is_over = lease_is_over(KeyRow.lease_until, now + 1, self._longest)
        is_over &= KeyRow.attempt == row.attempt
        is_owned = now < row.lease_until <= now + self._longest
        if not is_owned and try_update(row, actions, is_over):
            return _load(row)
        left = (int(row.lease_until) - now) / 1000
        seconds = min(3 * (now - int(row.began_at)) / 1000, left, _LONGEST_PAUSE)
        raise KeyUnderWay(max(1, math.ceil(seconds)))

    def _opened(self, row: KeyRow) -> KeptAnswer | None:
        """Decrypt the answer in a row; return None if the signing key has changed meanwhile."""
        text = self._seal.open(row.sealed, _place(row))
        if text is None:
            return None
        prepare(KeptAnswer)
        return msgspec.json.decode(zlib.decompress(text), type=KeptAnswer)


def _read(account_id: str, key: str) -> KeyRow | None:
    return find_row(KeyRow, _owner(account_id), _range(key))


def _owner(account_id: str) -> str:
    return f"{account_id}#keys"


def _range(key: str) -> str:
    return f"key#{key}"


def _place(row: KeyRow) -> bytes:
    return f"{row.owner} {row.key}".encode()


def _is_mine(call: KeyedCall) -> Condition:
    mine: Condition = (KeyRow.object_id == call.object_id) & (KeyRow.attempt == call.attempt)
    return mine


def _load(row: KeyRow) -> KeyedCall:
    return KeyedCall(
        account_id=row.owner.removesuffix("#keys"),
        key=row.key.removeprefix("key#"),
        request=row.request,
        object_id=row.object_id,
        began_at=from_milliseconds(row.began_at),
        number=int(row.object_number),
        attempt=int(row.attempt),
    )
