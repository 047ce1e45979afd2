"""Reads the segments of a JPEG file: size, orientation, and the segments that a decoder needs.

Nothing is decoded here. EXIF, colour profiles, thumbnails and further images in the file are not
passed to the decoder.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

from chalicelib.formats.pictures.orientation import UPRIGHT, read_orientation
from chalicelib.formats.pictures.rules import MAX_PIXELS, broken, require_size

# Limit of scans: each costs time however few bytes it has. Cameras write 1 to 10.
MAX_SCANS = 64
# Limit of segments before and between the scans.
MAX_SEGMENTS = 5_000

# Any marker, except stuffed bytes (00), padding (FF) and restarts (D0 to D7).
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]", re.DOTALL)
_EOI, _SOS, _DQT, _DHT, _DRI = 0xD9, 0xDA, 0xDB, 0xC4, 0xDD
_APP0, _APP1, _APP14 = 0xE0, 0xE1, 0xEE
_FRAMES = frozenset(range(0xC0, 0xD0)) - {_DHT, 0xC8, 0xCC}
_HUFFMAN_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
_PROGRESSIVE = 0xC2
_EXIF = b"Exif\0\0"


@dataclass(frozen=True)
class JpegFile:
    """Size and orientation of a JPEG, and the bytes of the file that a decoder needs."""

    width: int
    """Width of the stored image in pixels."""
    height: int
    """Height of the stored image in pixels."""
    orientation: int
    """Value of the EXIF orientation tag, 1 to 8."""
    whole_bytes: int
    """Bytes of coefficients that a decoder has in memory; 0 if it can decode line by line."""
    essence: bytes
    """A JPEG of only the first image, without segments that a decoder does not need."""


@dataclass
class _FrameHeader:
    """The contents of the frame header of a JPEG."""

    width: int
    height: int
    components: int
    coefficient_bytes: int
    progressive: bool


@dataclass
class _Walk:
    """The segments of a JPEG that have been read so far, and the properties found in them."""

    max_pixels: int
    frame: _FrameHeader | None = None
    orientation: int = UPRIGHT
    seen_exif: bool = False
    scans: int = 0
    is_buffered: bool = False
    parts: list[bytes | memoryview] = field(default_factory=lambda: [b"\xff\xd8"])


def read_jpeg(data: bytes, max_pixels: int = MAX_PIXELS) -> JpegFile:
    """Read the segments of a JPEG up to the end of its first image.

    Raises:
        BadRequest: the file is truncated or malformed, exceeds a limit, or is neither a baseline
            nor a progressive JPEG.
    """
    walk = _Walk(max_pixels)
    view = memoryview(data)
    position = 2
    for _ in range(MAX_SEGMENTS):
        found = _MARKER.search(data, position)
        if found is None:
            raise broken("it is truncated")
        marker = data[found.start() + 1]
        if marker == _EOI:
            return _finish(walk)
        start, end = _span(data, found.start())
        position = _take(walk, marker, view[start:end], data, end)
    raise broken(f"it has more than {MAX_SEGMENTS} segments")


def _span(data: bytes, start: int) -> tuple[int, int]:
    length = int.from_bytes(data[start + 2 : start + 4], "big")
    if start + 2 + max(length, 2) > len(data):
        raise broken("it is truncated")
    if length < 2:
        raise broken("a segment has no length")
    return start, start + 2 + length


def _take(walk: _Walk, marker: int, segment: memoryview, data: bytes, end: int) -> int:
    """Record a segment that ends at `end`; return the position at which reading continues.

    The position is after the coded data if the segment is a scan header, otherwise it is `end`.
    """
    if marker in _FRAMES:
        if walk.frame is not None:
            raise broken("it has two frame headers")
        walk.frame = _read_frame(marker, bytes(segment[4:]), walk.max_pixels)
    elif marker == _APP1 and not walk.seen_exif and bytes(segment[4:10]) == _EXIF:
        walk.seen_exif = True
        walk.orientation = read_orientation(bytes(segment[10:]))
    if marker == _SOS:
        return _take_scan(walk, segment, data, end)
    if _is_needed(marker, segment):
        walk.parts.append(segment)
    return end


def _is_needed(marker: int, segment: memoryview) -> bool:
    if marker == _APP0:
        return bytes(segment[4:9]) == b"JFIF\0"
    if marker == _APP14:
        return bytes(segment[4:9]) == b"Adobe"
    return marker in (_DQT, _DHT, _DRI) or marker in _FRAMES


def _take_scan(walk: _Walk, header: memoryview, data: bytes, end: int) -> int:
    """Record a scan header and the coded data after it; return the end of the coded data."""
    if walk.frame is None:
        raise broken("its data comes before its frame header")
    walk.scans += 1
    if walk.scans > MAX_SCANS:
        raise broken(f"it has more than {MAX_SCANS} scans")
    # For scans of single components the decoder holds the whole image, as for progressive ones.
    if walk.frame.progressive or (len(header) > 4 and header[4] != walk.frame.components):
        walk.is_buffered = True
    following = _MARKER.search(data, end)
    if following is None:
        raise broken("it is truncated")
    walk.parts += [header, memoryview(data)[end : following.start()]]
    return following.start()


def _read_frame(marker: int, body: bytes, max_pixels: int) -> _FrameHeader:
    if marker not in _HUFFMAN_FRAMES:
        raise broken("its JPEG process is neither baseline nor progressive")
    if len(body) < 6 or len(body) < 6 + 3 * body[5]:
        raise broken("its frame header is too short")
    depth, height, width, components = struct.unpack_from(">BHHB", body)
    if depth != 8 or components not in (1, 3, 4):
        raise broken(f"{components} components of {depth} bits are not supported")
    require_size(width, height, max_pixels)
    factors = [divmod(body[7 + 3 * number], 16) for number in range(components)]
    if any(not 1 <= factor <= 4 for pair in factors for factor in pair):
        raise broken("its sampling factors are out of range")
    return _FrameHeader(
        width,
        height,
        components,
        _count_coefficients(width, height, factors),
        marker == _PROGRESSIVE,
    )


def _count_coefficients(width: int, height: int, factors: list[tuple[int, int]]) -> int:
    """Return the memory for all DCT coefficients in bytes. A block of 8 x 8 takes 128 bytes."""
    widest = max(horizontal for horizontal, _ in factors)
    tallest = max(vertical for _, vertical in factors)
    across = -(-width // (8 * widest))
    down = -(-height // (8 * tallest))
    return sum(across * horizontal * down * vertical for horizontal, vertical in factors) * 128


def _finish(walk: _Walk) -> JpegFile:
    if walk.frame is None or not walk.scans:
        raise broken("it holds no image data")
    return JpegFile(
        walk.frame.width,
        walk.frame.height,
        walk.orientation,
        walk.frame.coefficient_bytes if walk.is_buffered else 0,
        b"".join([*walk.parts, b"\xff\xd9"]),
    )
