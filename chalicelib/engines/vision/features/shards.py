"""Features of some views of pictures as one object, whose rows can also be read one by one.

Written by the ingest and by training, read by training. The rows stand last and uncompressed, so
that the beginning of a shard tells what it holds and where each row lies.
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
    """One row of a shard."""

    digest: bytes
    """Digest of the picture file, 16 bytes."""
    view: int
    """Which view of it, from 0."""
    size: tuple[int, int]
    """Width and height of the picture as displayed, in pixels."""


@dataclass(frozen=True)
class Shard:
    """What a shard holds."""

    entries: list[ShardEntry]
    """Its rows."""
    rows_at: int
    """Where the first row lies, in bytes from the beginning."""
    row_bytes: int
    """Bytes of a row; one follows the other."""

    def place(self, number: int) -> int:
        """Return where a row lies, in bytes from the beginning."""
        return self.rows_at + number * self.row_bytes


def dump_shard(entries: Sequence[ShardEntry], rows: Sequence[Halves]) -> bytes:
    """Pack rows of features with what they show.

    Args:
        entries: one for each row.
        rows: float16, shape (values,) each.

    Returns:
        An archive of `digests` uint8 (rows, 16), `frames` int32 (rows, 2: width, height),
        `numbers` uint16 (rows,: view) and, last, `rows` float16 (rows, values); equal arguments
        give equal bytes.
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
    """Return how many bytes of a shard `read_head` needs for a maximum number of rows."""
    return _FIXED_BYTES + rows * _ENTRY_BYTES


def read_shard(content: bytes) -> Shard:
    """Read a whole shard, checking that no byte of it is damaged.

    Raises:
        ArtifactError: it is damaged.
        ValueError: it is damaged.
    """
    load(content, _KIND, _VERSION)
    return read_head(content)


def read_head(content: bytes) -> Shard:
    """Read what a shard holds from its first bytes.

    Args:
        content: at least `head_bytes` of it, or all.

    Returns:
        What it holds.

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
    raise ValueError("These bytes are no shard of features.")


def _entries(arrays: dict[str, Array]) -> list[ShardEntry]:
    """Put together what stands before the rows."""
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
    """Yield name and place of the members of a stored archive, from its first bytes."""
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
