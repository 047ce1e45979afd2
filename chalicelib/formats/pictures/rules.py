"""Limits of images, and the errors for images that exceed a limit."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.errors import BadRequest, TooLarge, UnsupportedType
from chalicelib.formats.pictures.content_type import HEAD_BYTES, explain_foreign, sniff
from chalicelib.formats.pictures.orientation import UPRIGHT

# Limit of width times height; decoding must fit into the memory of the function.
MAX_PIXELS = 50_000_000
# Limit of pixels for an image that is only read to be scaled down.
MAX_LARGE_PIXELS = 200_000_000
# Limit of the longer side divided by the shorter side.
MAX_ASPECT = 100


@dataclass(frozen=True)
class PictureFacts:
    """Type and size of an image according to its header."""

    kind: str
    """`png` or `jpeg`."""
    width: int
    """Width as displayed, after the rotation by EXIF, in pixels."""
    height: int
    """Height as displayed, after the rotation by EXIF, in pixels."""
    orientation: int = UPRIGHT
    """Value of the EXIF orientation tag, 1 to 8: how the stored image is rotated for display."""


def require_kind(data: bytes, max_bytes: int) -> str:
    """Check the size of an image file, and return its type: "png" or "jpeg".

    Raises:
        TooLarge: the file has more than `max_bytes` bytes.
        BadRequest: the file has 0 bytes.
        UnsupportedType: the bytes are not PNG or JPEG.
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes)
    if not data:
        raise BadRequest("The image is empty: it has 0 bytes. Send a PNG or JPEG.", "empty_image")
    kind = sniff(data[:HEAD_BYTES])
    if kind is None:
        raise UnsupportedType(
            f"The file is {explain_foreign(data[:HEAD_BYTES])}; PNG and JPEG are supported.",
            "unsupported_image_type",
        )
    return kind


def too_large(size_bytes: int, max_bytes: int) -> TooLarge:
    """Return the error for an image file of `size_bytes` bytes if `max_bytes` are allowed."""
    return TooLarge(
        f"The image has {size_bytes} bytes; at most {max_bytes} "
        f"({max_bytes / 1024**2:g} MB) are allowed. Send a smaller image.",
        "image_too_large",
    )


def require_size(width: int, height: int, max_pixels: int = MAX_PIXELS) -> None:
    """Raise an error if an image has no pixels, too many pixels, or is too long and narrow.

    Raises:
        BadRequest: the image is refused; the error text names its size, the limit and what to do.
    """
    if width < 1 or height < 1:
        raise broken(f"its header says {width} x {height} pixels")
    pixels = width * height
    if pixels > max_pixels:
        raise BadRequest(
            f"The image has {pixels} pixels ({width} x {height}); "
            f"at most {max_pixels} are allowed. Send a smaller image.",
            "too_many_pixels",
        )
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise BadRequest(
            f"The image has {width} x {height} pixels; the longer side may be at most "
            f"{MAX_ASPECT} times the shorter one. Cut the image.",
            "image_too_narrow",
        )


def broken(reason: str) -> BadRequest:
    """Return the error for an image that cannot be read. The error text contains `reason`."""
    return BadRequest(
        f"The image cannot be read: {reason}. Save it again as PNG or JPEG and send that.",
        "broken_image",
    )
