"""Reads the file of 4-bit weights of multilingual-e5-small.

The file has a header with sizes, a tokeniser, a directory of tensors, and the tensors: float32
vectors, and matrices in blocks of 32 weights that share a scale (Q4_0).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from chalicelib.domain.common.arrays import Ints, Singles
from infra.downloads.errors import BrokenFile

BLOCK = 32
_MAGIC = b"E5S1"
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("pairs", "u1", (BLOCK // 2,))])
_HEADER = struct.Struct("<4sI7ifi")  # magic, version, seven sizes, epsilon, block
_TOKENISER = struct.Struct("<5iQ")  # pieces, four special ids, bytes of the pieces
_NORMALISATION = struct.Struct("<iI")  # entries, bytes
_ENTRY = struct.Struct("<BIQQ")  # type, values, offset, bytes
_MIDDLE = 8  # the four bits of zero


class FourBitWeights:
    """The tensors of a packed file, unpacked when they are read."""

    def __init__(self, path: Path) -> None:
        """Read the table of contents of the file; raise BrokenFile if it has another format."""
        try:
            self._data = np.memmap(path, np.uint8, "r")
            magic, _, width, layers, heads, *_, block = _HEADER.unpack(self._bytes(0, _HEADER.size))
            if magic != _MAGIC or block != BLOCK:
                raise BrokenFile(f"{path.name} is not a file of 4-bit weights.")
            self.width, self.layers, self.heads = int(width), int(layers), int(heads)
            self._entries = dict(self._read_entries())
        except (struct.error, ValueError) as error:
            raise BrokenFile(f"{path.name} cannot be read: {error}") from error

    def _read_entries(self) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
        """Yield each tensor's name, and its type, number of values, offset and size in bytes."""
        place = _HEADER.size
        pieces, *_, piece_bytes = _TOKENISER.unpack(self._bytes(place, _TOKENISER.size))
        place += _TOKENISER.size + 4 * (2 * pieces + 1) + piece_bytes
        _, skipped = _NORMALISATION.unpack(self._bytes(place, _NORMALISATION.size))
        place += _NORMALISATION.size + skipped
        (count,) = struct.unpack("<i", self._bytes(place, 4))
        place += 4
        for _ in range(count):
            (length,) = struct.unpack("<H", self._bytes(place, 2))
            name = self._bytes(place + 2, length).decode("ascii")
            place += 2 + length
            yield name, _ENTRY.unpack(self._bytes(place, _ENTRY.size))
            place += _ENTRY.size

    def _bytes(self, start: int, count: int) -> bytes:
        return self._data[start : start + count].tobytes()

    def vector(self, name: str) -> Singles:
        """Return a float32 tensor, flat; raise BrokenFile if the tensor is missing."""
        return np.frombuffer(self._content(name, 0), "<f4").astype(np.float32)

    def matrix(self, name: str, rows: Ints | None = None) -> Singles:
        """Return a matrix, float32 (rows, columns), or some of its rows.

        Raises:
            BrokenFile: the matrix is missing.
        """
        blocks = np.frombuffer(self._content(name, 1), _BLOCK_TYPE)
        across = self._columns(name) // BLOCK
        blocks = blocks.reshape(-1, across)
        chosen = blocks if rows is None else blocks[rows]
        pairs = chosen["pairs"]
        halves = np.concatenate([pairs & 0x0F, pairs >> 4], axis=-1).astype(np.int8) - _MIDDLE
        values = halves.astype(np.float32) * chosen["scale"].astype(np.float32)[..., None]
        unpacked: Singles = values.reshape(len(chosen), -1)
        return unpacked

    def _columns(self, name: str) -> int:
        # The product after the activation has four times as many inputs.
        return 4 * self.width if name.endswith(".fo.w") else self.width

    def _content(self, name: str, kind: int) -> bytes:
        found, _, start, count = self._entries.get(name, (-1, 0, 0, 0))
        content = self._bytes(start, count)
        if found != kind or len(content) != count:
            raise BrokenFile(f"The file of 4-bit weights has no complete tensor {name}.")
        return content
