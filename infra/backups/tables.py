"""Rows of tables as JSON lines, read and written through DynamoDB's API.

A line is one item in DynamoDB's JSON. The items are distributed over the files of the backup
(pieces) by their keys. So a new or deleted row changes only one piece, and the next dump writes
little.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import Any

from infra.backups.folder import BackupError

# Attributes in the client's form: each has a type letter and a value.
Item = dict[str, Any]
# DynamoDB accepts no more items in one batch write.
BATCH = 25
_PIECES = 64
# Rows of a piece beyond this size are buffered on the disk, so that memory is bounded.
_SPOOL_BYTES = 1 << 20
_TRIES = 8


def scan(dynamodb: Any, table: str) -> Iterator[Item]:
    """Yield all items of a table, with consistent reads."""
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    for page in pages:
        yield from page["Items"]


def pieces(items: Iterable[Item], keys: Sequence[str]) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of JSON lines, each with its number of rows.

    Args:
        items: the items in any order.
        keys: names of the key attributes.
    """
    with ExitStack() as files:
        heaps = [files.enter_context(SpooledTemporaryFile(_SPOOL_BYTES)) for _ in range(_PIECES)]
        for item in items:
            heaps[piece_of(item, keys)].write(_line(item))
        for heap in heaps:
            heap.seek(0)
            # Sorted, so that equal rows give an equal piece, which is not written again.
            lines = sorted(heap)
            if lines:
                yield b"".join(lines), len(lines)


def pack(pieces: Iterable[tuple[bytes, int]]) -> bytes:
    """Join pieces into one byte string, each after a line with its numbers of rows and bytes."""
    return b"".join(b"%d %d\n%b" % (count, len(piece), piece) for piece, count in pieces)


def unpack(packed: bytes) -> Iterator[tuple[bytes, int]]:
    """Split what `pack` returned into its pieces; yield each with its number of rows."""
    place = 0
    while place < len(packed):
        end = packed.index(b"\n", place)
        count, size = map(int, packed[place:end].split())
        place = end + 1 + size
        yield packed[end + 1 : place], count


def read_piece(content: bytes) -> list[Item]:
    """Read the items of a piece; raise BackupError if the piece has another format."""
    try:
        lines = content.decode().split("\n")[:-1]
        return [from_wire(line) for line in lines]
    except (ValueError, AttributeError, TypeError) as error:
        raise BackupError(f"A piece holds no rows of a table ({error}).") from error


def from_wire(text: str) -> Item:
    """Parse an item from DynamoDB's JSON."""
    return {name: _from_json(value) for name, value in json.loads(text).items()}


def write(dynamodb: Any, table: str, items: Iterable[Item]) -> int:
    """Write items in batches; return their number.

    Raises:
        BackupError: the table refuses some of the items repeatedly.
    """
    return _in_batches(dynamodb, table, ({"PutRequest": {"Item": item}} for item in items))


def delete(dynamodb: Any, table: str, items: Iterable[Item], keys: Sequence[str]) -> int:
    """Delete items in batches; return their number.

    Raises:
        BackupError: the table refuses some of the items repeatedly.
    """
    found = ({name: item[name] for name in keys} for item in items)
    return _in_batches(dynamodb, table, ({"DeleteRequest": {"Key": key}} for key in found))


def _in_batches(dynamodb: Any, table: str, requests: Iterable[Item]) -> int:
    batch: list[Item] = []
    count = 0
    for request in requests:
        batch.append(request)
        count += 1
        if len(batch) == BATCH:
            _send(dynamodb.batch_write_item, table, batch)
            batch = []
    if batch:
        _send(dynamodb.batch_write_item, table, batch)
    return count


def _send(call: Callable[..., Any], table: str, batch: list[Item]) -> None:
    """Send one batch, and retry its unprocessed items."""
    for attempt in range(_TRIES):
        answer = call(RequestItems={table: batch})
        batch = answer.get("UnprocessedItems", {}).get(table, [])
        if not batch:
            return
        time.sleep(min(5.0, 0.1 * 2**attempt))
    raise BackupError(
        f"The table {table} refused {len(batch)} rows {_TRIES} times; it is throttled. Try later."
    )


def _line(item: Item) -> bytes:
    """Return an item as a line of JSON; lines of equal items are equal."""
    plain = {name: _to_json(value) for name, value in item.items()}
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def piece_of(item: Item, keys: Sequence[str]) -> int:
    """Return the index of the piece that contains an item, which depends only on the item's key."""
    key = json.dumps([_to_json(item[name]) for name in keys])
    return hashlib.sha256(key.encode()).digest()[0] % _PIECES


def _to_json(value: Item) -> Item:
    # Bytes are not JSON, and sets have no order, which would make equal rows different.
    ((kind, content),) = value.items()
    if kind == "B":
        return {kind: base64.b64encode(bytes(content)).decode()}
    if kind == "BS":
        return {kind: sorted(base64.b64encode(bytes(item)).decode() for item in content)}
    if kind in ("SS", "NS"):
        return {kind: sorted(content)}
    if kind == "L":
        return {kind: [_to_json(item) for item in content]}
    if kind == "M":
        return {kind: {name: _to_json(item) for name, item in content.items()}}
    return {kind: content}


def _from_json(value: Item) -> Item:
    ((kind, content),) = value.items()
    if kind == "B":
        return {kind: base64.b64decode(content)}
    if kind == "BS":
        return {kind: [base64.b64decode(item) for item in content]}
    if kind == "L":
        return {kind: [_from_json(item) for item in content]}
    if kind == "M":
        return {kind: {name: _from_json(item) for name, item in content.items()}}
    return {kind: content}
