"""Chunks of a PNG: facts and refusals."""

from __future__ import annotations

import struct

import pytest

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures.png_file import PALETTE, read_png
from tests.formats.drawn import chunk, encoded, noise, png, scene, turned, zeros

_ROWS = zeros(4 * 13)
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _header(*values: int) -> bytes:
    """Make a PNG that is a header of these values and nothing else."""
    return _SIGNATURE + chunk(b"IHDR", struct.pack(">II5B", *values)) + chunk(b"IEND", b"")


def _refusal(data: bytes) -> BadRequest:
    """Return the error that reading raises."""
    with pytest.raises(BadRequest) as caught:
        read_png(data)
    return caught.value


def test_read_png_when_ordinary() -> None:
    """Size, depth, colour type and palette come from the chunks."""
    file = read_png(encoded(scene(30, 20, "P"), "PNG"))

    assert (file.width, file.height, file.depth, file.colour) == (30, 20, 8, PALETTE)
    assert len(file.palette) % 3 == 0
    assert file.orientation == 1


@pytest.mark.parametrize("prefix", [b"", b"Exif\0\0"])
def test_read_png_when_turned(prefix: bytes) -> None:
    """EXIF is read with and without its prefix, before or behind the data."""
    exif = b"MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\x05\0\0\0\0\0\0"
    before = png((4, 4), 8, 2, _ROWS, chunk(b"eXIf", prefix + exif))
    plain = png((4, 4), 8, 2, _ROWS)
    behind = plain[:-12] + chunk(b"eXIf", prefix + exif) + plain[-12:]

    assert [read_png(data).orientation for data in (before, behind, plain)] == [5, 5, 1]
    assert read_png(turned(scene(), "PNG", 7)).orientation == 7


def test_read_png_when_an_extra_chunk_is_damaged() -> None:
    """Transparency with a wrong checksum is passed over, as viewers do."""
    damaged = bytearray(chunk(b"tRNS", bytes(6)))
    damaged[-1] ^= 1

    assert read_png(png((4, 4), 8, 2, _ROWS, bytes(damaged))).transparency == b""
    assert read_png(png((4, 4), 8, 2, _ROWS, chunk(b"tRNS", bytes(6)))).transparency == bytes(6)


@pytest.mark.parametrize("place", ["header", "data"])
def test_read_png_when_an_essential_chunk_is_damaged(place: str) -> None:
    """A bit that fell over in header or data is found by the checksum."""
    data = bytearray(encoded(noise(20, 20), "PNG"))
    data[{"header": 19, "data": len(data) // 2}[place]] ^= 1

    assert "checksum" in _refusal(bytes(data)).message


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_SIGNATURE, "truncated"),
        (_SIGNATURE + chunk(b"IDAT", b""), "does not begin with a PNG header"),
        (_SIGNATURE + chunk(b"IHDR", b"short"), "does not begin with a PNG header"),
        (_SIGNATURE + b"\xff\xff\xff\xffIHDR" + bytes(20), "truncated"),
        (_header(4, 4, 8, 2, 0, 0, 0), "no image data"),
        (_header(0, 4, 8, 2, 0, 0, 0), "0 x 4"),
        (_header(4, 4, 3, 2, 0, 0, 0), "colour type 2 with 3 bits"),
        (_header(4, 4, 16, 3, 0, 0, 0), "colour type 3 with 16 bits"),
        (_header(4, 4, 8, 5, 0, 0, 0), "colour type 5"),
        (_header(4, 4, 8, 2, 1, 0, 0), "method is unknown"),
        (_header(4, 4, 8, 2, 0, 1, 0), "method is unknown"),
        (_header(4, 4, 8, 2, 0, 0, 2), "method is unknown"),
        (png((4, 4), 8, 3, _ROWS), "palette is missing"),
        (_header(7072, 7072, 8, 2, 0, 0, 0), "50013184 pixels (7072 x 7072); at most 50000000"),
        (_header(2**31, 2**31, 8, 2, 0, 0, 0), "pixels"),
    ],
)
def test_read_png_when_malformed(data: bytes, reason: str) -> None:
    """Each fault of the structure is named."""
    assert reason in _refusal(data).message


def test_read_png_when_cut_anywhere() -> None:
    """A file that lost its last bytes is found, however few they are."""
    data = encoded(scene(), "PNG")

    for end in range(8, len(data)):
        assert "truncated" in _refusal(data[:end]).message


def test_read_png_when_bytes_follow() -> None:
    """Bytes behind the end of the picture are left alone."""
    assert read_png(encoded(scene(), "PNG") + b"junk").width == 64
