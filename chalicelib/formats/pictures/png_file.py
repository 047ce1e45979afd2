"""Reads the chunks of a PNG file: size, pixel format, and the chunks that contain the image.

Chunks of texts, colour profiles and animation frames are skipped, and never decompressed.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field

from chalicelib.formats.pictures.orientation import UPRIGHT, read_orientation
from chalicelib.formats.pictures.rules import MAX_PIXELS, broken, require_size

# The format's colour types.
GREY, COLOUR, PALETTE, GREY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6

_CHANNELS = {GREY: 1, COLOUR: 3, PALETTE: 1, GREY_ALPHA: 2, COLOUR_ALPHA: 4}
_DEPTHS = {
    GREY: (1, 2, 4, 8, 16),
    COLOUR: (8, 16),
    PALETTE: (1, 2, 4, 8),
    GREY_ALPHA: (8, 16),
    COLOUR_ALPHA: (8, 16),
}
_SIGNATURE_BYTES = 8
_CRITICAL = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND"})
_KEPT = _CRITICAL | {b"tRNS", b"eXIf"}


@dataclass
class PngFile:
    """Size and pixel format of a PNG, and its compressed image."""

    width: int
    """Width of the stored image in pixels."""
    height: int
    """Height of the stored image in pixels."""
    depth: int
    """Bits per value: 1, 2, 4, 8 or 16."""
    colour: int
    """Colour type, as PNG numbers it."""
    interlaced: bool
    """Whether the image is stored in the seven passes of Adam7."""
    orientation: int = UPRIGHT
    """Value of the EXIF orientation tag, 1 to 8."""
    palette: bytes = b""
    """Red, green and blue of each palette entry."""
    transparency: bytes = b""
    """Alpha of each palette entry, or the one transparent colour as 16-bit values."""
    coded: list[memoryview] = field(default_factory=list)
    """The compressed image, in several parts."""
    ground: int = 255
    """Grey value behind transparent parts: 0 (black) to 255 (white)."""

    @property
    def is_transparent(self) -> bool:
        """Return whether pixels may be transparent."""
        return self.colour in (GREY_ALPHA, COLOUR_ALPHA) or bool(self.transparency)

    @property
    def channels(self) -> int:
        """Return the number of values per stored pixel."""
        return _CHANNELS[self.colour]

    def row_bytes(self, width: int) -> int:
        """Return the number of bytes in a stored row of `width` pixels, without the filter byte."""
        return (width * self.channels * self.depth + 7) // 8


def read_png(data: bytes, max_pixels: int = MAX_PIXELS) -> PngFile:
    """Read the chunks of a PNG file up to the end of the image.

    Raises:
        BadRequest: the file is truncated, malformed, or exceeds a limit of images.
    """
    view = memoryview(data)
    png: PngFile | None = None
    position = _SIGNATURE_BYTES
    while True:
        if position + 12 > len(data):
            raise broken("it is truncated")
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 12 + length
        if end > len(data):
            raise broken("it is truncated")
        body = view[position + 8 : end - 4]
        if png is None:
            png = _read_header(name, body, max_pixels)
        if name == b"IEND":
            return _finish(png)
        # Other chunks are skipped, never inflated: a text chunk can unpack to gigabytes.
        if name in _KEPT and _is_intact(name, body, view[end - 4 : end]):
            _take(png, name, body)
        position = end


def _is_intact(name: bytes, body: memoryview, checksum: memoryview) -> bool:
    # Ancillary chunks do not affect the pixels, so those with a wrong checksum are skipped.
    sound = zlib.crc32(body, zlib.crc32(name)) == int.from_bytes(checksum, "big")
    if not sound and name in _CRITICAL:
        raise broken("its data is damaged: a checksum is wrong")
    return sound


def _read_header(name: bytes, body: memoryview, max_pixels: int) -> PngFile:
    if name != b"IHDR" or len(body) != 13:
        raise broken("it does not begin with a PNG header")
    width, height, depth, colour, *methods = struct.unpack(">II5B", body)
    # An interlaced image can only be assembled as a whole.
    require_size(width, height, MAX_PIXELS if methods[2] else max_pixels)
    if depth not in _DEPTHS.get(colour, ()):
        raise broken(f"colour type {colour} with {depth} bits does not exist")
    if methods[:2] != [0, 0] or methods[2] > 1:
        raise broken("its compression, filter or interlace method is unknown")
    return PngFile(width, height, depth, colour, methods[2] == 1)


def _take(png: PngFile, name: bytes, body: memoryview) -> None:
    if name == b"IDAT":
        png.coded.append(body)
    elif name == b"PLTE":
        png.palette = bytes(body[: len(body) // 3 * 3])
    elif name == b"tRNS":
        png.transparency = bytes(body)
    elif name == b"eXIf":
        png.orientation = read_orientation(bytes(body).removeprefix(b"Exif\0\0"))


def _finish(png: PngFile) -> PngFile:
    if not png.coded:
        raise broken("it holds no image data")
    if png.colour == PALETTE and not png.palette:
        raise broken("its palette is missing")
    return png
