"""Finds the ink of a line: its rows, its columns and the gaps between them.

Positions along the line are 0 at its beginning and 1 at its end. Positions across the line are 0
at the top of its box and 1 at the bottom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from chalicelib.domain.documents.page import Point, Quad, TextLine, around_points

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Ints, Pixels

# Minimum difference between the brightness of paper and ink; below it, an area is empty.
_LEAST_CONTRAST = 24
# Longer horizontal strokes are ruled lines, in heights of the box.
_RULE_LENGTH = 2.5
# Columns with more ink are vertical ruled lines, as a fraction of the box.
_RULE_HEIGHT = 0.94
# Ink further from the middle of every character than this was not read, in heights of the ink.
_REACH = 0.9
# Minimum number of separate strokes of unread text; a frame or an underline is one. Then their
# minimum total width, in heights of the ink.
_LEAST_STROKES, _LEAST_UNREAD = 2, 0.5
# Larger images of lines are reduced to this height, in pixels.
_MOST_SIDE = 4_000


@dataclass(frozen=True, slots=True)
class Ink:
    """The ink of one line."""

    top: float
    """Position of the first pixel row with ink, as a fraction of the height of the line's box."""
    bottom: float
    """Position after the last pixel row with ink, as a fraction of the height of the line's box."""
    spans: tuple[tuple[float, float], ...]
    """Beginning and end of each run of columns with ink, along the line, in order."""
    ratio: float
    """Length of the line's box, divided by its height."""

    @property
    def height(self) -> float:
        """Height of the ink, as a fraction of the line's length."""
        return (self.bottom - self.top) / self.ratio


def find_ink(pixels: Pixels, line: TextLine) -> Ink | None:
    """Find the ink of a line in the pixels of its page.

    Args:
        pixels: RGB, uint8, shape (height, width, 3).
        line: line, in pixels of that raster.

    Returns:
        The ink, without ruled lines and without descenders of the line above; None without ink.
    """
    grey = _line_grey(pixels, line)
    if grey is None:
        return None
    mask = _ink_mask(grey)
    if mask is None:
        return None
    rows = _text_rows(np.any(mask, axis=1), mask.sum(axis=1))
    mask[: rows[0]] = False
    mask[rows[1] :] = False
    height, width = mask.shape
    starts, ends = stretches(np.any(mask, axis=0))
    if not len(starts):
        return None
    spans = tuple(zip((starts / width).tolist(), (ends / width).tolist(), strict=True))
    return Ink(rows[0] / height, rows[1] / height, spans, width / height)


def part_of(line: TextLine, start: float, end: float, ink: Ink) -> TextLine:
    """Return a copy of a line, its box reduced to the ink from `start` to `end` along the line."""
    quad = _part_of_quad(line.corners, (start, end), (ink.top, ink.bottom))
    length = end - start
    places = tuple(min(1.0, max(0.0, (place - start) / length)) for place in line.places)
    return replace(
        line, box=around_points(quad), quad=None if line.quad is None else quad, places=places
    )


def unread_parts(line: TextLine, ink: Ink) -> list[TextLine]:
    """Return the parts of a line whose ink is far from all characters, each with an empty text.

    Engines leave out letters of alphabets that they do not know. A line without positions of its
    characters has no such parts.
    """
    if len(line.places) != len(line.text):
        return []
    reach = _REACH * ink.height
    middles = sorted(at for at, mark in zip(line.places, line.text, strict=True) if mark != " ")
    starts = [0.0, *(middle + reach for middle in middles)]
    ends = [*(middle - reach for middle in middles), 1.0]
    found = []
    for start, end in zip(starts, ends, strict=True):
        strokes = [(max(start, a), min(end, b)) for a, b in ink.spans if a < end and b > start]
        width = sum(b - a for a, b in strokes)
        if len(strokes) >= _LEAST_STROKES and width >= _LEAST_UNREAD * ink.height:
            part = part_of(line, strokes[0][0], strokes[-1][1], ink)
            found.append(replace(part, text="", places=(), course=None))
    return found


def stretches(flags: Bools) -> tuple[Ints, Ints]:
    """Return the first index of each run of True values, and the index after the run."""
    changes = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8)))
    return changes[::2], changes[1::2]


def _line_grey(pixels: Pixels, line: TextLine) -> Doubles | None:
    """Return the brightness of a line, rotated upright, (height, width); None if too small."""
    if line.quad is None:
        left, top = max(0, math.floor(line.box.min_x)), max(0, math.floor(line.box.min_y))
        right, bottom = math.ceil(line.box.max_x), math.ceil(line.box.max_y)
        part = pixels[top:bottom, left:right]
    else:
        part = _turned_part(pixels, line.quad)
    if min(part.shape[:2]) < 2:
        return None
    grey: Doubles = part @ np.array((0.299, 0.587, 0.114))
    return grey


def _turned_part(pixels: Pixels, quad: Quad) -> Pixels:
    """Crop the rotated area of a line, so that the line is horizontal."""
    around = around_points(quad)
    left, top = max(0, math.floor(around.min_x)), max(0, math.floor(around.min_y))
    right, bottom = math.ceil(around.max_x), math.ceil(around.max_y)
    part = pixels[top:bottom, left:right]
    if min(part.shape[:2]) < 2:
        return part
    image = Image.fromarray(np.ascontiguousarray(part))
    size = (
        min(_MOST_SIDE, max(1, round(math.dist(quad[0], quad[1])))),
        min(_MOST_SIDE, max(1, round(math.dist(quad[0], quad[3])))),
    )
    corners = [value for i in (0, 3, 2, 1) for value in (quad[i][0] - left, quad[i][1] - top)]
    turned = image.transform(
        size,
        Image.Transform.QUAD,
        corners,
        Image.Resampling.BILINEAR,
        fillcolor=image.getpixel((0, 0)),
    )
    return np.asarray(turned)


def _ink_mask(grey: Doubles) -> Bools | None:
    """Return a mask of the ink, darker or lighter than the paper; None if there is no ink."""
    if grey.max() - grey.min() < _LEAST_CONTRAST:
        return None
    dark = grey < _threshold(grey)
    border = np.concatenate((dark[0], dark[-1], dark[:, 0], dark[:, -1]))
    mask = ~dark if border.mean() > 0.5 else dark
    mask = _without_rules(mask)
    return mask if mask.any() else None


def _threshold(grey: Doubles) -> float:
    """Return the brightness that best separates ink from paper (Otsu's method)."""
    counts = np.bincount(grey.astype(np.int64).ravel(), minlength=256).astype(np.float64)
    levels = np.arange(256)
    below = np.cumsum(counts)
    total, weighted = below[-1], np.cumsum(counts * levels)
    above = total - below
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = weighted / below - (weighted[-1] - weighted) / above
    variance = np.nan_to_num(below * above * distance**2)
    return float(np.argmax(variance)) + 1.0


def _without_rules(mask: Bools) -> Bools:
    """Remove strokes that are too long or too tall for letters."""
    height, width = mask.shape
    kept = mask.copy()
    longest = int(_RULE_LENGTH * height)
    for row in range(height):
        if mask[row].sum() <= longest:
            continue
        for start, end in zip(*stretches(mask[row]), strict=True):
            if end - start > longest:
                kept[row, start:end] = False
    full = mask.sum(axis=0) >= _RULE_HEIGHT * height
    for start, end in zip(*stretches(full), strict=True):
        if end - start <= max(2, height // 4) and width > 2 * height:
            kept[:, start:end] = False
    return kept


def _text_rows(inked: Bools, counts: Ints) -> tuple[int, int]:
    """Return the first pixel row of a line and the row after its last; ignore other lines."""
    starts, ends = stretches(inked)
    weights = np.add.reduceat(counts, starts)
    main = int(np.argmax(weights))
    first, last = int(starts[main]), int(ends[main])
    near = 0.3 * (last - first)
    for index in range(main - 1, -1, -1):
        if starts[index] == 0 or first - ends[index] > near:
            break
        first = int(starts[index])
    for index in range(main + 1, len(starts)):
        if ends[index] == len(inked) or starts[index] - last > near:
            break
        last = int(ends[index])
    return first, last


def _part_of_quad(quad: Quad, along: tuple[float, float], across: tuple[float, float]) -> Quad:
    def point(u: float, v: float) -> Point:
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
        top_x, top_y = ax + (bx - ax) * u, ay + (by - ay) * u
        bottom_x, bottom_y = dx + (cx - dx) * u, dy + (cy - dy) * u
        return top_x + (bottom_x - top_x) * v, top_y + (bottom_y - top_y) * v

    (start, end), (top, bottom) = along, across
    return point(start, top), point(end, top), point(end, bottom), point(start, bottom)
