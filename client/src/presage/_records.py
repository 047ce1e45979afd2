"""Base class of all records: typed members, and the JSON object as received."""

from __future__ import annotations

import copy
import threading
from functools import cache
from typing import Any, TypeVar

import msgspec

from presage._api_keys import hide_keys

T = TypeVar("T", bound="Record")
_lock = threading.Lock()


class Record(msgspec.Struct, rename="camel", kw_only=True, dict=True, omit_defaults=True):
    """A JSON object of a response. Members have the API's names in snake case."""

    @property
    def raw(self) -> dict[str, Any]:
        """The JSON object as received, including members unknown to this client version."""
        # A record that the caller made has no received object.
        found: dict[str, Any] = self.__dict__.get("raw_members") or msgspec.to_builtins(self)
        return found

    def __repr__(self) -> str:
        """Return a text with the members, but without the secrets of API keys."""
        return hide_keys(super().__repr__())

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of `raw`: plain JSON types, under the API's names."""
        return copy.deepcopy(self.raw)


def decode(members: dict[str, Any], kind: type[T]) -> T:
    """Convert a JSON object to a record that also stores the object itself.

    Raises:
        msgspec.ValidationError: a member is missing or has a wrong type.
    """
    _prepare(kind)
    record = msgspec.convert(members, kind)
    # Not a member, so that comparisons and `repr` show only the declared ones.
    record.__dict__["raw_members"] = members
    return record


def request_id(record: Record) -> str:
    """Return the id of the request that returned a record; empty for an element of a list."""
    return str(record.__dict__.get("request_id", ""))


@cache
def _prepare(kind: type[Record]) -> None:
    """Prepare msgspec for a record class, one thread at a time.

    Two threads that prepare classes at the same time crash the process (msgspec 0.22.0).
    """
    with _lock:
        msgspec.json.Decoder(kind)
