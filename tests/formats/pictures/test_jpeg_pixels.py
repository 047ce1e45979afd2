"""Scale and memory of JPEG decoding."""

from __future__ import annotations

import pytest

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures.jpeg_file import JpegFile, read_jpeg
from chalicelib.formats.pictures.jpeg_pixels import choose_scale, decode_jpeg, verify_jpeg
from tests.formats.drawn import encoded, scene


def _jpeg(width: int, height: int, whole_bytes: int = 0) -> JpegFile:
    """Return the facts of a JPEG of this size."""
    return JpegFile(width, height, 1, whole_bytes, b"")


@pytest.mark.parametrize(
    ("side", "least", "scale"),
    [(640, 320, 2), (639, 320, 1), (2560, 320, 8), (5000, 320, 8), (100, 320, 1), (1, 1, 1)],
)
def test_choose_scale_when_a_side_is_needed(side: int, least: int, scale: int) -> None:
    """The strongest reduction that keeps the required side is chosen."""
    assert choose_scale(_jpeg(side, 6000), least) == scale


@pytest.mark.parametrize(
    ("pixels", "whole_bytes", "scale"),
    [(41_000_000, 0, 1), (50_000_000, 0, 2), (50_000_000, 200_000_000, 2), (10**7, 10**8, 1)],
)
def test_choose_scale_when_all_pixels_are_asked_for(
    pixels: int, whole_bytes: int, scale: int
) -> None:
    """Full size is used if coefficients, image and result fit into memory."""
    assert choose_scale(_jpeg(pixels // 5000, 5000, whole_bytes), None) == scale


def test_choose_scale_when_the_coefficients_alone_are_too_large() -> None:
    """A progressive JPEG too large at any scale is refused with its memory and the limit."""
    with pytest.raises(BadRequest) as caught:
        choose_scale(_jpeg(7071, 7071, 300_000_000), 320)

    assert "takes 300 MB to decode; at most 280 MB are allowed" in caught.value.message


@pytest.mark.parametrize("size", [(1, 1), (7, 9), (15, 17), (16, 8), (23, 50)])
def test_decode_jpeg_when_small(size: tuple[int, int]) -> None:
    """Every reduction keeps at least the required side."""
    jpeg = read_jpeg(encoded(scene(*size), "JPEG"))

    verify_jpeg(jpeg)
    for least in range(1, min(size) + 2):
        height, width, channels = decode_jpeg(jpeg, least).shape
        assert min(min(size), least) <= min(height, width) <= min(size)
        assert channels == 3
