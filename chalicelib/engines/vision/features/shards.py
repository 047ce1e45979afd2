"""Stores features of several views of images in one object (shard).

The object begins with a list of its contents. The rows follow without compression, so that single
rows can be read.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.datasets.example import DIGEST_BYTES
from chalicelib.engines.artifact import dump, load

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Halves = npt.NDArray[np.float16]

_KIND = "features"
_VERSION = 1
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_MAGIC = b"PK\x03\x04"
_LAST = "rows.npy"
_FIXED_BYTES = 4096
_ENTRY_BYTES = DIGEST_BYTES + 2 + 8


@dataclass(frozen=True)
class ShardEntry:
    """Identifies the image and the view whose features a row of a shard contains."""

    digest: bytes
    """Digest of the image file, 16 bytes."""
    view: int
    """Number of the view, from 0."""
    size: tuple[int, int]
    """Width and height of the image as displayed, in pixels."""


@dataclass(frozen=True)
class Shard:
    """The list of the rows of a shard, without their features."""

    entries: list[ShardEntry]
    rows_at: int
    """Offset of the first row, in bytes."""
    row_bytes: int
    """Size of a row in bytes. Rows follow each other without gaps."""

    def place(self, number: int) -> int:
        """Return the offset of the row `number` in the shard, in bytes."""
        return self.rows_at + number * self.row_bytes


def dump_shard(entries: Sequence[ShardEntry], rows: Sequence[Halves]) -> bytes:
    """Return a shard as bytes for storage; equal arguments give equal bytes.

    Args:
        entries: image and view of each row.
        rows: features of each row, float16, shape (values,).

    Returns:
        An archive of four arrays. `digests`, uint8, shape (rows, 16): digest of each image file.
        `frames`, int32, shape (rows, 2): width and height. `numbers`, uint16, shape (rows,): number
        of the view. Last, `rows`, float16, shape (rows, values).
    """
    digests = b"".join(entry.digest for entry in entries)
    arrays: dict[str, Array] = {
        "digests": np.frombuffer(digests, np.uint8).reshape(len(entries), DIGEST_BYTES),
        "frames": np.array([entry.size for entry in entries], np.int32),
        "numbers": np.array([entry.view for entry in entries], np.uint16),
        "rows": np.stack(rows).astype(np.float16, copy=False),
    }
    return dump({"kind": _KIND, "version": _VERSION}, arrays)


def head_bytes(rows: int) -> int:
    """Return how many bytes `read_head` needs for a shard with `rows` rows."""
    return _FIXED_BYTES + rows * _ENTRY_BYTES


def read_shard(content: bytes) -> Shard:
    """Read and verify a whole shard; return its list of contents.

    Raises:
        ArtifactError, ValueError: the bytes are damaged.
    """
    load(content, _KIND, _VERSION)
    return read_head(content)


def read_head(content: bytes) -> Shard:
    """Read the list of contents of a shard from its first bytes.

    Args:
        content: at least the first `head_bytes` bytes.

    Raises:
        ValueError: these bytes are not the beginning of a shard.
    """
    arrays: dict[str, Array] = {}
    for name, start in _members(content):
        stream = io.BytesIO(content)
        stream.seek(start)
        if name == _LAST:
            np.lib.format.read_magic(stream)
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            return Shard(_entries(arrays), stream.tell(), shape[1] * dtype.itemsize)
        arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
    raise ValueError("These bytes are not a shard of features.")


def _entries(arrays: dict[str, Array]) -> list[ShardEntry]:
    digests = arrays["digests.npy"].tobytes()
    frames = arrays["frames.npy"].tolist()
    return [
        ShardEntry(
            digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES],
            view,
            tuple(frames[number]),
        )
        for number, view in enumerate(arrays["numbers.npy"].tolist())
    ]


def _members(content: bytes) -> Iterator[tuple[str, int]]:
    place = 0
    while place + _LOCAL_HEADER.size <= len(content):
        magic, *_, size, _, name_bytes, extra_bytes = _LOCAL_HEADER.unpack_from(content, place)
        if magic != _MAGIC:
            return
        place += _LOCAL_HEADER.size
        name = content[place : place + name_bytes].decode("ascii", "replace")
        place += name_bytes + extra_bytes
        yield name, place
        place += size
