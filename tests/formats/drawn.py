"""Pictures for the tests of the formats: drawn by Pillow, or put together byte by byte."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image

ENOUGH = 5 * 1024 * 1024
"""The byte limit of a predicted picture."""
SIDE = 7071
"""A square of this side is just below 50,000,000 pixels."""
ORIENTATION = 0x0112
"""EXIF tag of the turn."""


def noise(width: int, height: int, mode: str = "RGB", seed: int = 0) -> Image.Image:
    """Draw random pixels."""
    channels = len(mode) if mode in ("LA", "RGB", "RGBA", "CMYK") else 1
    values = np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)
    flat = Image.fromarray(
        values if channels > 1 else values[:, :, 0], mode if channels == 4 else None
    )
    return flat.convert(mode)


def scene(width: int = 64, height: int = 48, mode: str = "RGB") -> Image.Image:
    """Draw smooth colours with four different corners."""
    corners = np.array([[[250, 20, 20], [20, 250, 20]], [[20, 20, 250], [240, 240, 60]]], np.uint8)
    return Image.fromarray(corners).resize((width, height), Image.Resampling.BILINEAR).convert(mode)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    """Encode a picture with Pillow."""
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def turned(image: Image.Image, kind: str, orientation: int) -> bytes:
    """Encode a picture whose EXIF asks for a turn."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return encoded(image, kind, exif=exif)


def chunk(name: bytes, body: bytes) -> bytes:
    """Make one PNG chunk with its checksum."""
    check = struct.pack(">I", zlib.crc32(name + body))
    return struct.pack(">I", len(body)) + name + body + check


def png(
    size: tuple[int, int], depth: int, colour: int, coded: bytes, *extra: bytes, interlace: int = 0
) -> bytes:
    """Make a PNG of compressed rows, with extra chunks between header and data."""
    header = chunk(b"IHDR", struct.pack(">II5B", *size, depth, colour, 0, 0, interlace))
    body = b"".join(extra) + chunk(b"IDAT", coded)
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")


def zeros(count: int) -> bytes:
    """Compress `count` zero bytes without going through them: equal blocks compress equally."""
    packer = zlib.compressobj(9)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = packer.compress(bytes(count & 0xFFFFF)) + packer.flush()
    # The stream's checksum counts all zeros, not only those that the packer saw.
    return start + block * (count >> 20) + rest[:-4] + struct.pack(">HH", count % 65_521, 1)


def filtered_rows(rows: np.ndarray[Any, np.dtype[np.uint8]], pixel_bytes: int) -> bytes:
    """Apply each of the five PNG filters in turn to rows of bytes, as the format defines them."""
    out = bytearray()
    above = np.zeros(rows.shape[1], np.int32)
    for number, row in enumerate(rows.astype(np.int32)):
        left = np.concatenate([np.zeros(pixel_bytes, np.int32), row[:-pixel_bytes]])
        corner = np.concatenate([np.zeros(pixel_bytes, np.int32), above[:-pixel_bytes]])
        kind = number % 5
        guesses = [0 * row, left, above, (left + above) // 2, _paeth(left, above, corner)]
        out += bytes([kind]) + (row - guesses[kind]).astype(np.uint8).tobytes()
        above = row
    return bytes(out)


def _paeth(left: Any, above: Any, corner: Any) -> Any:
    """Predict each byte by its nearest neighbour in the direction of least change."""
    guess = left + above - corner
    to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    near_left = (to_left <= to_above) & (to_left <= to_corner)
    return np.where(near_left, left, np.where(to_above <= to_corner, above, corner))


def segment(marker: int, body: bytes) -> bytes:
    """Make one JPEG segment with its length."""
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def jpeg_header(width: int, height: int, frame: int = 0xC0, factor: int = 0x11) -> bytes:
    """Make the start of a colour JPEG up to its frame header."""
    body = struct.pack(">BHHB", 8, height, width, 3)
    return b"\xff\xd8" + segment(frame, body + bytes([1, factor, 0, 2, 0x11, 0, 3, 0x11, 0]))


def replace_frame(data: bytes, frame: int) -> bytes:
    """Change the process that a baseline JPEG's frame header names."""
    return data.replace(b"\xff\xc0", bytes([0xFF, frame]), 1)
