"""Feature rows are the same from the temporary file and the bucket."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from chalicelib.errors import TrainingFailed
from chalicelib.stores.examples.feature_rows import FeatureRows, row_key
from tests.builders import World

ROW = 16


def _bucket(world: World, count: int) -> bytes:
    """Write an object of rows."""
    content = b"head" + b"".join(bytes([number]) * ROW for number in range(count))
    world.stores.artifacts.put("rows", content)
    return content


def _filled(world: World, slots: int, count: int = 6) -> FeatureRows:
    """Add rows, of which `slots` fit into the file."""
    content = memoryview(_bucket(world, count))
    rows = FeatureRows(world.stores.artifacts, ROW, slots * ROW)
    for number in range(count):
        start = 4 + number * ROW
        rows.add(row_key(number, 1), ("rows", start), content[start : start + ROW])
    return rows


@pytest.mark.parametrize("slots", [0, 1, 5, 6, 100])
def test_every_row_is_read(world: World, slots: int) -> None:
    """Rows can be read in any order, from the file or the bucket."""
    rows = _filled(world, slots)

    assert len(rows) == 6
    assert rows.has_space == (slots > 6)
    for number in (5, 0, 3, 3, 1, 5):
        assert rows.get(row_key(number, 1)) == bytes([number]) * ROW
    assert row_key(3, 1) in rows
    assert row_key(3, 0) not in rows
    rows.close()


def test_rows_of_the_file_cost_no_call(world: World) -> None:
    """A row in the file is read without a bucket call."""
    rows = _filled(world, 6)
    world.stores.artifacts.delete("rows")

    assert rows.get(row_key(2, 1)) == bytes([2]) * ROW
    rows.close()


def test_recent_rows_are_kept_in_memory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows recently read from the bucket are cached; older ones are evicted."""
    monkeypatch.setattr("chalicelib.stores.examples.feature_rows.RECENT_BYTES", 2 * ROW)
    rows = _filled(world, 0)
    asked: list[int] = []
    get_range = world.stores.artifacts.get_range

    def counted(key: str, start: int, length: int) -> bytes | None:
        """Count and read."""
        asked.append((start - 4) // ROW)
        return get_range(key, start, length)

    monkeypatch.setattr(world.stores.artifacts, "get_range", counted)
    for number in (0, 1, 0, 2, 0, 1):
        assert rows.get(row_key(number, 1)) == bytes([number]) * ROW

    assert asked == [0, 1, 2, 1]
    rows.close()


def test_a_full_disk_is_survived(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk is smaller than configured, the other rows are read from the bucket."""
    written: list[int] = []
    pwrite = os.pwrite

    def full(file: int, row: Any, place: int) -> int:
        """Fail after two rows."""
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(place)
        return pwrite(file, row, place)

    monkeypatch.setattr(os, "pwrite", full)
    rows = _filled(world, 100)

    assert not rows.has_space
    assert [rows.get(row_key(n, 1))[0] for n in range(6)] == list(range(6))
    rows.close()


@pytest.mark.parametrize("content", [None, b"head"])
def test_row_that_is_gone(world: World, content: bytes | None) -> None:
    """A row whose object is gone ends the training with a remedy."""
    rows = _filled(world, 0)
    world.stores.artifacts.delete("rows")
    if content is not None:
        world.stores.artifacts.put("rows", content + bytes(20))

    with pytest.raises(TrainingFailed, match="Train again"):
        rows.get(row_key(5 if content is None else 1, 1))
    rows.close()


def test_a_row_is_taken_once(world: World) -> None:
    """A row computed by two workers is stored once."""
    rows = _filled(world, 6)
    rows.add(row_key(1, 1), ("other", 0), memoryview(bytes(ROW)))

    assert len(rows) == 6
    assert rows.get(row_key(1, 1)) == bytes([1]) * ROW
    rows.close()
