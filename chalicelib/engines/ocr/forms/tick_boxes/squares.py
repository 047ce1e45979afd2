"""Finds small squares and circles in the pixels of a page, and measures the ink inside.

A square is a horizontal run of dark pixels with dark pixels at its sides and below it. Cells of
tables are not found, because their lines continue beyond the cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect, Square
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.tables.rulings import find_runs

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints, Pixels


def find_squares(gray: Pixels, text_height: float) -> list[Square]:
    """Find the squares and circles that are about as tall as the text.

    Args:
        gray: brightness, uint8, shape (height, width).
        text_height: usual height of a line of text, in pixels.

    Returns:
        The squares and circles from top to bottom.
    """
    dark = gray < max(0, int(np.median(gray[::4, ::4])) - settings.BOX_PAPER_NOISE)
    found: list[Square] = []
    # A mark that crosses one side makes it longer, so both are tried as the first side.
    for way in (1, -1):
        for rect in _closed(dark[::way], text_height):
            place = rect
            if way < 0:
                place = replace(rect, min_y=len(dark) - rect.max_y, max_y=len(dark) - rect.min_y)
            if not any(each.rect.overlap(place) > 0 for each in found):
                found.append(_measured(dark, place))
    # A small filled square, or one with a cross, looks like a circle. A dot in a circle is smaller.
    squares = [each.rect for each in found]
    rings = _rings(dark, text_height)
    rings = [one for one in rings if not any(2 * one.overlap(each) > one.area for each in squares)]
    pairs = [one for one in rings if any(_is_pair(one, other) for other in rings)]
    found = [each for each in found if not any(one.overlap(each.rect) > 0 for one in pairs)]
    for rect in pairs:
        # The middle half; the corners of a circle's box are dark.
        x, y, half = int(rect.center[0]), int(rect.center[1]), int(rect.width / 4)
        core = dark[y - half : y + half + 1, x - half : x + half + 1]
        found.append(Square(rect, float(core.mean()), is_round=True))
    return sorted(found, key=lambda each: (each.rect.min_y, each.rect.min_x))


def _runs(dark: Bools, least: float, most: float) -> Ints:
    """Return row, start and end of each horizontal run of dark pixels of such a length, (runs, 3).

    Runs at the right or lower edge of the page are left out.
    """
    runs = np.stack(find_runs(dark, least, most), axis=1)
    kept: Ints = runs[(runs[:, 0] < len(dark) - 1) & (runs[:, 2] < dark.shape[1] - 2)]
    return kept


def _closed(dark: Bools, text_height: float) -> Iterator[Rect]:
    """Yield the squares whose upper sides are runs of dark pixels as long as a tick box is wide."""
    low, high = (share * text_height for share in settings.TICK_BOX_HEIGHTS)
    runs = _runs(dark, max(settings.LEAST_TICK_BOX_PIXELS, low), high)
    if not len(runs):
        return
    top, left, right = runs.T
    bottom = _lower_sides(runs, np.cumsum(dark, axis=1, dtype=np.int32))
    sums = np.cumsum(dark, axis=0, dtype=np.int32)
    is_closed = bottom > 0
    for edges in ((left, left + 1, left + 2), (right - 1, right - 2, right - 3)):
        lengths = [sums[bottom, edge] - sums[top, edge] for edge in edges]
        is_closed &= np.max(lengths, axis=0) >= settings.FULL_LINE_SHARE * (bottom - top)
    for at in np.flatnonzero(is_closed)[: settings.MOST_ALIKE].tolist():
        yield Rect(float(left[at]), float(top[at]), float(right[at]), float(bottom[at] + 1))


def _lower_sides(runs: Ints, sums: Ints) -> Ints:
    """Return the lowest row that is dark below each run, and not beyond its ends; 0 if none is.

    `sums` has the number of dark pixels up to each column, shape (height, width).
    """
    top, left, right = runs.T
    width, last = right - left, len(sums) - 1
    times = 1 + settings.BOX_OFF_SHARE
    before, after = np.maximum(left - 4, 0), np.minimum(right + 2, sums.shape[1] - 1)
    found: Ints = np.zeros_like(top)
    longest = int(width.max() * times)
    for step in range(int(width.min() / times), longest + 1):
        row = np.minimum(top + step, last)
        inside = sums[row, right - 1] - sums[row, left]
        is_side = inside >= settings.FULL_LINE_SHARE * width
        # The line of a table, or the side of a row of boxes, continues.
        is_side &= sums[row, after] - sums[row, before] - inside <= 4
        is_side &= (step * times >= width) & (top + step <= last)
        is_side &= step <= width * times
        found[is_side] = row[is_side]
    return found


def _measured(dark: Bools, rect: Rect) -> Square:
    """Return the square with its ink, which is 1 for a filled one."""
    left, top, right, bottom = map(int, (rect.min_x, rect.min_y, rect.max_x, rect.max_y))
    own = dark[top:bottom, left:right]
    is_side = own[:, own.shape[1] // 2 - 1 : own.shape[1] // 2 + 2].all(axis=1)
    inside = np.flatnonzero(~is_side)
    edge = int(inside[0]) + 1 if len(inside) else len(own)
    core = own[edge:-edge, edge:-edge]
    space = max(2, round(settings.BOX_OFF_SHARE * (right - left)))
    outside = dark[top:bottom, max(0, left - space) : left], dark[top:bottom, right : right + space]
    is_tight = any(int(each.any(axis=1).sum()) > 2 for each in outside)
    return Square(rect, float(core.mean()) if core.size else 1.0, is_tight)


def _is_pair(first: Rect, second: Rect) -> bool:
    """Return whether two circles are equally large, and in one row or column."""
    offsets = [abs(a - b) for a, b in zip(first.center, second.center, strict=True)]
    is_alike = abs(first.width - second.width) <= settings.RULE_JOINT_PIXELS
    return is_alike and min(offsets) < first.width / 2 and max(offsets) > first.width


def _area_next_to(rect: Rect, way: int) -> tuple[slice, slice]:
    """Return the area left (-1) or right (1) of a circle, where letters have their neighbours."""
    space = settings.BOX_OFF_SHARE * rect.width
    near = rect.center[0] + way * (rect.width / 2 + 2)
    start, end = sorted((int(near), int(near + way * space)))
    return slice(int(rect.min_y), int(rect.max_y) + 1), slice(max(0, start), max(0, end))


def _rings(dark: Bools, text_height: float) -> list[Rect]:
    """Return the circles, as of radio buttons: dark in eight directions, and light around."""
    low, high = (share * text_height for share in settings.TICK_BOX_HEIGHTS)
    # Letters like o are smaller.
    low = max(settings.LEAST_TICK_BOX_PIXELS, low) * (1 + settings.BOX_OFF_SHARE / 2)
    # The run at the top of a circle is a part of its width.
    top, left, right = _runs(dark, low / 5, high).T
    across = (left + right - 1) / 2
    height, width = dark.shape
    thick = dark.copy()
    thick[1:] |= dark[:-1]
    thick[:-1] |= dark[1:]
    thick[:, 1:] |= dark[:, :-1]
    thick[:, :-1] |= dark[:, 1:]
    found: list[Rect] = []
    # The largest first, because the dot of a radio button is a circle, too.
    for size in range(int(high), int(low) - 1, -1):
        radius = size / 2
        down = top + radius
        is_ring = (top > 4) & (down + radius + 4 < height)
        is_ring &= (across > radius + 4) & (across + radius + 4 < width)
        centers = np.stack([down, across])[:, is_ring]
        for reach, raster, is_dark in ((radius - 1, thick, True), (radius + 3, dark, False)):
            for turn in range(8):
                angle = turn * np.pi / 4
                way = np.array([[np.cos(angle)], [np.sin(angle)]])
                y, x = np.rint(centers + reach * way).astype(np.intp)
                centers = centers[:, raster[y, x] == is_dark]
        for y, x in centers.T.tolist():
            rect = Rect(x - radius, y - radius, x + radius, y + radius)
            is_alone = (
                not dark[_area_next_to(rect, -1)].any() and not dark[_area_next_to(rect, 1)].any()
            )
            if is_alone and not any(each.overlap(rect) > 0 for each in found):
                found.append(rect)
        if len(found) > settings.MOST_ALIKE:
            return []
    return found
