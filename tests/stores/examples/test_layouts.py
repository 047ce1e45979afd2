"""Layouts map positions to chunks, before and after a correction."""

from __future__ import annotations

import pytest

from chalicelib.stores.examples.layouts import PLAIN, ChunkLayout, ChunkPart, load_layout

CORRECTED = ChunkLayout(((0, 100), (7, 60), (8, 41), (2, 30)), 9, True, ((b"d" * 16, 12),))


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 250])
def test_position_is_chunk_without_a_correction(count: int) -> None:
    """Without a layout, position // 100 is the chunk."""
    places = [(block.number, block.skip + n) for block in PLAIN.blocks(0, count) for n in
              range(block.size)]  # fmt: skip

    assert places == [divmod(position, 100) for position in range(count)]


def test_positions_follow_the_layout_and_then_chunks_of_a_hundred() -> None:
    """Examples added after a correction follow the layout in chunks of 100."""
    assert list(CORRECTED.blocks(95, 340)) == [
        ChunkPart(0, 95, 5),
        ChunkPart(7, 0, 60),
        ChunkPart(8, 0, 41),
        ChunkPart(2, 0, 30),
        ChunkPart(9, 0, 100),
        ChunkPart(10, 0, 9),
    ]
    assert list(CORRECTED.blocks(170, 171)) == [ChunkPart(8, 10, 1)]
    assert (CORRECTED.tail(231), CORRECTED.tail(330), CORRECTED.tail(331)) == (
        (231, 9),
        (231, 9),
        (331, 10),
    )


def test_layouts_are_read_as_they_were_written() -> None:
    """A layout is read back as it was written."""
    assert load_layout(CORRECTED.dump()) == CORRECTED
