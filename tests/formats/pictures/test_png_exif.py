"""Tests of EXIF orientation in a text chunk of a PNG."""

from __future__ import annotations

import zlib

import pytest

from chalicelib.formats.pictures.png_exif import standardize_orientation
from chalicelib.formats.pictures.reading import check_picture, read_picture
from tests.conversions import insert_chunk, with_raw_exif
from tests.formats.drawn import encoded, scene, turned

LIMIT = 5_000_000
PNG = encoded(scene(30, 20), "PNG")


@pytest.mark.parametrize("kind", [b"zTXt", b"tEXt"])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_raw_profile_rotates_like_the_standard_chunk(kind: bytes, orientation: int) -> None:
    """An image with a raw EXIF profile looks like the same image with the chunk eXIf."""
    raw = standardize_orientation(with_raw_exif(PNG, orientation, kind))
    other = turned(scene(30, 20), "PNG", orientation)

    assert check_picture(raw, LIMIT).orientation == orientation
    assert read_picture(raw, LIMIT).pixels.shape == read_picture(other, LIMIT).pixels.shape
    assert len(raw) <= len(with_raw_exif(PNG, orientation, kind))


def test_stored_images_are_read_as_before() -> None:
    """Reading alone ignores the raw profile, so that stored boxes keep their places."""
    assert check_picture(with_raw_exif(PNG, 6), LIMIT).orientation == 1


def test_the_standard_chunk_wins() -> None:
    """An image with both is returned unchanged."""
    both = with_raw_exif(turned(scene(30, 20), "PNG", 3), 6)

    assert standardize_orientation(both) == both


@pytest.mark.parametrize(
    "body",
    [
        b"Raw profile type exif\0",
        b"Raw profile type exif\0\0not deflated",
        b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n 9\nxyz!"),
        b"Raw profile type exif\0\0" + zlib.compress(b"0" * 50_000_000),
        b"Raw profile type icc\0\0" + zlib.compress(b"\nicc\n 2\n0000"),
    ],
    ids=["empty", "corrupt", "no digits", "zip bomb", "another profile"],
)
def test_malformed_profiles_change_nothing(body: bytes) -> None:
    """A profile that cannot be read, or that unpacks to gigabytes, leaves the image as it is."""
    image = insert_chunk(PNG, b"zTXt", body)

    assert standardize_orientation(image) == image
    assert standardize_orientation(image[:60]) == image[:60]


def test_other_files_stay_as_they_are() -> None:
    """A JPEG, a text and an upright image are returned unchanged."""
    for data in (encoded(scene(), "JPEG"), b"Raw profile type exif\0", with_raw_exif(PNG, 1)):
        assert standardize_orientation(data) == data
