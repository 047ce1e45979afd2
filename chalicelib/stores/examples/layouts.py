"""Chunk layouts, which list the chunks of a sequence of examples.

Until its first correction, a sequence has no layout, and position p is in chunk p // 100. A
correction writes the changed chunks under the next free numbers. It also writes a layout, which
lists the numbers and sizes of all chunks in order. Later examples are appended in chunks of 100,
counted from the end of the layout. Old chunks and layouts stay until no reader can use them.
"""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from chalicelib.domain.datasets.example import CHUNK_EXAMPLES


@dataclass(frozen=True, slots=True)
class ChunkPart:
    """Consecutive examples within one chunk."""

    number: int
    """Number of the chunk."""
    skip: int
    """Number of examples of the chunk that come before this part."""
    size: int
    """Number of examples."""


@dataclass(frozen=True)
class ChunkLayout:
    """The chunks of a sequence after its last correction; empty if there was no correction."""

    chunks: tuple[tuple[int, int], ...] = ()
    """Number and size of each chunk, in the order of the examples."""
    next: int = 0
    """Number of the first chunk that is not in `chunks`. It has the examples that follow the
    layout.
    """
    is_indexed: bool = False
    """Whether the digest index and `unindexed` together contain all examples in `chunks`."""
    unindexed: tuple[tuple[bytes, int], ...] = ()
    """Digest and id of each example that may be missing in the digest index."""

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(size for _, size in self.chunks))

    @property
    def covered(self) -> int:
        """Return the number of examples in the chunks of the layout."""
        return self._ends[-1] if self.chunks else 0

    def tail(self, count: int) -> tuple[int, int]:
        """Return the chunk to which an example is appended if the sequence has `count` examples.

        Returns:
            The position of the chunk's first example, and the number of the chunk.
        """
        full = (count - self.covered) // CHUNK_EXAMPLES
        return self.covered + full * CHUNK_EXAMPLES, self.next + full

    def blocks(self, start: int, stop: int) -> Iterator[ChunkPart]:
        """Yield the parts of chunks that contain the examples at `start` to `stop` - 1.

        `start` and `stop` are positions in the sequence. All these examples must be committed.
        """
        place = bisect_right(self._ends, start)
        while start < stop and place < len(self.chunks):
            number, size = self.chunks[place]
            skip = start - (self._ends[place] - size)
            taken = min(size - skip, stop - start)
            yield ChunkPart(number, skip, taken)
            start, place = start + taken, place + 1
        while start < stop:
            first, number = self.tail(start)
            skip = start - first
            taken = min(CHUNK_EXAMPLES - skip, stop - start)
            yield ChunkPart(number, skip, taken)
            start += taken

    def dump(self) -> bytes:
        """Convert the layout to bytes for storage in a row."""
        members = {
            "chunks": self.chunks,
            "next": self.next,
            "indexed": self.is_indexed,
            "unindexed": [(digest.hex(), number) for digest, number in self.unindexed],
        }
        return zlib.compress(json.dumps(members, separators=(",", ":")).encode())


# The layout of a sequence that was never corrected.
PLAIN = ChunkLayout()


def load_layout(packed: bytes) -> ChunkLayout:
    """Return the layout in the bytes that `ChunkLayout.dump` returned."""
    members = json.loads(zlib.decompress(packed))
    return ChunkLayout(
        tuple((number, size) for number, size in members["chunks"]),
        members["next"],
        members["indexed"],
        tuple((bytes.fromhex(digest), number) for digest, number in members["unindexed"]),
    )
