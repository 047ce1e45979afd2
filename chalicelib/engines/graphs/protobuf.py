"""Reads and writes the Protocol Buffers encoding, as far as ONNX files use it.

A message is a sequence of fields. Each field is a number and a kind, then a value. Nested
messages, strings and tensors are length-prefixed bytes. The package `onnx` is not shipped, because
it is larger than the rest of the service.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

Piece = bytes | memoryview
# A message in pieces, so that tensors of a hundred megabytes are not copied.
Pieces = list[Piece]

_VARINT, _EIGHT_BYTES, _PREFIXED, _FOUR_BYTES = 0, 1, 2, 5
_MORE, _BITS = 0x80, 7


class Field(NamedTuple):
    """A field of a message."""

    number: int
    whole: memoryview
    """All bytes of the field, including its number."""
    content: memoryview
    """The bytes of a string, tensor or message; empty for an integer."""
    amount: int = 0
    """Value of the field if it is an integer."""

    @property
    def text(self) -> str:
        """Return the content of the field as a string."""
        return str(self.content, "utf-8")


def read_fields(message: memoryview) -> Iterator[Field]:
    """Yield the fields of a message in order.

    Raises:
        ValueError, IndexError: the message is damaged.
    """
    place = 0
    while place < len(message):
        start = place
        key, place = _read_varint(message, place)
        kind = key & 7
        if kind == _VARINT:
            amount, place = _read_varint(message, place)
            yield Field(key >> 3, message[start:place], message[:0], amount)
            continue
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(kind)
        if size is None:
            size, place = _read_varint(message, place)
        end = place + size
        yield Field(key >> 3, message[start:end], message[place:end])
        place = end


def _read_varint(message: memoryview, place: int) -> tuple[int, int]:
    """Read an integer of variable length; return it, and the index after its last byte."""
    number, shift = 0, 0
    while True:
        byte = message[place]
        number |= (byte & ~_MORE) << shift
        place += 1
        if byte < _MORE:
            return number, place
        shift += _BITS


def varint(number: int) -> bytes:
    """Encode an integer in groups of 7 bits, the lowest first; a negative integer as 64 bits."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number >= _MORE:
        found.append(number & 0x7F | _MORE)
        number >>= _BITS
    found.append(number)
    return bytes(found)


def number_field(number: int, value: int) -> bytes:
    """Encode the field `number` with an integer as its value."""
    return varint(number << 3 | _VARINT) + varint(value)


def text_field(number: int, value: str) -> bytes:
    """Encode the field `number` with a string as its value."""
    return b"".join(bytes_field(number, [value.encode()]))


def bytes_field(number: int, pieces: Sequence[Piece]) -> Pieces:
    """Encode the field `number` with bytes or a message as its value."""
    size = sum(len(piece) for piece in pieces)
    return [varint(number << 3 | _PREFIXED) + varint(size), *pieces]


def map_file(path: Path) -> memoryview:
    """Map a file into memory; processes that map the same file share its pages."""
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
