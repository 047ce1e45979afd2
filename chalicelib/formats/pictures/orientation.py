"""Reads the EXIF orientation. Pillow is not used, because its EXIF reader fails on damaged EXIF."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The orientation of an image that is displayed as stored.
UPRIGHT = 1

_ORIENTATION_TAG = 0x0112
_MOST_ENTRIES = 1000  # The declared number can be false; cameras write a few dozen.
_FORMATS = {1: "B", 3: "H", 4: "I"}


def read_orientation(exif: bytes) -> int:
    """Return the orientation, 1 to 8, in an EXIF block that begins with its TIFF header.

    For a malformed block, return 1 (upright), as image viewers do.
    """
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return UPRIGHT
    try:
        (start,) = struct.unpack_from(order + "I", exif, 4)
        (count,) = struct.unpack_from(order + "H", exif, start)
        return _find_orientation(exif, order, start + 2, min(count, _MOST_ENTRIES))
    except struct.error:
        return UPRIGHT


def _find_orientation(exif: bytes, order: str, start: int, count: int) -> int:
    for offset in range(start, start + 12 * count, 12):
        tag, kind = struct.unpack_from(order + "HH", exif, offset)
        if tag == _ORIENTATION_TAG and kind in _FORMATS:
            (value,) = struct.unpack_from(order + _FORMATS[kind], exif, offset + 8)
            return int(value) if 1 <= value <= 8 else UPRIGHT
    return UPRIGHT


def displayed_size(width: int, height: int, orientation: int) -> tuple[int, int]:
    """Return width and height as displayed, given width and height as stored."""
    return (height, width) if orientation >= 5 else (width, height)


def as_stored(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Return a view of `pixels` whose rows and columns are in the order of the image file.

    Writing the decoded rows into the view rotates the image without a second copy.

    Args:
        pixels: Pixels as displayed, shape (height, width, 3).
        orientation: Value of the EXIF orientation tag, 1 to 8.
    """
    view = pixels
    if orientation >= 5:
        view = view.swapaxes(0, 1)
    if orientation in (3, 4, 6, 7):
        view = view[::-1]
    if orientation in (2, 3, 7, 8):
        view = view[:, ::-1]
    return view
