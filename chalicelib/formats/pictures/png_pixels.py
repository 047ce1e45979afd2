"""Decodes a PNG in strips, so that memory holds only the result and a few strips.

Other modules import this one only when they need it, because it imports numpy and Pillow.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image

from chalicelib.formats.pictures.orientation import as_stored, displayed_size
from chalicelib.formats.pictures.png_file import COLOUR_ALPHA, GREY_ALPHA, PALETTE, PngFile
from chalicelib.formats.pictures.rules import broken

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRIP_PIXELS = 262_144
_MAX_FACTOR = 16
# Content with a higher mean luminance, of 255, is put on black: on white it could not be seen.
_LIGHT = 191
# Weights of red, green and blue in the luminance (ITU-R BT.601).
_LUMINANCE = (0.299, 0.587, 0.114)
# Shorter side of the copy on which luminance is measured, in pixels.
_MEASURED_SIDE = 320


class _Pass(NamedTuple):
    """A pass of an interlaced image: position of the first pixel, and distances between pixels."""

    left: int
    top: int
    step_x: int
    step_y: int

    def size(self, png: PngFile) -> tuple[int, int]:
        """Return width and height of the pass in pixels. Each can be 0."""
        return -(-(png.width - self.left) // self.step_x), -(
            -(png.height - self.top) // self.step_y
        )


_WHOLE = (_Pass(0, 0, 1, 1),)
_ADAM7 = (
    _Pass(0, 0, 8, 8),
    _Pass(4, 0, 8, 8),
    _Pass(0, 4, 4, 8),
    _Pass(2, 0, 4, 4),
    _Pass(0, 2, 2, 4),
    _Pass(1, 0, 2, 2),
    _Pass(0, 1, 1, 2),
)


def _passes(png: PngFile) -> list[tuple[_Pass, int, int]]:
    sized = [(one, *one.size(png)) for one in (_ADAM7 if png.interlaced else _WHOLE)]
    return [(one, width, height) for one, width, height in sized if width > 0 and height > 0]


def verify_png(png: PngFile) -> None:
    """Decompress a PNG to its last row; raise BadRequest if it is damaged or incomplete."""
    inflater = Inflater(png.coded)
    for _, width, height in _passes(png):
        verify_rows(inflater, height, png.row_bytes(width))


def decode_png(png: PngFile, least_side: int | None) -> NDArray[np.uint8]:
    """Return the RGB pixels of a PNG as displayed, shape (height, width, 3).

    Args:
        png: The image.
        least_side: Length in pixels to which the shorter side may be reduced; None for full size.

    Raises:
        BadRequest: the image is damaged or incomplete.
    """
    factor = _choose_factor(png, least_side)
    size = displayed_size(-(-png.width // factor), -(-png.height // factor), png.orientation)
    pixels = np.empty((size[1], size[0], 3), np.uint8)
    stored = as_stored(pixels, png.orientation)
    if not png.interlaced:
        _fill(stored, _strips(png, Inflater(png.coded), (png.width, png.height), factor), factor)
    elif factor == 1:
        _weave(png, stored)
    else:
        whole = np.empty((png.height, png.width, 3), np.uint8)
        _weave(png, whole)
        step = _strip_rows(png.width, factor)
        _fill(stored, ((t, whole[t : t + step]) for t in range(0, png.height, step)), factor)
    return pixels


def contrasting_ground(png: PngFile) -> int:
    """Return 0 (black) if an image has transparent parts and light content, otherwise 255 (white).

    The client library applies the same rule when it converts images (`_pixels.py`).

    Raises:
        BadRequest: the image is damaged or incomplete.
    """
    # A reduced copy has the same sums, and takes little memory.
    black, white = (
        decode_png(replace(png, ground=ground), _MEASURED_SIDE).astype(np.int16)
        for ground in (0, _OPAQUE)
    )
    opacity = _OPAQUE - (white - black).mean()
    # On black, each pixel is its colour multiplied by its opacity.
    light = (black @ _LUMINANCE).mean()
    is_whole = bool((white == black).all())
    return 0 if not is_whole and light * _OPAQUE > _LIGHT * opacity else _OPAQUE


def _choose_factor(png: PngFile, least_side: int | None) -> int:
    if not least_side:
        return 1
    return max(1, min(min(png.width, png.height) // least_side, _MAX_FACTOR))


def _strip_rows(width: int, factor: int) -> int:
    return max(1, _STRIP_PIXELS // (width * factor)) * factor


def _strips(
    png: PngFile, inflater: Inflater, size: tuple[int, int], factor: int
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    width, height = size
    row_bytes = png.row_bytes(width)
    pixel_bytes = max(1, png.channels * png.depth // 8)
    step = _strip_rows(width, factor)
    previous = None
    for top in range(0, height, step):
        filtered = inflater.read(min(step, height - top) * (row_bytes + 1))
        rows = unfilter(filtered, previous, row_bytes, pixel_bytes)
        previous = rows[-1]
        yield top, to_rgb(png, rows, width)


def _fill(
    stored: NDArray[np.uint8], strips: Iterator[tuple[int, NDArray[np.uint8]]], factor: int
) -> None:
    for top, strip in strips:
        small = strip if factor == 1 else np.asarray(Image.fromarray(strip).reduce(factor))
        stored[top // factor : top // factor + len(small)] = small


def _weave(png: PngFile, stored: NDArray[np.uint8]) -> None:
    inflater = Inflater(png.coded)
    for one, width, height in _passes(png):
        target = stored[one.top :: one.step_y, one.left :: one.step_x]
        _fill(target, _strips(png, inflater, (width, height), 1), 1)


_PIECE_BYTES = 65536
_LAST_FILTER = 4
# Modes of Pillow that return every byte unchanged. 16-bit colours are read twice: once for the
# first and once for the second byte of each value.
_MODES = {
    1: (("L", "L"),),
    2: (("LA", "LA"),),
    3: (("RGB", "RGB"),),
    4: (("RGBA", "RGBA"),),
    6: (("RGB", "RGB;16B"), ("RGB", "RGB;16L")),
    8: (("RGBA", "RGBA;16B"), ("RGBA", "RGBA;16L")),
}


class Inflater:
    """Decompresses the data of a PNG step by step, and never more bytes than requested."""

    def __init__(self, chunks: list[memoryview]) -> None:
        self._pieces = _cut(chunks)
        self._stream = zlib.decompressobj()
        self._waiting: bytes | memoryview = b""

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes.

        Raises:
            BadRequest: the compressed data is damaged, or ends before `count` bytes.
        """
        parts: list[bytes] = []
        while count:
            part = self._inflate(count)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _inflate(self, limit: int) -> bytes:
        while True:
            try:
                part = self._stream.decompress(self._waiting, limit)
            except zlib.error as error:
                raise broken("its compressed data is damaged") from error
            self._waiting = self._stream.unconsumed_tail
            if part:
                return part
            if not self._waiting:
                self._waiting = self._next_piece()

    def _next_piece(self) -> memoryview:
        piece = None if self._stream.eof else next(self._pieces, None)
        if piece is None:
            raise broken("it holds less data than its header says")
        return piece


def _cut(chunks: list[memoryview]) -> Iterator[memoryview]:
    for part in chunks:
        for start in range(0, len(part), _PIECE_BYTES):
            yield part[start : start + _PIECE_BYTES]


def verify_rows(inflater: Inflater, rows: int, row_bytes: int) -> None:
    """Decompress rows, and check that their filter types are known.

    Raises:
        BadRequest: the rows are incomplete, or have an unknown filter type.
    """
    at_once = max(1, _PIECE_BYTES * 4 // (row_bytes + 1))
    for top in range(0, rows, at_once):
        data = inflater.read(min(at_once, rows - top) * (row_bytes + 1))
        if max(data[:: row_bytes + 1]) > _LAST_FILTER:
            raise broken("a row names an unknown filter")


def unfilter(
    filtered: bytes, previous: NDArray[np.uint8] | None, row_bytes: int, pixel_bytes: int
) -> NDArray[np.uint8]:
    """Undo the PNG filters of rows, with Pillow's decoder.

    Args:
        filtered: The rows. Each row is a filter byte, then `row_bytes` bytes.
        previous: The unfiltered row above these rows; None at the top of an image or pass.
        row_bytes: Bytes of a row without the filter byte.
        pixel_bytes: Bytes of a pixel; 1 if a pixel has less than a byte.

    Returns:
        The bytes of the rows, shape (rows, row_bytes).

    Raises:
        BadRequest: a row has an unknown filter type.
    """
    # Filters refer to the previous row, so it comes first in the strip, without a filter.
    lead = b"" if previous is None else b"\0" + previous.tobytes()
    stream = zlib.compress(lead + filtered, 0)
    rows = (len(lead) + len(filtered)) // (row_bytes + 1)
    size = (row_bytes // pixel_bytes, rows)
    try:
        readings = [
            np.asarray(Image.frombytes(mode, size, stream, "zip", raw, 0)).reshape(rows, -1)
            for mode, raw in _MODES[pixel_bytes]
        ]
    except (ValueError, OSError) as error:
        raise broken("a row names an unknown filter") from error
    joined = readings[0] if len(readings) == 1 else np.stack(readings, axis=-1).reshape(rows, -1)
    return joined if previous is None else joined[1:]


_OPAQUE = 255


def to_rgb(png: PngFile, rows: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Convert stored rows to RGB, shape (rows, width, 3).

    Args:
        png: The image; its depth, colour type, palette and transparency are used.
        rows: Bytes as stored, shape (rows, bytes per row).
        width: Number of pixels in a row.
    """
    values = _read_values(rows, png.depth).reshape(len(rows), -1, png.channels)[:, :width]
    if png.colour == PALETTE:
        colours: NDArray[np.uint8] = _palette(png)[values[:, :, 0]]
        return colours
    bytes_ = _to_bytes(values, png.depth)
    if png.colour in (GREY_ALPHA, COLOUR_ALPHA):
        return _widen(_on_ground(bytes_[:, :, :-1], bytes_[:, :, -1:], png.ground))
    if png.transparency:
        return _widen(_drop_colour(png, values, bytes_))
    return _widen(bytes_)


def _read_values(rows: NDArray[np.uint8], depth: int) -> NDArray[Any]:
    """Unpack values of `depth` bits from rows; return whole numbers, shape (rows, values)."""
    if depth == 8:
        return rows
    if depth == 16:
        return np.ascontiguousarray(rows).view(">u2")
    shifts = np.arange(8 - depth, -1, -depth, dtype=np.uint8)
    parts = (rows[:, :, None] >> shifts) & np.uint8(2**depth - 1)
    return parts.reshape(len(rows), -1)


def _to_bytes(values: NDArray[Any], depth: int) -> NDArray[np.uint8]:
    """Scale values of `depth` bits to the range 0 to 255; divide 16-bit values by 257 and round."""
    if depth == 16:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if depth == 8:
        return values
    return values * np.uint8(255 // (2**depth - 1))


def _on_ground(
    colours: NDArray[np.uint8], alpha: NDArray[np.uint8], ground: int
) -> NDArray[np.uint8]:
    """Blend colours with the grey value `ground` by their alpha. Channels are the last axis."""
    if alpha.size and int(alpha.min()) == _OPAQUE:
        return colours
    share = alpha.astype(np.uint16)
    mixed = colours * share + (_OPAQUE - share) * np.uint16(ground) + np.uint16(_OPAQUE // 2)
    return (mixed // np.uint16(_OPAQUE)).astype(np.uint8)


def _drop_colour(
    png: PngFile, values: NDArray[Any], colours: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    if len(png.transparency) < 2 * png.channels:
        return colours
    key = np.frombuffer(png.transparency, ">u2", png.channels) & (2**png.depth - 1)
    clear = (values == key).all(axis=-1, keepdims=True)
    return np.where(clear, np.uint8(png.ground), colours)


def _palette(png: PngFile) -> NDArray[np.uint8]:
    # A file can use indexes behind the last entry; they are black.
    table = np.zeros((256, 3), np.uint8)
    entries = np.frombuffer(png.palette[: 256 * 3], np.uint8).reshape(-1, 3)
    table[: len(entries)] = entries
    alpha = np.full((256, 1), _OPAQUE, np.uint8)
    given = np.frombuffer(png.transparency[:256], np.uint8)
    alpha[: len(given), 0] = given
    return _on_ground(table, alpha, png.ground)


def _widen(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.repeat(colours, 3, axis=2) if colours.shape[2] == 1 else colours
