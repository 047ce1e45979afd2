"""Base of all records: typed members, and the answer as it came."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, TypeVar

import msgspec

T = TypeVar("T", bound="Record")
_lock = threading.Lock()


class Record(msgspec.Struct, rename="camel", kw_only=True, dict=True, omit_defaults=True):
    """What an answer holds. Members have the API's names in snake case."""

    @property
    def raw(self) -> dict[str, Any]:
        """The JSON object as it came, with members that this version does not know."""
        found: dict[str, Any] = self.__dict__.get("raw_members") or msgspec.to_builtins(self)
        return found


def decode(members: dict[str, Any], kind: type[T]) -> T:
    """Make a record from the members of a JSON object, and keep them.

    Raises:
        msgspec.ValidationError: a member is missing or of another type.
    """
    _prepare(kind)
    record = msgspec.convert(members, kind)
    record.__dict__["raw_members"] = members
    return record


@cache
def _prepare(kind: type[Record]) -> None:
    """Have msgspec examine a record in one thread: two at a time end the process (0.22.0)."""
    with _lock:
        msgspec.json.Decoder(kind)
