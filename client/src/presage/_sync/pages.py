# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Paged lists. Pages are fetched while a list is iterated."""

from __future__ import annotations

from collections.abc import Iterator, Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from presage._sync.transport import Transport
from presage._records import Record, decode
from presage._requests import Request, members, next_offset

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T", bound=Record)


class Pages(Generic[T_co]):
    """An iterable of all records of a list. Each time you iterate, the records are fetched again.

    Example:
        for model in client.language.models.list(status="SUCCEEDED"):
            print(model.name)
    """

    def __init__(
        self, transport: Transport, request: Request, make: Callable[[dict[str, Any]], T_co]
    ) -> None:
        self._transport = transport
        self._request = request
        self._make = make

    def __iter__(self) -> Iterator[T_co]:
        """Iterate over all records, page by page."""
        offset: int | None = 0
        while offset is not None:
            # The first page needs no offset.
            query = {**self._request.query, "offset": offset or None}
            response = self._transport.send(replace(self._request, query=query))
            for item in members(response)["data"]:
                yield self._make(item)
            offset = next_offset(response)

    def list(self) -> list[T_co]:
        """Fetch all pages, and return all records."""
        return [item for item in self]

    def first(self) -> T_co | None:
        """Return the first record; None if the list is empty."""
        for item in self:
            return item
        return None


def pages_of(transport: Transport, request: Request, kind: type[T]) -> Pages[T]:
    """Return the paged list that `request` fetches. Its records have the type `kind`."""
    return Pages(transport, request, lambda item: decode(item, kind))
