"""Rows of tables as JSON lines, read and written through the ordinary API.

A line is one item in DynamoDB's JSON. The key decides which part has it: a new or deleted row
changes one part only, so that the next dump writes little.
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

# Attributes in the client's form: a type letter and a value each.
Item = dict[str, Any]
# Items of one batch write; more are refused.
BATCH = 25
_PIECES = 64
_SPOOL_BYTES = 1 << 20
_TRIES = 8


def scan(dynamodb: Any, table: str) -> Iterator[Item]:
    """Yield every item of a table, with consistent reads."""
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    for page in pages:
        yield from page["Items"]


def pieces(items: Iterable[Item], keys: Sequence[str]) -> Iterator[tuple[bytes, int]]:
    """Turn items into pieces of JSON lines; yield each with its number of rows.

    Memory holds one piece; the rest waits on the disk when the table is large.

    Args:
        items: in any order.
        keys: names of the key attributes.
    """
    with ExitStack() as files:
        heaps = [files.enter_context(SpooledTemporaryFile(_SPOOL_BYTES)) for _ in range(_PIECES)]
        for item in items:
            heaps[piece_of(item, keys)].write(_line(item))
        for heap in heaps:
            heap.seek(0)
            lines = sorted(heap)
            if lines:
                yield b"".join(lines), len(lines)


def read_piece(content: bytes) -> list[Item]:
    """Read the items of a piece.

    Raises:
        BackupError: the part has another format.
    """
    try:
        lines = content.decode().split("\n")[:-1]
        return [
            {name: _from_json(value) for name, value in json.loads(line).items()} for line in lines
        ]
    except (ValueError, AttributeError, TypeError) as error:
        raise BackupError(f"A piece holds no rows of a table ({error}).") from error


def write(dynamodb: Any, table: str, items: Iterable[Item]) -> int:
    """Write items in batches; return how many.

    Raises:
        BackupError: the table keeps refusing some of them.
    """
    return _in_batches(dynamodb, table, ({"PutRequest": {"Item": item}} for item in items))


def delete(dynamodb: Any, table: str, items: Iterable[Item], keys: Sequence[str]) -> int:
    """Delete items in batches; return how many.

    Raises:
        BackupError: the table keeps refusing some of them.
    """
    found = ({name: item[name] for name in keys} for item in items)
    return _in_batches(dynamodb, table, ({"DeleteRequest": {"Key": key}} for key in found))


def _in_batches(dynamodb: Any, table: str, requests: Iterable[Item]) -> int:
    """Send requests by 25, and again what came back unprocessed."""
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
    """Send one batch until all of it is done."""
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
    """Write an item as one line, the same for equal items."""
    plain = {name: _to_json(value) for name, value in item.items()}
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def piece_of(item: Item, keys: Sequence[str]) -> int:
    """Decide by an item's key alone which piece holds it."""
    key = json.dumps([_to_json(item[name]) for name in keys])
    return hashlib.sha256(key.encode()).digest()[0] % _PIECES


def _to_json(value: Item) -> Item:
    """Write one attribute without bytes, sets in order."""
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
    """Read one attribute."""
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
