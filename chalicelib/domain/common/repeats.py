"""Calls with an `Idempotency-Key`: the first answer is stored, and repeated calls get this answer.

The first attempt reserves ids for the objects that the call creates, and stores them in the row of
the key. So a later attempt finds these objects, and does not create them again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.common.ids import new_string_id
from chalicelib.errors import Conflict, InvalidParameter, ServiceError

# Request header with the caller's key.
KEY_HEADER = "Idempotency-Key"
# Response header of a replayed answer.
REPLAYED_HEADER = "Idempotency-Replayed"
# Maximum number of characters of a key.
MAX_KEY = 255
# How long an answer is stored.
ANSWER_KEPT = timedelta(hours=24)
_SHOWN = 40

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class KeyReused(ServiceError):
    """The idempotency key was sent before with a different request."""

    status = 422
    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__(
            f"This {KEY_HEADER} came with another request in the last "
            f"{ANSWER_KEPT.total_seconds() / 3600:.0f} hours. Send a new key with each new request."
        )


class KeyUnderWay(Conflict):
    """Another call with the same idempotency key is still running."""

    code = "idempotency_key_under_way"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            f"The first call with this {KEY_HEADER} is under way. Send it again in "
            f"{retry_after_seconds} seconds to get its answer."
        )
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class KeptAnswer:
    """A stored answer to an API call, exactly as it was sent."""

    status: int
    headers: Mapping[str, str | list[str]]
    body: str


@dataclass(frozen=True)
class KeyedCall:
    """One attempt at a call that has an idempotency key."""

    account_id: str
    key: str
    request: str
    object_id: str
    """String id reserved for the call. It becomes the id of an object that the call creates."""
    began_at: datetime
    number: int = 0
    """Integer id reserved for the object that the call creates; 0 if it has no integer id."""
    attempt: int = 1
    """Number of this attempt, from 1. Each attempt that resumes an unanswered call adds 1."""
    answer: KeptAnswer | None = None

    @property
    def is_taken_over(self) -> bool:
        """Return whether an earlier attempt may have done the work already."""
        return self.attempt > 1


def checked_key(key: str) -> str:
    """Check an idempotency key and return its digest; the key itself is not stored.

    Raises:
        InvalidParameter: the key is empty, too long or contains characters that are not allowed.
    """
    if _KEY.fullmatch(key) is None:
        shown = key[:_SHOWN] + ("…" if len(key) > _SHOWN else "")
        raise InvalidParameter(
            KEY_HEADER,
            f"it has {len(key)} characters ({shown!r}); 1 to {MAX_KEY} visible characters of "
            "ASCII are allowed, such as a UUID.",
        )
    return hashlib.sha256(key.encode()).hexdigest()


# None while a call without a key is answered.
_CALL: ContextVar[KeyedCall | None] = ContextVar("presage_keyed_call", default=None)


@contextmanager
def under_key(call: KeyedCall) -> Iterator[None]:
    """Make `object_id` and `object_number` return the ids of `call` within the `with` block."""
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)


def object_id() -> str:
    """Return an id for a new object. It is the same in all attempts with one idempotency key."""
    call = _CALL.get()
    return new_string_id() if call is None else call.object_id


def object_number() -> int | None:
    """Return the integer id reserved for the call's new object; None if no id is reserved."""
    call = _CALL.get()
    return None if call is None else call.number or None


def began_at(now: datetime) -> datetime:
    """Return when the first attempt at the call began; `now` without an idempotency key."""
    call = _CALL.get()
    return now if call is None else call.began_at


def attempt() -> int:
    """Return the number of this attempt at a call, from 1; always 1 without an idempotency key."""
    call = _CALL.get()
    return 1 if call is None else call.attempt


def mark() -> str | None:
    """Return the id that marks rows written by this call; None without an idempotency key."""
    call = _CALL.get()
    return None if call is None else call.object_id
