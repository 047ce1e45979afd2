"""Converts images that the service does not accept to JPEG before they are sent.

This needs the extra `pictures`. Without it images are sent unchanged, and the service's error names
the accepted formats.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from typing import Any

from presage._sources import CONVERTIBLE, PICTURES, Source

# The service's limits: bytes of an image to predict, bytes of an example, and pixels.
MAX_BYTES = 5_000_000
MAX_EXAMPLE_BYTES = 1_000_000
MAX_PIXELS = 50_000_000
# Longest sides in pixels, tried in this order until an image is within its limit.
SIDES = (3000, 2000, 1400, 1000)

# First bytes of each format, for images without a file name.
_SIGNATURES = {
    ".png": rb"\x89PNG",
    ".jpg": rb"\xff\xd8\xff",
    ".heic": rb".{4}ftyp(hei|hev|mif1|msf1)",
    ".webp": rb"RIFF.{4}WEBP",
    ".tif": rb"II\*\0|MM\0\*",
    ".gif": rb"GIF8",
    ".bmp": rb"BM",
}


def convert(source: Source, most_bytes: int = MAX_BYTES) -> Source:
    """Return an image that the service accepts: the same one, or a JPEG."""
    ending = _ending(source)
    is_fine = ending not in CONVERTIBLE and source.size <= most_bytes
    if is_fine or (ending not in CONVERTIBLE and ending not in PICTURES):
        return source
    pillow = _pillow()
    if pillow is None:
        return source
    return _as_jpeg(pillow, source, most_bytes)


def _ending(source: Source) -> str:
    """Return the ending of an image's name; without one, that of its format."""
    if "." in source.name:
        return "." + source.name.rpartition(".")[2].lower()
    source.stream.seek(0)
    head = source.stream.read(12)
    return next(
        (ending for ending, sign in _SIGNATURES.items() if re.match(sign, head, re.DOTALL)), ""
    )


def can_convert() -> bool:
    """Return whether the extra `pictures` is installed."""
    return _pillow() is not None


def _pillow() -> Any:
    """Return Pillow's Image module, or None. It reads HEIC if pi_heif is installed."""
    try:
        image = importlib.import_module("PIL.Image")
    except ImportError:
        return None
    with contextlib.suppress(ImportError):  # the service then refuses HEIC only
        importlib.import_module("pi_heif").register_heif_opener()
    return image


def _as_jpeg(pillow: Any, source: Source, most_bytes: int) -> Source:
    """Write an image as an upright JPEG, as large as the limits allow."""
    transpose = importlib.import_module("PIL.ImageOps").exif_transpose
    source.stream.seek(0)
    try:
        with pillow.open(source.stream) as picture:
            upright = transpose(picture).convert("RGB")
    except (
        OSError,
        ValueError,
        pillow.DecompressionBombError,
    ):  # the service reports what is wrong
        return source
    width = upright.width
    if source.size > most_bytes or upright.width * upright.height > MAX_PIXELS:
        upright.thumbnail((SIDES[0], SIDES[0]))
    stream = _jpeg(upright)
    for side in SIDES[1:]:
        if stream.tell() <= most_bytes:
            break
        upright.thumbnail((side, side))
        stream = _jpeg(upright)
    source.close()
    name = f"{source.name.rpartition('.')[0] or source.name}.jpg"
    return Source(stream, name, stream.tell(), width / upright.width)


def scale_boxes(answer: Any, scale: float) -> Any:
    """Return a response with its boxes scaled to the pixels of the original image."""
    if isinstance(answer, list):
        return [scale_boxes(item, scale) for item in answer]
    if not isinstance(answer, dict):
        return answer
    return {
        name: _scale_box(item, scale) if name == "boundingBox" else scale_boxes(item, scale)
        for name, item in answer.items()
    }


def _scale_box(box: dict[str, int], scale: float) -> dict[str, int]:
    if set(box.values()) == {1}:  # the API's value for an item that is not on the page
        return box
    return {name: round(place * scale) for name, place in box.items()}


def _jpeg(picture: Any) -> io.BytesIO:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=92)
    return stream
