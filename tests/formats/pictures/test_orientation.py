"""The EXIF orientation."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from chalicelib.formats.pictures.orientation import as_stored, displayed_size, read_orientation
from tests.formats.drawn import ORIENTATION, noise


def _exif(value: int, order: str = ">", kind: int = 3, tag: int = ORIENTATION) -> bytes:
    """Make an EXIF block of two entries, the second with this value."""
    code = {1: "B3x", 3: "H2x", 4: "I", 2: "4s"}[kind]
    letters = b"MM" if order == ">" else b"II"
    entries = struct.pack(order + "HHII", 0x010E, 2, 4, 0)
    entries += struct.pack(order + "HHI" + code, tag, kind, 1, value)
    return letters + struct.pack(order + "HIH", 42, 8, 2) + entries + bytes(4)


@pytest.mark.parametrize("value", range(1, 9))
@pytest.mark.parametrize("order", [">", "<"])
def test_read_orientation_when_given(value: int, order: str) -> None:
    """Both byte orders and all eight values are read."""
    assert read_orientation(_exif(value, order)) == value


@pytest.mark.parametrize("kind", [1, 4])
def test_read_orientation_when_of_another_whole_number(kind: int) -> None:
    """Orientation values stored in one or four bytes are read."""
    assert read_orientation(_exif(6, kind=kind)) == 6


@pytest.mark.parametrize(
    "exif",
    [
        b"",
        b"MM",
        b"XX\0*\0\0\0\x08",
        _exif(0),
        _exif(9),
        _exif(6, tag=0x0111),
        _exif(6)[:30],
        b"II*\0\xff\xff\xff\xff",
        b"II*\0\x08\0\0\0\xff\xff",
    ],
)
def test_read_orientation_when_broken(exif: bytes) -> None:
    """A missing, truncated or invalid block leaves the image upright."""
    assert read_orientation(exif) == 1


@given(st.binary(max_size=200), st.sampled_from([b"II*\0", b"MM\0*", b""]))
def test_read_orientation_when_random(rest: bytes, start: bytes) -> None:
    """Any block gives one of the eight values."""
    assert 1 <= read_orientation(start + rest) <= 8


@pytest.mark.parametrize("value", range(1, 9))
def test_as_stored_when_compared_with_pillow(value: int) -> None:
    """Writing stored rows through the view equals Pillow's exif_transpose."""
    image = noise(7, 4)
    image.getexif()[ORIENTATION] = value
    expected = np.asarray(ImageOps.exif_transpose(image))
    width, height = displayed_size(*image.size, value)

    pixels = np.zeros((height, width, 3), np.uint8)
    as_stored(pixels, value)[:] = np.asarray(image)

    assert pixels.tolist() == expected.tolist()
    assert Image.fromarray(pixels).size == (width, height)
