"""Objects of features: the same bytes for the same rows, read whole or row by row."""

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
    """Make entries and rows."""
    entries = [ShardEntry(n.to_bytes(2, "big") * 8, n % 3, (640 + n, 480)) for n in range(count)]
    rows = np.random.default_rng(0).normal(size=(count, VALUES)).astype(np.float16)
    return entries, list(rows)


@pytest.mark.parametrize("count", [1, 2, 64, 300])
def test_beginning_has_the_offsets_of_rows(count: int) -> None:
    """Its first bytes tell what an object holds, and every row lies where they say."""
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
    """Two workers that compute the same write the same."""
    assert dump_shard(*_shard(5)) == dump_shard(*_shard(5))


@pytest.mark.parametrize("place", range(0, 1_400, 61))
def test_damage_is_noticed(place: int) -> None:
    """A changed byte anywhere in the first rows, or a missing end, is not a shard."""
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
    """Foreign bytes have no beginning of a shard."""
    for content in (b"", b"PK", b"PK\x03\x04" + bytes(100), bytes(5_000)):
        with pytest.raises(ValueError, match=r"shard|magic|EOF"):
            read_head(content)
