"""Decodes a JPEG with Pillow, and scales it down as far as the requested size allows.

Other modules import this one only when they need it, because it imports Pillow.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures.jpeg_file import JpegFile
from chalicelib.formats.pictures.orientation import as_stored, displayed_size
from chalicelib.formats.pictures.rules import MAX_PIXELS, broken

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Limit of coefficient bytes of a JPEG that cannot be decoded line by line.
MAX_WHOLE_BYTES = 280_000_000
# Limit of the bytes of coefficients, plus Pillow's four bytes a pixel and the result's three.
MAX_DECODE_BYTES = 290_000_000

_BYTES_A_PIXEL = 7
_SCALES = (1, 2, 4, 8)
_STRIP_ROWS = 64
_DECODER_ERRORS = (OSError, SyntaxError, ValueError, IndexError, TypeError, EOFError, struct.error)

# rules.py checks the size before every decoding; Pillow's own limit is a second safeguard.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


def choose_scale(jpeg: JpegFile, least_side: int | None) -> int:
    """Return the factor (1, 2, 4 or 8) by which a JPEG is scaled down while it is decoded.

    Args:
        jpeg: The image.
        least_side: Length in pixels to which the shorter side may be reduced; None for full size.
            An image that needs more than `MAX_DECODE_BYTES` is always scaled down.

    Raises:
        BadRequest: the coefficients of the image need too much memory.
    """
    if jpeg.whole_bytes > MAX_WHOLE_BYTES:
        raise BadRequest(
            f"The image is a progressive JPEG that takes {jpeg.whole_bytes // 1_000_000} MB to "
            f"decode; at most {MAX_WHOLE_BYTES // 1_000_000} MB are allowed. "
            "Save it as a baseline JPEG or make it smaller.",
            "too_many_pixels",
        )
    shorter = min(jpeg.width, jpeg.height)
    allowed = [s for s in _SCALES if s == 1 or (least_side and shorter // s >= least_side)]
    fitting = [s for s in _SCALES if _decode_bytes(jpeg, s) <= MAX_DECODE_BYTES]
    return max(allowed[-1], fitting[0] if fitting else _SCALES[-1])


def _decode_bytes(jpeg: JpegFile, scale: int) -> int:
    return jpeg.whole_bytes + _BYTES_A_PIXEL * jpeg.width * jpeg.height // scale**2


def verify_jpeg(jpeg: JpegFile) -> None:
    """Decode a JPEG at an eighth of its size; raise BadRequest if it is damaged."""
    _load(jpeg, choose_scale(jpeg, 1))


def decode_jpeg(jpeg: JpegFile, least_side: int | None) -> NDArray[np.uint8]:
    """Return the RGB pixels of a JPEG as displayed, shape (height, width, 3).

    The image may be scaled down, as `choose_scale` describes.

    Raises:
        BadRequest: the image cannot be decoded.
    """
    image = _load(jpeg, choose_scale(jpeg, least_side))
    width, height = image.size
    across, down = displayed_size(width, height, jpeg.orientation)
    pixels = np.empty((down, across, 3), np.uint8)
    stored = as_stored(pixels, jpeg.orientation)
    for top in range(0, height, _STRIP_ROWS):
        strip = image.crop((0, top, width, min(top + _STRIP_ROWS, height)))
        stored[top : top + _STRIP_ROWS] = np.asarray(strip.convert("RGB"))
    return pixels


def _load(jpeg: JpegFile, scale: int) -> Image.Image:
    try:
        image = JpegImageFile(io.BytesIO(jpeg.essence))
        image.draft(None, (max(1, jpeg.width // scale), max(1, jpeg.height // scale)))
        image.load()
    except _DECODER_ERRORS as error:
        raise broken("its data is damaged or truncated") from error
    return image
