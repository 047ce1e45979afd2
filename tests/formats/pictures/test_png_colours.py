"""Stored values of every depth and colour type to RGB."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.formats.pictures.png_file import PngFile
from chalicelib.formats.pictures.png_pixels import to_rgb


def _rgb(depth: int, colour: int, row: bytes, width: int, **more: bytes) -> list[list[int]]:
    """Convert one stored row."""
    png = PngFile(width, 1, depth, colour, interlaced=False, **more)
    rows = np.frombuffer(row, np.uint8)[None]
    return to_rgb(png, rows, width)[0].tolist()


@pytest.mark.parametrize(
    ("depth", "row", "greys"),
    [
        (1, b"\xa0", [255, 0, 255]),
        (2, b"\x1b", [0, 85, 170, 255]),
        (4, b"\x0f\x70", [0, 255, 119]),
        (8, b"\x00\x7f\xff", [0, 127, 255]),
        (16, b"\x00\x00\x7f\xff\x80\x80\xff\xff\x01\x01", [0, 127, 128, 255, 1]),
    ],
)
def test_to_rgb_when_grey(depth: int, row: bytes, greys: list[int]) -> None:
    """Grey of any depth is stretched to 0 to 255; 16 bits are divided by 257, not clipped."""
    assert _rgb(depth, 0, row, len(greys)) == [[grey] * 3 for grey in greys]


def test_to_rgb_when_palette_is_transparent() -> None:
    """Entries are laid on white by their alpha; an index without an entry is black."""
    colours = _rgb(
        8, 3, b"\0\1\2\xff", 4, palette=bytes([9, 8, 7, 200, 0, 0, 1, 2, 3]), transparency=b"\0\x80"
    )

    assert colours == [[255, 255, 255], [227, 127, 127], [1, 2, 3], [0, 0, 0]]


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_to_rgb_when_palette_is_packed(depth: int) -> None:
    """Indexes of fewer bits are unpacked, the first pixel from the highest bits."""
    assert _rgb(depth, 3, b"\x80", 2, palette=bytes(3) + b"\x07" * 45)[0] != [0, 0, 0]
    assert _rgb(depth, 3, b"\x80", 2, palette=bytes(3) + b"\x07" * 45)[1] == [0, 0, 0]


@pytest.mark.parametrize(
    ("depth", "colour", "row", "expected"),
    [
        (8, 6, b"\x0a\x14\x1e\x00\x0a\x14\x1e\xff", [[255] * 3, [10, 20, 30]]),
        (8, 6, b"\x00\x00\x00\x80\x64\x64\x64\x80", [[127] * 3, [177] * 3]),
        (8, 4, b"\x0a\x00\x0a\xff", [[255] * 3, [10] * 3]),
        (16, 4, b"\x0a\x0a\x00\x00\x0a\x0a\xff\xff", [[255] * 3, [10] * 3]),
        (16, 6, b"\x01\x01\x02\x02\x03\x03\xff\xff" * 2, [[1, 2, 3], [1, 2, 3]]),
    ],
)
def test_to_rgb_when_alpha(depth: int, colour: int, row: bytes, expected: list[list[int]]) -> None:
    """Grey and colours with alpha, of 8 and 16 bits, are laid on white."""
    assert _rgb(depth, colour, row, 2) == expected


def test_to_rgb_when_one_colour_is_transparent() -> None:
    """The one transparent colour becomes white, compared in all its bits."""
    assert _rgb(8, 2, b"\1\2\3\1\2\4", 2, transparency=b"\0\1\0\2\0\3") == [[255] * 3, [1, 2, 4]]
    assert _rgb(8, 0, b"\1\2", 2, transparency=b"\xff\1") == [[255] * 3, [2] * 3]
    assert _rgb(16, 0, b"\1\1\1\2", 2, transparency=b"\1\1") == [[255] * 3, [1] * 3]
    assert _rgb(8, 2, b"\1\2\3", 1, transparency=b"\0\1") == [[1, 2, 3]]
