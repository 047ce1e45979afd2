"""Scales images down to the limits of a dataset."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from chalicelib.formats.pictures.reading import measure_large_picture, read_large_picture
from chalicelib.formats.pictures.rules import MAX_PIXELS, PictureFacts

if TYPE_CHECKING:
    from PIL import Image

# Size limit of an image file that is scaled down.
MAX_SHRUNK_BYTES = 32 * 1024 * 1024
_PIXELS_A_BYTE = 4
# Limit of pixels of the result; no engine uses more.
_MAX_SHRUNK_PIXELS = 12_000_000
_QUALITY = 90
_SMALLER = 0.95


def shrink_picture(content: bytes, max_bytes: int) -> tuple[bytes, PictureFacts | None]:
    """Scale an image down until it is within the limits of bytes and pixels.

    Args:
        content: the file, at most `MAX_SHRUNK_BYTES` bytes.
        max_bytes: maximum size of the result in bytes.

    Returns:
        `content` and None if the file is within the limits. Otherwise, a JPEG, and the type and
        size of the original file. The JPEG has the displayed orientation and a white background.

    Raises:
        UnsupportedType: the content is not PNG or JPEG.
        BadRequest: the image is empty or damaged, has over 200,000,000 pixels, or is over 100 times
            as long as wide.
    """
    facts = measure_large_picture(content, MAX_SHRUNK_BYTES)
    pixels = facts.width * facts.height
    if len(content) <= max_bytes and pixels <= MAX_PIXELS:
        return content, None
    share = min(1.0, min(_PIXELS_A_BYTE * max_bytes, _MAX_SHRUNK_PIXELS) / pixels)
    return _encode(content, facts, math.sqrt(share), max_bytes), facts


def _encode(content: bytes, facts: PictureFacts, scale: float, max_bytes: int) -> bytes:
    """Return the image as a JPEG of at most `max_bytes` bytes, scaled by `scale` or less."""
    from PIL import Image

    least_side = max(1, math.floor(scale * min(facts.width, facts.height)))
    whole = Image.fromarray(read_large_picture(content, MAX_SHRUNK_BYTES, least_side).pixels)
    while True:
        written = _written(whole, _scaled(facts, scale))
        if len(written) <= max_bytes:
            return written
        scale *= _SMALLER * math.sqrt(max_bytes / len(written))


def _scaled(facts: PictureFacts, scale: float) -> tuple[int, int]:
    return max(1, round(scale * facts.width)), max(1, round(scale * facts.height))


def _written(image: Image.Image, size: tuple[int, int]) -> bytes:
    from PIL import Image

    small = image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()
