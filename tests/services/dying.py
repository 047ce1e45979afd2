"""Simulates the death of the process between two writes of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.builders import World

# Each is a call that changes data in the tables or in the bucket.
_WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PutObject", "DeleteObject")


class Died(BaseException):
    """Represents the death of the process during a call."""


@contextmanager
def dying(world: World, is_due: Callable[[list[str]], bool]) -> Iterator[list[str]]:
    """Kill the process at a write once the earlier writes match; yield their names."""
    seen: list[str] = []

    def note(model: Any, **_: Any) -> None:
        if model.name in _WRITES:
            if is_due(seen):
                raise Died
            seen.append(model.name)

    clients = world.stores.clients
    events = [client.meta.events for client in (clients.s3, clients.dynamodb)]
    for one in events:
        one.register("before-call", note)
    try:
        yield seen
    finally:
        for one in events:
            one.unregister("before-call", note)
