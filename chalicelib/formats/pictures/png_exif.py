"""Moves the EXIF orientation of a PNG from a text chunk to the standard chunk `eXIf`.

Before 2017, PNG had no chunk for EXIF, and editors such as ImageMagick wrote EXIF as hexadecimal
text. Viewers rotate images by this text, so the service converts new files when they are sent.
Stored examples are not converted, because their boxes were drawn on images that were not rotated.
"""

from __future__ import annotations

import binascii
import struct
import zlib

from chalicelib.formats.pictures.content_type import sniff
from chalicelib.formats.pictures.orientation import UPRIGHT, read_orientation

_KEYWORDS = (b"Raw profile type exif\0", b"Raw profile type APP1\0")
_MARK = b"Raw profile type "
# Bytes of the text that are read: a profile of 64 KB, the largest in a JPEG, has 130 KB of digits.
_MAX_TEXT = 200_000
# TIFF header and one entry: orientation, a short.
_EXIF = b"MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0%c\0\0\0\0\0\0"


def standardize_orientation(data: bytes) -> bytes:
    """Move the EXIF orientation of a PNG file from a text chunk to the chunk `eXIf`.

    Other files, and PNG files that already have `eXIf`, are returned unchanged. Malformed chunks
    cause no error here; the decoder reports them.
    """
    if _MARK not in data or sniff(data) != "png":
        return data
    orientation, start, end = _find_raw(data)
    if orientation == UPRIGHT:
        return data
    body = _EXIF % orientation
    checksum = zlib.crc32(b"eXIf" + body)
    chunk = struct.pack(">I4s", len(body), b"eXIf") + body + struct.pack(">I", checksum)
    # The text is replaced, so that the file does not grow beyond its size limit.
    return data[:start] + chunk + data[end:]


def _find_raw(data: bytes) -> tuple[int, int, int]:
    """Return orientation, start and end of the text chunk with EXIF; (1, 0, 0) if missing."""
    found, position = (UPRIGHT, 0, 0), 8
    while position + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 12 + length
        if name == b"eXIf":
            return UPRIGHT, 0, 0
        body = data[position + 8 : end - 4] if name in (b"tEXt", b"zTXt") else b""
        if body.startswith(_KEYWORDS):
            exif = _read_profile(name, body.partition(b"\0")[2])
            found = (read_orientation(exif), position, end)
        position = end
    return found


def _read_profile(name: bytes, text: bytes) -> bytes:
    """Decode the EXIF block in a text chunk. The text is a type, a length and hex digits."""
    if name == b"zTXt":
        try:
            text = zlib.decompressobj().decompress(text[1:], _MAX_TEXT)
        except zlib.error:
            return b""
    digits = b"".join(text[:_MAX_TEXT].split()[2:])
    try:
        return binascii.unhexlify(digits[: len(digits) // 2 * 2]).removeprefix(b"Exif\0\0")
    except binascii.Error:
        return b""
