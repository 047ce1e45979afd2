"""Broken, hostile and invalid images, with words that the error must contain."""

from __future__ import annotations

import random
import zlib

from PIL import Image

from tests.formats.drawn import (
    chunk,
    encoded,
    jpeg_header,
    png,
    replace_frame,
    scene,
    zeros,
)
from tests.pictures import make_zip

PNG, JPEG = encoded(scene(), "PNG"), encoded(scene(), "JPEG")
FOREIGN = [
    (encoded(scene(), "GIF"), "a GIF image"),
    (encoded(scene(), "WEBP"), "a WebP image"),
    (encoded(scene(), "BMP"), "BMP"),
    (encoded(scene(), "TIFF"), "TIFF"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG image"),
    (b"<!doctype html><title>404</title>", "an HTML page"),
    (make_zip({"a.png": PNG}), "zip"),
    (b"hello", "text"),
    (bytes(1000), "PNG"),
    (random.Random(1).randbytes(5000), "PNG"),
    (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "PNG"),
]
"""Files of types that are not read."""
BROKEN = [
    (PNG[:-1], "truncated"),
    (PNG[: len(PNG) // 2], "truncated"),
    (PNG[:20], "truncated"),
    (PNG[:8], "cannot be read"),
    (JPEG[:-2], "truncated"),
    (JPEG[: len(JPEG) // 2], "truncated"),
    (JPEG[:3], "cannot be read"),
    (PNG.replace(b"IDAT", b"IDAX"), "cannot be read"),
    (PNG[:40] + bytes([PNG[40] ^ 255]) + PNG[41:], "cannot be read"),
    (png((0, 9), 8, 2, zlib.compress(b"")), "0 x 9"),
    (png((9, 9), 3, 2, zlib.compress(b"")), "cannot be read"),
    (png((9, 9), 8, 2, zlib.compress(b"")), "cannot be read"),
    (png((9, 9), 8, 3, zlib.compress(bytes(90))), "cannot be read"),
    (jpeg_header(9, 9), "cannot be read"),
    (replace_frame(JPEG, 0xC9), "cannot be read"),
    (encoded(scene(101, 1), "JPEG"), "at most 100 times"),
    (encoded(scene(1, 101), "PNG"), "at most 100 times"),
    (jpeg_header(65_535, 65_535), "4294836225 pixels"),
    (png((60_000, 60_000), 8, 6, zeros(1 << 20)), "3600000000 pixels"),
]
"""PNGs and JPEGs that are broken, cut, or over a limit of pixels."""
SIDE = 7071
"""A square of this side is just below the limit of pixels."""


def excess() -> bytes:
    """Make an image whose data continues after its last row."""
    return png((9, 9), 8, 2, zeros(1 << 28))


def texts() -> bytes:
    """Packed texts that unpack to 256 MB each."""
    text = chunk(b"zTXt", b"a\0\0" + zeros(1 << 28))
    return png((9, 9), 8, 2, zeros(9 * 28), text, text)


def scans() -> bytes:
    """Make a progressive JPEG of 400 passes."""
    whole = encoded(Image.new("RGB", (2000, 2000), (9, 90, 200)), "JPEG", progressive=True)
    return whole[:-2] + whole[whole.rindex(b"\xff\xc4") : -2] * 400 + b"\xff\xd9"


def fifty_megapixels() -> bytes:
    """As many pixels as are allowed, in 50 KB."""
    return png((SIDE, SIDE), 8, 6, zeros(SIDE * (SIDE * 4 + 1)))


BOMBS = [excess, texts, scans, fifty_megapixels]
"""Small files that are large to decode."""
