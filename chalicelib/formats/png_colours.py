"""Stored values of a PNG to RGB: every depth and colour type, transparency on white.

Imported lazily, because it imports numpy. Called by chalicelib/formats/png_pixels.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.formats.png_file import COLOUR_ALPHA, GREY_ALPHA, PALETTE, PngFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WHITE = 255


def to_rgb(png: PngFile, rows: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Return RGB of stored rows, shape (rows, width, 3).

    Args:
        png: Depth, colour type, palette and transparency.
        rows: Bytes as stored, shape (rows, bytes of a row).
        width: Pixels of a row.
    """
    values = _read_values(rows, png.depth).reshape(len(rows), -1, png.channels)[:, :width]
    if png.colour == PALETTE:
        colours: NDArray[np.uint8] = _palette(png)[values[:, :, 0]]
        return colours
    bytes_ = _to_bytes(values, png.depth)
    if png.colour in (GREY_ALPHA, COLOUR_ALPHA):
        return _widen(_on_white(bytes_[:, :, :-1], bytes_[:, :, -1:]))
    if png.transparency:
        return _widen(_drop_colour(png, values, bytes_))
    return _widen(bytes_)


def _read_values(rows: NDArray[np.uint8], depth: int) -> NDArray[Any]:
    """Return the values of `depth` bits each, as whole numbers; shape (rows, values)."""
    if depth == 8:
        return rows
    if depth == 16:
        return np.ascontiguousarray(rows).view(">u2")
    shifts = np.arange(8 - depth, -1, -depth, dtype=np.uint8)
    parts = (rows[:, :, None] >> shifts) & np.uint8(2**depth - 1)
    return parts.reshape(len(rows), -1)


def _to_bytes(values: NDArray[Any], depth: int) -> NDArray[np.uint8]:
    """Stretch values of `depth` bits to 0 to 255: 16 bits are divided by 257 and rounded."""
    if depth == 16:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if depth == 8:
        return values
    return values * np.uint8(255 // (2**depth - 1))


def _on_white(colours: NDArray[np.uint8], alpha: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay colours over white by their alpha; the last axis holds channels, of alpha one."""
    if alpha.size and int(alpha.min()) == _WHITE:
        return colours
    share = alpha.astype(np.uint16)
    mixed = colours * share + (_WHITE - share) * np.uint16(_WHITE) + np.uint16(_WHITE // 2)
    return (mixed // np.uint16(_WHITE)).astype(np.uint8)


def _drop_colour(
    png: PngFile, values: NDArray[Any], colours: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Make the one transparent colour of a picture without alpha white."""
    if len(png.transparency) < 2 * png.channels:
        return colours
    key = np.frombuffer(png.transparency, ">u2", png.channels) & (2**png.depth - 1)
    clear = (values == key).all(axis=-1, keepdims=True)
    return np.where(clear, np.uint8(_WHITE), colours)


def _palette(png: PngFile) -> NDArray[np.uint8]:
    """Return the colour of each index on white, shape (256, 3); black behind the last entry."""
    table = np.zeros((256, 3), np.uint8)
    entries = np.frombuffer(png.palette[: 256 * 3], np.uint8).reshape(-1, 3)
    table[: len(entries)] = entries
    alpha = np.full((256, 1), _WHITE, np.uint8)
    given = np.frombuffer(png.transparency[:256], np.uint8)
    alpha[: len(given), 0] = given
    return _on_white(table, alpha)


def _widen(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return three channels where there is one."""
    return np.repeat(colours, 3, axis=2) if colours.shape[2] == 1 else colours
