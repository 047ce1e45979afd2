"""Limits of a picture and the errors that name them."""

from __future__ import annotations

import pytest

from chalicelib.errors import BadRequest, ServiceError, TooLarge, UnsupportedType
from chalicelib.formats.pictures.rules import broken, require_kind, require_size
from tests.formats.drawn import ENOUGH, encoded, scene


def test_require_kind_when_too_many_bytes() -> None:
    """One byte over the limit is refused with the documented text, before the bytes are read."""
    with pytest.raises(TooLarge) as caught:
        require_kind(bytes(ENOUGH + 1), ENOUGH)

    assert (caught.value.status, caught.value.code) == (413, "image_too_large")
    assert caught.value.message == (
        "The image has 5242881 bytes; at most 5242880 (5 MB) are allowed. Send a smaller image."
    )


def test_require_kind_when_exactly_at_the_limit() -> None:
    """A file exactly at the limit is accepted."""
    data = encoded(scene(), "PNG")

    assert require_kind(data, len(data)) == "png"


def test_require_kind_when_another_type() -> None:
    """A file of another type is refused with its type."""
    with pytest.raises(UnsupportedType) as caught:
        require_kind(encoded(scene(), "GIF"), ENOUGH)

    assert (caught.value.status, caught.value.code) == (415, "unsupported_image_type")
    assert caught.value.message == "The file is a GIF image; PNG and JPEG are supported."


def test_require_kind_when_empty() -> None:
    """An empty file is a 400, not a 415."""
    with pytest.raises(BadRequest) as caught:
        require_kind(b"", ENOUGH)

    assert (caught.value.status, caught.value.code) == (400, "empty_image")


@pytest.mark.parametrize("size", [(1, 1), (1, 100), (100, 1), (10_000, 5_000), (70_700, 707)])
def test_require_size_when_allowed(size: tuple[int, int]) -> None:
    """One pixel, 100 times as long as wide, and 50,000,000 pixels are allowed."""
    require_size(*size)


@pytest.mark.parametrize(
    ("size", "code", "said"),
    [
        ((10_000, 5_001), "too_many_pixels", "50010000 pixels (10000 x 5001); at most 50000000"),
        ((65_535, 65_535), "too_many_pixels", "4294836225 pixels"),
        ((101, 1), "image_too_narrow", "101 x 1 pixels; the longer side may be at most 100 times"),
        ((7, 701), "image_too_narrow", "7 x 701"),
        ((0, 5), "broken_image", "0 x 5"),
    ],
)
def test_require_size_when_refused(size: tuple[int, int], code: str, said: str) -> None:
    """Too many pixels and too narrow pictures are refused with both numbers."""
    with pytest.raises(BadRequest) as caught:
        require_size(*size)

    assert caught.value.code == code
    assert said in caught.value.message


def test_broken_when_made() -> None:
    """A broken image is a 400 with cause and remedy."""
    error = broken("it is truncated")

    assert isinstance(error, ServiceError)
    assert (error.status, error.code) == (400, "broken_image")
    assert error.message.startswith("The image cannot be read: it is truncated. Save it again")
