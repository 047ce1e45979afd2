"""Pages of lists: `offset` and `count` in, at most 5 MB and a link to the next page out.

Contract section 1, Lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.common.limits import MAX_FUNCTION_BYTES, MAX_PAGE_BYTES
from chalicelib.domain.common.paging import ListPage
from chalicelib.errors import InvalidParameter


def wire_bytes(encoded: bytes) -> int:
    """Return the size of an encoded answer inside JSON, in bytes.

    Quotes and backslashes, of which a text may consist, take two bytes there.
    """
    return len(encoded) + encoded.count(b'"') + encoded.count(b"\\")


Item = TypeVar("Item")

FARTHEST = 2**53
"""Offsets beyond are past the end of any list, and read as this one."""

_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)


@dataclass(frozen=True)
class Window:
    """Which part of a list is asked for."""

    offset: int
    """Position of the first record, from 0."""
    count: int
    """Records of the page, at least 1."""


class ListRecord(msgspec.Struct):
    """The wrapper of every list, its records encoded already."""

    object: str
    data: list[msgspec.Raw]


class ScanRecord(ListRecord, rename="camel"):
    """The results of a scan, with the position where it continues."""

    next_offset: int | UnsetType


@dataclass(frozen=True)
class ListAnswer:
    """A page ready to be sent."""

    record: ListRecord
    """What the caller gets."""
    next_offset: int | None
    """Where the next page begins; None on the last."""
    count: int
    """Records a page, for the link to the next one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers of the answer."""


def window(query: Mapping[str, str], largest: int) -> Window:
    """Read `offset` and `count`; a count over the largest is clamped.

    Args:
        query: query parameters.
        largest: default and maximum of `count`.

    Raises:
        InvalidParameter: one of them is negative or no whole number, or `count` is 0.
    """
    offset = _whole(query, "offset", 0, 0)
    return Window(min(offset, FARTHEST), min(_whole(query, "count", largest, 1), largest))


def list_answer(
    page: ListPage[Item],
    record: Callable[[Item], Any],
    asked: Window,
    headers: Mapping[str, str] | None = None,
) -> ListAnswer:
    """Encode the records of a page until it would exceed 5 MB; at least one is kept.

    A page of many quotes ends sooner, because a function could not return it.
    """
    records = _encoded(page.items, record)
    has_more = page.has_more or len(records) < len(page.items)
    following = page.offset + len(records) if has_more else None
    return ListAnswer(ListRecord("list", records), following, asked.count, headers or {})


def scan_answer(
    items: Sequence[Item],
    positions: Sequence[int],
    next_offset: int | None,
    record: Callable[[Item], Any],
    asked: Window,
) -> ListAnswer:
    """Encode what a scan found, under the limits of `list_answer`.

    Args:
        items: what was found.
        positions: where, one for each.
        next_offset: where the scan continues; None at the end.
        record: makes the record of an item.
        asked: what was asked for.
    """
    records = _encoded(items, record)
    following = positions[len(records)] if len(records) < len(items) else next_offset
    answer = ScanRecord("list", records, UNSET if following is None else following)
    return ListAnswer(answer, following, asked.count)


def _encoded(items: Iterable[Item], record: Callable[[Item], Any]) -> list[msgspec.Raw]:
    """Encode records until they fill a page."""
    records: list[msgspec.Raw] = []
    budget = MAX_PAGE_BYTES - len(b'{"object":"list","data":[]}') + 1  # one comma less
    on_wire = MAX_FUNCTION_BYTES
    for item in items:
        encoded = msgspec.json.encode(record(item))
        budget -= len(encoded) + 1
        on_wire -= wire_bytes(encoded) + 1
        if records and min(budget, on_wire) < 0:
            break
        records.append(msgspec.Raw(encoded))
    return records


def _whole(query: Mapping[str, str], name: str, default: int, smallest: int) -> int:
    """Read one whole number."""
    text = query.get(name, "").strip()
    if not text:
        return default
    if not _WHOLE.fullmatch(text):
        raise InvalidParameter(name, f"expected a whole number, got '{text[:40]}'.")
    # A number too long for a 64-bit integer is as good as the farthest position.
    value = int(text) if len(text) < 19 else FARTHEST * (-1 if text[0] == "-" else 1)
    if value < smallest:
        raise InvalidParameter(name, f"it must be at least {smallest}, got {text[:40]}.")
    return value
