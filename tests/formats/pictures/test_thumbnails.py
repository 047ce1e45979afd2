"""Small copies of pictures."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures.thumbnails import draw_thumbnail, read_for_thumbnail
from tests.pictures import draw, encoded


def small(content: bytes) -> Image.Image:
    """Make and open the thumbnail of a file."""
    return Image.open(io.BytesIO(draw_thumbnail(read_for_thumbnail(content))))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize(
    ("size", "expected"),
    [((1200, 900), (256, 192)), ((300, 3000), (26, 256)), ((40, 30), (40, 30))],
)
def test_longer_side_has_256_pixels_at_most(kind, size, expected):
    """The longer side has at most 256 pixels; smaller images keep their size."""
    made = small(draw(size=size, kind=kind))

    assert (made.format, made.size) == ("JPEG", expected)


def test_picture_is_upright():
    """A thumbnail is rotated upright and has no EXIF orientation."""
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = Image.new("RGB", (800, 400), (220, 40, 40))
    picture.paste((50, 70, 220), (0, 0, 400, 400))  # the left half, which is the top when turned

    made = small(encoded(picture, "JPEG", exif=exif))

    assert made.size == (128, 256)
    assert not made.getexif()
    top, bottom = made.getpixel((64, 20)), made.getpixel((64, 236))
    assert top[2] > 150 > top[0]
    assert bottom[0] > 150 > bottom[2]


def test_transparent_parts_are_white():
    """Transparent parts become white."""
    made = small(encoded(Image.new("RGBA", (400, 400), (0, 0, 0, 0))))

    assert made.getpixel((100, 100)) == (255, 255, 255)


def test_broken_picture_has_none():
    """An image that cannot be decoded is refused."""
    with pytest.raises(BadRequest):
        read_for_thumbnail(draw(size=(64, 64), kind="JPEG")[:200])
