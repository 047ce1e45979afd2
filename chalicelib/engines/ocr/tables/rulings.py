"""Finds the straight lines of a page: drawn lines, hairlines, and edges of shaded areas.

The detector looks for edges: a line has two, the border of a shaded area has one. So it finds dark
lines, light lines and mere changes of colour alike. Coordinates are pixels of the raster, origin
at the top left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.tables import settings

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Ints, Pixels


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line, horizontal or vertical."""

    position: float
    """Middle of the line: y of a horizontal one, x of a vertical one."""
    start: float
    """Left or upper end."""
    end: float
    """Right or lower end."""
    thickness: float
    """Distance between the outermost edges in pixels; about 1 for the edge of a shaded area."""

    @property
    def length(self) -> float:
        """Distance between the ends."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Rulings:
    """The straight lines of a page."""

    horizontal: tuple[Ruling, ...]
    """Horizontal lines, from top to bottom."""
    vertical: tuple[Ruling, ...]
    """Vertical lines, from left to right."""


def darkest_channel(pixels: Pixels) -> Pixels:
    """Return each pixel's smallest channel, uint8, shape (height, width).

    In this channel, coloured hairlines are dark. The input is RGB, uint8, shape (height, width, 3).
    """
    return np.minimum(np.minimum(pixels[..., 0], pixels[..., 1]), pixels[..., 2])


def find_rulings(gray: Pixels, text: Sequence[Rect], text_height: float) -> Rulings:
    """Find the straight lines of a page.

    Args:
        gray: uint8, shape (height, width).
        text: boxes of lines of text; edges inside a box are strokes of letters.
        text_height: the usual height of a line of text, in pixels.
    """
    boxes = np.array([(b.min_x, b.min_y, b.max_x, b.max_y) for b in text]).reshape(-1, 4)
    horizontal = _find_direction(gray, boxes, text_height, settings.HORIZONTAL_RULE_EMS)
    vertical = _find_direction(
        np.ascontiguousarray(gray.T),
        boxes[:, [1, 0, 3, 2]],
        text_height,
        settings.VERTICAL_RULE_EMS,
    )
    return Rulings(horizontal, vertical)


def _find_direction(
    gray: Pixels, text: Doubles, text_height: float, share: float
) -> tuple[Ruling, ...]:
    """Find horizontal lines that are at least `share` text heights long.

    Transpose the image to find vertical lines. `text` has left, top, right and bottom of each line
    of text, shape (lines, 4).
    """
    least = max(8, round(share * text_height))
    if gray.shape[0] < 3 or gray.shape[1] < least:
        return ()
    steps = gray[2:].astype(np.int16) - gray[:-2]
    contrast = max(
        settings.MIN_CONTRAST, settings.NOISE_SHARE * float(np.median(np.abs(steps[::4, ::4])))
    )
    edges: list[Ruling] = []
    for mask in (steps > contrast, steps < -contrast):
        runs = _long_runs(mask, least, text_height)
        pieces = [Ruling(float(row), float(start), float(end), 1.0) for row, start, end in runs]
        edges += [edge for edge in _merge(pieces, 2.0) if not _is_stroke(edge, text)]
    edges.sort(key=lambda edge: edge.position)
    rulings = _merge(edges, max(3.0, settings.RULE_THICKNESS_EMS * text_height))
    longest = sorted(rulings, key=lambda ruling: -ruling.length)[: settings.MOST_PARTS]
    return tuple(sorted(longest, key=lambda ruling: (ruling.position, ruling.start)))


def _is_stroke(edge: Ruling, text: Doubles) -> bool:
    """Return whether an edge is completely inside one or two lines of text, as strokes are.

    If lines of text are close together, strokes of two lines can form a single edge.
    """
    crossed = text[
        (edge.position > text[:, 1])
        & (edge.position < text[:, 3])
        & (edge.start < text[:, 2])
        & (edge.end > text[:, 0])
    ]
    reached = edge.start
    for start, end in sorted(zip(crossed[:, 0].tolist(), crossed[:, 2].tolist(), strict=True)):
        if start - 2 <= reached:
            reached = max(reached, end + 2)
    return 0 < len(crossed) < 3 and reached >= edge.end


def _long_runs(mask: Bools, least: int, text_height: float) -> Ints:
    """Return the horizontal runs of at least `least` set pixels, with small gaps closed.

    Gaps of at most a quarter of the text height are closed between parts that are longer than the
    strokes of letters. The result has row, start and end (exclusive) of each run, shape (runs, 3),
    sorted by row. Row 0 of `mask` is row 1 of the raster and of the result.
    """
    part = min(least, max(4, round(settings.RULE_PART_EMS * text_height)))
    row, starts, ends = find_runs(mask, part, mask.shape[1])
    row, starts, ends = _close(row, starts, ends, max(1, round(text_height / 4)))
    long = np.flatnonzero(ends - starts >= least)
    if len(long) > settings.MOST_SMALL_PARTS:
        order = np.argsort(starts[long] - ends[long], kind="stable")[: settings.MOST_SMALL_PARTS]
        long = np.sort(long[order])
    return np.stack([row[long] + 1, starts[long], ends[long]], axis=1)


def find_runs(mask: Bools, least: float, most: float) -> tuple[Ints, Ints, Ints]:
    """Return row, start and end (exclusive) of the horizontal runs of set pixels, sorted by row.

    Runs shorter than `least` or longer than `most` pixels are left out.
    """
    rows, width = mask.shape
    padded = np.zeros((rows, width + 2), np.bool_)
    padded[:, 1:-1] = mask
    flat = padded.ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    starts, lengths = changes[::2], changes[1::2] - changes[::2]
    kept = (lengths >= least) & (lengths <= most)
    row, starts = np.divmod(starts[kept], width + 2)
    return row, starts, starts + lengths[kept]


def _close(row: Ints, starts: Ints, ends: Ints, gap: int) -> tuple[Ints, Ints, Ints]:
    if not len(row):
        return row, starts, ends
    apart = (row[1:] != row[:-1]) | (starts[1:] - ends[:-1] > gap)
    first = np.concatenate([[True], apart])
    last = np.concatenate([apart, [True]])
    return row[first], starts[first], ends[last]


def _merge(pieces: Sequence[Ruling], reach: float) -> list[Ruling]:
    """Merge sorted edges up to `reach` pixels apart; no line is thicker than 1.5 * `reach`."""
    done: list[Ruling] = []
    active: list[tuple[Ruling, float, float]] = []
    for piece in pieces:
        still: list[tuple[Ruling, float, float]] = []
        grown, first, last = piece, piece.position, piece.position
        for other, top, bottom in active:
            if piece.position - bottom > reach:
                done.append(other)
            elif (
                min(other.end, grown.end) >= max(other.start, grown.start)
                and last - top <= 1.5 * reach
            ):
                first, grown = min(first, top), _union(other, grown)
            else:
                still.append((other, top, bottom))
        still.append((grown, first, last))
        active = still
    return done + [other for other, _, _ in active]


def _union(first: Ruling, second: Ruling) -> Ruling:
    top = min(first.position - first.thickness / 2, second.position - second.thickness / 2)
    bottom = max(first.position + first.thickness / 2, second.position + second.thickness / 2)
    return Ruling(
        (top + bottom) / 2, min(first.start, second.start), max(first.end, second.end), bottom - top
    )


def erase(pixels: Pixels, rulings: Rulings, max_thickness: float) -> Pixels:
    """Return a copy of RGB pixels in which drawn lines have the colour of the background.

    Lines thicker than `max_thickness` pixels are shaded areas, which are not erased.
    """
    clean = pixels.copy()
    turned = clean.transpose(1, 0, 2)
    for image, lines in ((clean, rulings.horizontal), (turned, rulings.vertical)):
        for ruling in lines:
            if ruling.thickness <= max_thickness:
                _paint(image, ruling)
    return clean


def _paint(pixels: Pixels, ruling: Ruling) -> None:
    """Erase a horizontal line, in place.

    The upper half gets the colours of the row above, and the lower half those of the row below. So
    the edges of shaded areas stay where they are.
    """
    top = max(0, int(ruling.position - ruling.thickness / 2 + 0.5))
    bottom = min(pixels.shape[0], int(ruling.position + ruling.thickness / 2 + 0.5))
    middle = (top + bottom) // 2
    columns = slice(max(0, int(ruling.start) - 1), int(ruling.end) + 2)
    above = pixels[top - 1, columns] if top else pixels[min(bottom, len(pixels) - 1), columns]
    below = pixels[bottom, columns] if bottom < len(pixels) else above
    pixels[top:middle, columns] = np.median(above, axis=0).astype(np.uint8)
    pixels[middle:bottom, columns] = np.median(below, axis=0).astype(np.uint8)


def row_separators(rulings: Sequence[Ruling], box: Rect) -> list[float]:
    """Return the y coordinates of ruled lines that span most of the table, from top to bottom."""
    return [
        ruling.position
        for ruling in rulings
        if box.min_y < ruling.position < box.max_y
        and min(ruling.end, box.max_x) - max(ruling.start, box.min_x)
        >= settings.RULED_OFF_SHARE * box.width
    ]
