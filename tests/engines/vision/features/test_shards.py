"""Feature objects: equal bytes for equal rows, read whole or by row."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision.features.shards import (
    ShardEntry,
    dump_shard,
    head_bytes,
    read_head,
    read_shard,
)

VALUES = 50


def _shard(count: int) -> tuple[list[ShardEntry], list[np.ndarray]]:
    """Return entries and rows."""
    entries = [ShardEntry(n.to_bytes(2, "big") * 8, n % 3, (640 + n, 480)) for n in range(count)]
    rows = np.random.default_rng(0).normal(size=(count, VALUES)).astype(np.float16)
    return entries, list(rows)


@pytest.mark.parametrize("count", [1, 2, 64, 300])
def test_beginning_has_the_offsets_of_rows(count: int) -> None:
    """The first bytes of an object list its rows and their offsets."""
    entries, rows = _shard(count)
    content = dump_shard(entries, rows)

    found = read_head(content[: head_bytes(count)])

    assert found == read_shard(content)
    assert found.entries == entries
    assert found.row_bytes == 2 * VALUES
    for number, row in enumerate(rows):
        start = found.place(number)
        np.testing.assert_array_equal(np.frombuffer(content[start:][:100], np.float16), row)
    assert found.place(count) <= len(content)


def test_equal_rows_give_equal_bytes() -> None:
    """Equal rows give equal bytes."""
    assert dump_shard(*_shard(5)) == dump_shard(*_shard(5))


@pytest.mark.parametrize("place", range(0, 1_400, 61))
def test_damage_is_noticed(place: int) -> None:
    """A changed byte in the first rows, or a truncated end, is detected."""
    content = dump_shard(*_shard(8))
    damaged = bytearray(content)
    damaged[place] ^= 0xFF
    try:
        found = read_shard(bytes(damaged))
    except (ArtifactError, ValueError, KeyError):
        found = None
    # Not every byte of an archive means something; what is read must be what was written.
    assert found in (None, read_shard(content))
    with pytest.raises((ArtifactError, ValueError)):
        read_shard(content[: place + 10])


def test_other_bytes_are_no_shard() -> None:
    """Foreign bytes are refused."""
    for content in (b"", b"PK", b"PK\x03\x04" + bytes(100), bytes(5_000)):
        with pytest.raises(ValueError, match=r"shard|magic|EOF"):
            read_head(content)
