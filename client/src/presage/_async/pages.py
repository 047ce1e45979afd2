"""Paged lists. Pages are fetched while a list is iterated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from presage._async.transport import AsyncTransport
from presage._records import Record, decode
from presage._requests import Request, members, next_offset

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T", bound=Record)


class AsyncPages(Generic[T_co]):
    """An iterable of all records of a list. Each time you iterate, the records are fetched again.

    Example:
        async for model in client.language.models.list(status="SUCCEEDED"):
            print(model.name)
    """

    def __init__(
        self, transport: AsyncTransport, request: Request, make: Callable[[dict[str, Any]], T_co]
    ) -> None:
        self._transport = transport
        self._request = request
        self._make = make

    async def __aiter__(self) -> AsyncIterator[T_co]:
        """Iterate over all records, page by page."""
        offset: int | None = 0
        while offset is not None:
            # The first page needs no offset.
            query = {**self._request.query, "offset": offset or None}
            response = await self._transport.send(replace(self._request, query=query))
            for item in members(response)["data"]:
                yield self._make(item)
            offset = next_offset(response)

    async def list(self) -> list[T_co]:
        """Fetch all pages, and return all records."""
        return [item async for item in self]

    async def first(self) -> T_co | None:
        """Return the first record; None if the list is empty."""
        async for item in self:
            return item
        return None


def pages_of(transport: AsyncTransport, request: Request, kind: type[T]) -> AsyncPages[T]:
    """Return the paged list that `request` fetches. Its records have the type `kind`."""
    return AsyncPages(transport, request, lambda item: decode(item, kind))
