"""Pages of lists: parses `offset` and `count`, limits pages to 5 MB, links the next page.

See contract, section 1, Lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.common.limits import MAX_FUNCTION_BYTES, MAX_PAGE_BYTES
from chalicelib.domain.common.paging import ListPage
from chalicelib.errors import InvalidParameter


def wire_bytes(encoded: bytes) -> int:
    """Return the size that an encoded answer has within the JSON of a Lambda response, in bytes."""
    # In the response, a quote or backslash takes two bytes, and a text may consist of them.
    return len(encoded) + encoded.count(b'"') + encoded.count(b"\\")


Item = TypeVar("Item")
Record = TypeVar("Record")

# Larger offsets are read as this one, which is past the end of any list.
FARTHEST = 2**53

_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)


@dataclass(frozen=True)
class Window:
    """The part of a list that a call requests."""

    offset: int
    """Position of the first record, from 0."""
    count: int
    """Maximum number of records, at least 1."""


class ListRecord(msgspec.Struct):
    """The body of a list answer. Its elements are already encoded as JSON."""

    object: str
    data: list[msgspec.Raw]


class ScanRecord(ListRecord, rename="camel"):
    """A page of search results, with the position from which the next call continues."""

    next_offset: int | UnsetType


@dataclass(frozen=True)
class ListAnswer(Generic[Record]):
    """A page of a list, to be sent as an answer."""

    record: ListRecord
    """The record that becomes the body: `object` and `data` with the page's elements."""
    next_offset: int | None
    """Offset of the next page; None on the last page."""
    count: int
    """Maximum number of records per page, for the link to the next page."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers."""


def window(query: Mapping[str, str], largest: int) -> Window:
    """Return the part of a list that the query parameters `offset` and `count` select.

    `largest` is the default and the maximum of `count`.

    Raises:
        InvalidParameter: a value is negative or not a whole number, or `count` is 0.
    """
    offset = _whole(query, "offset", 0, 0)
    return Window(min(offset, FARTHEST), min(_whole(query, "count", largest, 1), largest))


def list_answer(
    page: ListPage[Item],
    record: Callable[[Item], Record],
    window: Window,
    headers: Mapping[str, str] | None = None,
) -> ListAnswer[Record]:
    """Return a page of a list as an answer of at most 5 MB, but with at least one record."""
    records = _encoded(page.items, record)
    is_cut = len(records) < len(page.items)
    # After a cut page, hidden items are not passed: the next page may repeat some, but skips none.
    passed = len(records) if is_cut else len(records) + page.hidden
    following = page.offset + passed if page.has_more or is_cut else None
    return ListAnswer(ListRecord("list", records), following, window.count, headers or {})


def scan_answer(
    items: Sequence[Item],
    positions: Sequence[int],
    next_offset: int | None,
    record: Callable[[Item], Record],
    window: Window,
) -> ListAnswer[Record]:
    """Return a page of search results of at most 5 MB, but with at least one record.

    The search continues at `next_offset`, which is None at the end of the list.
    """
    records = _encoded(items, record)
    following = positions[len(records)] if len(records) < len(items) else next_offset
    answer = ScanRecord("list", records, UNSET if following is None else following)
    return ListAnswer(answer, following, window.count)


def _encoded(items: Iterable[Item], record: Callable[[Item], object]) -> list[msgspec.Raw]:
    """Encode records until the page is full."""
    records: list[msgspec.Raw] = []
    budget = MAX_PAGE_BYTES - len(b'{"object":"list","data":[]}') + 1  # one comma less
    # A page of many quotes ends sooner, because a function could not return it.
    on_wire = MAX_FUNCTION_BYTES
    for item in items:
        encoded = msgspec.json.encode(record(item))
        budget -= len(encoded) + 1
        on_wire -= wire_bytes(encoded) + 1
        # At least one record, so that a caller always makes progress.
        if records and min(budget, on_wire) < 0:
            break
        records.append(msgspec.Raw(encoded))
    return records


def _whole(query: Mapping[str, str], name: str, default: int, smallest: int) -> int:
    """Parse a query parameter as a whole number; raise InvalidParameter if that fails."""
    text = query.get(name, "").strip()
    if not text:
        return default
    if not _WHOLE.fullmatch(text):
        raise InvalidParameter(name, f"expected a whole number, got '{text[:40]}'.")
    # A number too long for 64 bits has the same effect as the farthest position.
    value = int(text) if len(text) < 19 else FARTHEST * (-1 if text[0] == "-" else 1)
    if value < smallest:
        raise InvalidParameter(name, f"it must be at least {smallest}, got {text[:40]}.")
    return value
