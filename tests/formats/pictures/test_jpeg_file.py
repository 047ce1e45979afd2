"""JPEG segments: facts, essential parts and refusals."""

from __future__ import annotations

import io
import time

import pytest
from PIL import Image

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures.jpeg_file import MAX_SCANS, MAX_SEGMENTS, read_jpeg
from tests.formats.drawn import encoded, jpeg_header, replace_frame, scene, segment, turned

_END = b"\xff\xd9"


def _refusal(data: bytes) -> BadRequest:
    """Return the error that reading raises."""
    with pytest.raises(BadRequest) as caught:
        read_jpeg(data)
    return caught.value


def test_read_jpeg_when_it_carries_extras() -> None:
    """Profiles, EXIF, comments and thumbnails are not passed to the decoder."""
    exif = Image.Exif()
    exif[0x0112] = 6
    plain = encoded(scene(), "JPEG")
    rich = encoded(scene(), "JPEG", exif=exif, icc_profile=bytes(90_000), comment=b"hello")

    jpeg = read_jpeg(rich)

    assert (jpeg.width, jpeg.height, jpeg.orientation) == (64, 48, 6)
    assert jpeg.essence == plain


@pytest.mark.parametrize(
    ("subsampling", "expected"),
    [(0, 3 * 8 * 6 * 128), (1, 2 * 8 * 6 * 128), (2, 8 * 6 * 128 * 3 // 2)],
)
def test_read_jpeg_when_progressive(subsampling: int, expected: int) -> None:
    """The memory of a progressive JPEG's coefficients is computed before decoding."""
    data = encoded(scene(), "JPEG", progressive=True, subsampling=subsampling)

    assert read_jpeg(data).whole_bytes == expected
    assert read_jpeg(encoded(scene(), "JPEG", subsampling=subsampling)).whole_bytes == 0


def test_read_jpeg_when_a_thumbnail_ends_inside() -> None:
    """The end marker of a thumbnail in EXIF does not end the image."""
    thumbnail = encoded(scene(16, 12), "JPEG")
    data = encoded(scene(), "JPEG")
    data = data[:2] + segment(0xE1, b"Exif\0\0" + thumbnail) + data[2:]

    assert read_jpeg(data).width == 64
    assert _refusal(data[:-40]).message.startswith("The image cannot be read: it is truncated.")


def test_read_jpeg_when_bytes_follow() -> None:
    """Bytes and images after the first image are ignored."""
    data = encoded(scene(), "JPEG")

    assert read_jpeg(data + encoded(scene(9, 9), "JPEG") + b"junk").essence == data


def test_read_jpeg_when_filling_stands_between() -> None:
    """Fill bytes and stray bytes between segments are skipped."""
    data = encoded(scene(), "JPEG")

    assert read_jpeg(data[:2] + b"\0\0\xff\xff\xff" + data[2:]).essence == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xd8\xff", "truncated"),
        (b"\xff\xd8\xff" + _END, "no image data"),
        (jpeg_header(8, 8) + _END, "no image data"),
        (b"\xff\xd8" + segment(0xDA, b"\0") + _END, "before its frame header"),
        (jpeg_header(8, 8) + jpeg_header(8, 8)[2:], "two frame headers"),
        (jpeg_header(8, 8, factor=0x51), "sampling factors"),
        (jpeg_header(8, 8, factor=0x10), "sampling factors"),
        (jpeg_header(0, 8), "0 x 8"),
        (b"\xff\xd8" + segment(0xC0, b"\x08\0\x08\0\x08"), "too short"),
        (b"\xff\xd8" + segment(0xC0, b"\x0c\0\x08\0\x08\x01\1\x11\0"), "1 components of 12 bits"),
        (b"\xff\xd8" + segment(0xC0, b"\x08\0\x08\0\x08\x02" + bytes(6)), "2 components"),
        (b"\xff\xd8\xff\xe0\0\1", "no length"),
        (b"\xff\xd8" + segment(0xFE, b"") * (MAX_SEGMENTS + 1), "segments"),
    ],
)
def test_read_jpeg_when_malformed(data: bytes, reason: str) -> None:
    """Each structural fault is named."""
    error = _refusal(data)

    assert error.code == "broken_image"
    assert reason in error.message


@pytest.mark.parametrize("frame", [0xC3, 0xC5, 0xC9, 0xCA, 0xCF])
def test_read_jpeg_when_of_an_unusual_process(frame: int) -> None:
    """Lossless, hierarchical and arithmetic JPEG are refused."""
    error = _refusal(replace_frame(encoded(scene(), "JPEG"), frame))

    assert "neither baseline nor progressive" in error.message


def test_read_jpeg_when_the_header_is_huge() -> None:
    """A header of 65,535 x 65,535 pixels is refused at once."""
    started = time.monotonic()
    error = _refusal(jpeg_header(65_535, 65_535) + bytes(4_000_000))

    assert error.code == "too_many_pixels"
    assert time.monotonic() - started < 0.5


def test_read_jpeg_when_it_repeats_scans() -> None:
    """The number of scans is limited, since each costs a pass over the image."""
    data = encoded(scene(), "JPEG", progressive=True)
    last = data[data.rindex(b"\xff\xc4") : -2]

    assert f"more than {MAX_SCANS} scans" in _refusal(data[:-2] + last * MAX_SCANS + _END).message


def test_read_jpeg_when_exif_comes_twice() -> None:
    """The first EXIF block is used."""
    data = turned(scene(), "JPEG", 3)
    second = turned(scene(), "JPEG", 8)
    start = second.index(b"\xff\xe1")
    length = int.from_bytes(second[start + 2 : start + 4], "big")
    both = data[:-2] + second[start : start + 2 + length] + _END

    assert read_jpeg(both).orientation == 3
    assert Image.open(io.BytesIO(both)).size == (64, 48)
