"""Pixels of a PNG, a strip at a time: what is held is the result and a few strips.

Imported lazily, because it imports numpy and Pillow. Called by chalicelib/formats/pictures.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

from chalicelib.formats.picture_turn import as_stored, displayed_size
from chalicelib.formats.png_colours import to_rgb
from chalicelib.formats.png_file import PngFile
from chalicelib.formats.png_rows import Inflater, unfilter, verify_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRIP_PIXELS = 262_144
_MAX_FACTOR = 16


class _Pass(NamedTuple):
    """Which pixels of the picture one pass stores: from a first one on in equal steps."""

    left: int
    top: int
    step_x: int
    step_y: int

    def size(self, png: PngFile) -> tuple[int, int]:
        """Return width and height of the pass in pixels; either may be 0."""
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
    """Return the passes that hold pixels, each with its width and height."""
    sized = [(one, *one.size(png)) for one in (_ADAM7 if png.interlaced else _WHOLE)]
    return [(one, width, height) for one, width, height in sized if width > 0 and height > 0]


def verify_png(png: PngFile) -> None:
    """Inflate a PNG to its last row, to find out that it is whole.

    Raises:
        BadRequest: it is damaged or incomplete.
    """
    inflater = Inflater(png.coded)
    for _, width, height in _passes(png):
        verify_rows(inflater, height, png.row_bytes(width))


def decode_png(png: PngFile, least_side: int | None) -> NDArray[np.uint8]:
    """Return RGB pixels as displayed, shape (height, width, 3), possibly reduced.

    Args:
        png: The picture's chunks.
        least_side: Pixels the shorter side must keep; None keeps all of them.

    Raises:
        BadRequest: it is damaged or incomplete.
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


def _choose_factor(png: PngFile, least_side: int | None) -> int:
    """Return how many pixels of either direction become one."""
    if not least_side:
        return 1
    return max(1, min(min(png.width, png.height) // least_side, _MAX_FACTOR))


def _strip_rows(width: int, factor: int) -> int:
    """Return the rows of a strip, a multiple of the factor."""
    return max(1, _STRIP_PIXELS // (width * factor)) * factor


def _strips(
    png: PngFile, inflater: Inflater, size: tuple[int, int], factor: int
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield the top row and the RGB of the strips of a picture or pass of this size.

    Raises:
        BadRequest: it is damaged or incomplete.
    """
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
    """Write strips into the result, reduced by averaging squares of pixels."""
    for top, strip in strips:
        small = strip if factor == 1 else np.asarray(Image.fromarray(strip).reduce(factor))
        stored[top // factor : top // factor + len(small)] = small


def _weave(png: PngFile, stored: NDArray[np.uint8]) -> None:
    """Write the passes of an interlaced picture to their places.

    Raises:
        BadRequest: it is damaged or incomplete.
    """
    inflater = Inflater(png.coded)
    for one, width, height in _passes(png):
        target = stored[one.top :: one.step_y, one.left :: one.step_x]
        _fill(target, _strips(png, inflater, (width, height), 1), 1)
