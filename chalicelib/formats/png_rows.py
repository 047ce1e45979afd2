"""Rows of a PNG, inflated and unfiltered a strip at a time, in memory that the header bounds.

Imported lazily, because it imports numpy and Pillow. Called by chalicelib/formats/png_pixels.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from chalicelib.formats.picture_rules import broken

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECE_BYTES = 65536
_LAST_FILTER = 4
# Modes of Pillow that give back every byte they are given; 16-bit colours take two readings,
# of the first and of the second byte of each value.
_MODES = {
    1: (("L", "L"),),
    2: (("LA", "LA"),),
    3: (("RGB", "RGB"),),
    4: (("RGBA", "RGBA"),),
    6: (("RGB", "RGB;16B"), ("RGB", "RGB;16L")),
    8: (("RGBA", "RGBA;16B"), ("RGBA", "RGBA;16L")),
}


class Inflater:
    """The uncompressed bytes of a picture, given out in the amounts that its header promises."""

    def __init__(self, coded: list[memoryview]) -> None:
        self._pieces = _cut(coded)
        self._stream = zlib.decompressobj()
        self._waiting: bytes | memoryview = b""

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes.

        Raises:
            BadRequest: the stream is damaged or ends before.
        """
        parts: list[bytes] = []
        while count:
            part = self._inflate(count)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _inflate(self, most: int) -> bytes:
        """Return at least one and at most `most` bytes.

        Raises:
            BadRequest: the stream is damaged or ends here.
        """
        while True:
            try:
                part = self._stream.decompress(self._waiting, most)
            except zlib.error as error:
                raise broken("its compressed data is damaged") from error
            self._waiting = self._stream.unconsumed_tail
            if part:
                return part
            if not self._waiting:
                self._waiting = self._next_piece()

    def _next_piece(self) -> memoryview:
        """Return more compressed bytes.

        Raises:
            BadRequest: there are none, or the stream has ended.
        """
        piece = None if self._stream.eof else next(self._pieces, None)
        if piece is None:
            raise broken("it holds less data than its header says")
        return piece


def _cut(coded: list[memoryview]) -> Iterator[memoryview]:
    """Yield the compressed data in small pieces: what is not consumed yet is copied each time."""
    for part in coded:
        for start in range(0, len(part), _PIECE_BYTES):
            yield part[start : start + _PIECE_BYTES]


def verify_rows(inflater: Inflater, rows: int, row_bytes: int) -> None:
    """Inflate rows without looking at more than their filters.

    Raises:
        BadRequest: they are incomplete or name an unknown filter.
    """
    at_once = max(1, _PIECE_BYTES * 4 // (row_bytes + 1))
    for top in range(0, rows, at_once):
        data = inflater.read(min(at_once, rows - top) * (row_bytes + 1))
        if max(data[:: row_bytes + 1]) > _LAST_FILTER:
            raise broken("a row names an unknown filter")


def unfilter(
    filtered: bytes, previous: NDArray[np.uint8] | None, row_bytes: int, pixel_bytes: int
) -> NDArray[np.uint8]:
    """Undo the filters of some rows, with Pillow's decoder.

    Args:
        filtered: Rows of one filter byte and `row_bytes` bytes each.
        previous: The row before them, unfiltered; None at the top of a picture or pass.
        row_bytes: Bytes of a row without its filter byte.
        pixel_bytes: Bytes from a value to the same value of the next pixel, at least 1.

    Returns:
        The rows' bytes, shape (rows, row_bytes).

    Raises:
        BadRequest: a row names an unknown filter.
    """
    # Rows are predicted from the one before: it leads the strip, itself without a filter.
    lead = b"" if previous is None else b"\0" + previous.tobytes()
    stream = zlib.compress(lead + filtered, 0)
    rows = (len(lead) + len(filtered)) // (row_bytes + 1)
    size = (row_bytes // pixel_bytes, rows)
    try:
        readings = [
            np.asarray(Image.frombytes(mode, size, stream, "zip", raw, 0)).reshape(rows, -1)
            for mode, raw in _MODES[pixel_bytes]
        ]
    except (ValueError, OSError) as error:
        raise broken("a row names an unknown filter") from error
    joined = readings[0] if len(readings) == 1 else np.stack(readings, axis=-1).reshape(rows, -1)
    return joined if previous is None else joined[1:]
