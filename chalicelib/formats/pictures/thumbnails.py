"""Makes JPEG files: thumbnails of images, and images of document pages."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from chalicelib.domain.common.limits import MAX_DETECTION_IMAGE_BYTES
from chalicelib.formats.pictures.reading import read_picture

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.domain.documents.picture import Picture

# Limits of the longer side in pixels.
THUMBNAIL_SIDE = 256
PAGE_IMAGE_SIDE = 1_600
_QUALITY = 80
_ENOUGH = 0.75


def read_for_thumbnail(content: bytes) -> Picture:
    """Decode a stored image at a size that suffices for a thumbnail.

    Raises:
        BadRequest: the image is damaged.
        TooLarge: the image has more bytes than datasets accept.
        UnsupportedType: the image is not PNG or JPEG.
    """
    return read_picture(content, MAX_DETECTION_IMAGE_BYTES, THUMBNAIL_SIDE)


def suffices(picture: Picture) -> bool:
    """Return whether an image is large enough for a thumbnail, or was decoded at full size."""
    longer, whole = max(picture.pixels.shape[:2]), max(picture.width, picture.height)
    return bool(longer >= min(THUMBNAIL_SIDE, whole) * _ENOUGH)


def draw_thumbnail(picture: Picture) -> bytes:
    """Return a thumbnail of an image as JPEG. Images are never enlarged.

    Args:
        picture: the decoded image, which may already be scaled down.
    """
    return _draw(picture.pixels, THUMBNAIL_SIDE)


def draw_page_image(pixels: Pixels) -> bytes:
    """Return a page as JPEG with sides of at most 1,600 pixels. Pages are never enlarged."""
    return _draw(pixels, PAGE_IMAGE_SIDE)


def _draw(pixels: Pixels, side: int) -> bytes:
    from PIL import Image

    small = Image.fromarray(pixels)
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()
