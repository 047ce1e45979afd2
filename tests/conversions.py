"""Images that clients must convert before they send them, and the expected results.

The tests of client, console and service read the same cases, so that the three agree.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass

from PIL import Image, ImageDraw

from tests.formats.drawn import chunk

SIZE = (96, 64)
# A pixel of the drawn content, and one of the background.
INSIDE, OUTSIDE = (20, 20), (90, 60)
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


@dataclass(frozen=True)
class Conversion:
    """One image with transparent parts, and the colours that it must have when sent."""

    name: str
    content: bytes
    inside: tuple[int, int, int]
    """Colour of the pixel `INSIDE`."""
    outside: tuple[int, int, int]
    """Colour of the pixel `OUTSIDE`."""


def transparent_images() -> list[Conversion]:
    """Return images of each format with dark and with light content on a transparent background."""
    return [
        Conversion(f"{shade}.{kind}", _drawn(kind, colour), colour, background)
        for kind in ("webp", "gif")
        for shade, colour, background in (("dark", BLACK, WHITE), ("light", WHITE, BLACK))
    ]


def _drawn(kind: str, colour: tuple[int, int, int]) -> bytes:
    # Hidden colours are the opposite of what shows: a conversion that drops alpha shows them.
    hidden = tuple(255 - value for value in colour)
    stream = io.BytesIO()
    if kind == "gif":
        image = Image.new("P", SIZE, 0)
        image.putpalette([*hidden, *colour])
        ImageDraw.Draw(image).rectangle((8, 8, 48, 40), fill=1)
        image.save(stream, "GIF", transparency=0)
    else:
        image = Image.new("RGBA", SIZE, (*hidden, 0))
        ImageDraw.Draw(image).rectangle((8, 8, 48, 40), fill=(*colour, 255))
        image.save(stream, "WEBP", lossless=True, exact=True)
    return stream.getvalue()


def with_raw_exif(png: bytes, orientation: int, kind: bytes = b"zTXt") -> bytes:
    """Add the EXIF profile that image editors wrote before PNG had a chunk for it.

    Args:
        png: a file of PNG.
        orientation: value of the EXIF tag, 1 to 8.
        kind: name of the chunk, `zTXt` or `tEXt`.
    """
    exif = Image.Exif()
    exif[0x0112] = orientation
    profile = b"Exif\0\0" + exif.tobytes().removeprefix(b"Exif\0\0")
    digits = profile.hex().encode()
    lines = b"\n".join(digits[at : at + 72] for at in range(0, len(digits), 72))
    text = b"\nexif\n%8d\n%s\n" % (len(profile), lines)
    name = b"Raw profile type exif\0"
    body = name + (b"\0" + zlib.compress(text) if kind == b"zTXt" else text)
    return insert_chunk(png, kind, body)


def insert_chunk(png: bytes, kind: bytes, body: bytes) -> bytes:
    """Insert a chunk after the header of a PNG."""
    return png[:33] + chunk(kind, body) + png[33:]
