"""Inflating and unfiltering rows of a PNG."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures.png_pixels import Inflater, unfilter, verify_rows
from tests.formats.drawn import filtered_rows, zeros


def _parts(data: bytes, size: int) -> list[memoryview]:
    """Cut bytes into parts of a size, with an empty one in front as some writers leave."""
    return [
        memoryview(b""),
        *(memoryview(data)[at : at + size] for at in range(0, len(data), size)),
    ]


@pytest.mark.parametrize("pixel_bytes", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("strip", [1, 2, 7, 40])
def test_unfilter_when_cut_into_strips(pixel_bytes: int, strip: int) -> None:
    """All five filters are undone byte for byte, wherever the strips begin."""
    row_bytes = 9 * pixel_bytes
    rows = np.random.default_rng(pixel_bytes).integers(0, 256, (40, row_bytes), dtype=np.uint8)
    filtered = filtered_rows(rows, pixel_bytes)

    previous, parts = None, []
    for top in range(0, len(rows), strip):
        part = filtered[top * (row_bytes + 1) : (top + strip) * (row_bytes + 1)]
        parts.append(unfilter(part, previous, row_bytes, pixel_bytes))
        previous = parts[-1][-1]

    assert np.concatenate(parts).tolist() == rows.tolist()


def test_unfilter_when_a_filter_is_unknown() -> None:
    """A row that names a filter over 4 is a broken picture."""
    with pytest.raises(BadRequest, match="unknown filter"):
        unfilter(b"\x05\0\0\0", None, 3, 3)
    with pytest.raises(BadRequest, match="unknown filter"):
        verify_rows(Inflater([memoryview(zlib.compress(b"\0\0\x05\0"))]), 2, 1)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_inflater_when_read_in_amounts(size: int) -> None:
    """Amounts may cross the borders of the parts."""
    data = bytes(range(256)) * 10
    inflater = Inflater(_parts(zlib.compress(data), size))

    assert b"".join(inflater.read(count) for count in (1, 255, 1000, 1304)) == data


@pytest.mark.parametrize(
    "coded",
    [b"", zlib.compress(bytes(9)), zlib.compress(bytes(100))[:-6], b"no zlib at all"],
)
def test_inflater_when_short_or_damaged(coded: bytes) -> None:
    """A stream that ends before its rows do, or is none, is a broken picture."""
    with pytest.raises(BadRequest) as caught:
        Inflater([memoryview(coded)]).read(100)

    assert caught.value.code == "broken_image"


def test_inflater_when_the_stream_holds_a_bomb() -> None:
    """Of a stream that inflates to 256 MB only what was asked for is inflated."""
    inflater = Inflater([memoryview(zeros(1 << 28))])

    assert inflater.read(1000) == bytes(1000)
    assert len(inflater._waiting) > 0
