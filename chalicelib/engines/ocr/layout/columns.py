"""Divides a page into flows: parts that are read row by row, one part after the other.

A page is cut across where its columns begin and end, and then down its gutters, in turns. A gutter
is white from top to bottom of its band and has text on both sides; in a table it has too, so text
counts as columns only where lines are long, or where the rows of both sides do not match.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import TextLine

_SAME_ROW = 0.5
"""How far middles may lie apart in one row, as a share of the lower line's height."""
_GUTTER = 0.7
"""Least width of a gutter, in heights of the print."""
_OVERLAP = 0.1
"""The ends of letters may reach so far into the next line, in heights."""
_PROSE = 18
"""Characters of a line of text, in the narrowest columns."""
_FULL = 0.6
"""Share of a column's width that its lines fill."""
_MATCHING = 0.3
"""How far the middles of matching rows lie apart, in heights."""
_APART = 1.2
"""A running head or page number stands so far from the text, in heights."""
_PICTURE = 3.0
"""White across all columns that ends them above a picture, in heights."""
_LARGER = 1.15
"""A heading's height, in heights of the print around it."""
_DEEPEST = 6
"""Columns within columns."""
_TRIED = 8
"""Gutters of a band that are looked at: its widest."""

Interval = tuple[float, float]
"""Left and right."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words on a page turned so that its lines are level."""

    index: int
    """Its number among the page's runs."""
    left: float
    top: float
    right: float
    bottom: float
    length: int
    """Characters."""

    @property
    def middle(self) -> float:
        """Where its middle is, from the top."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """Its height, at least a pixel."""
        return max(1.0, self.bottom - self.top)


Row = list[Piece]


def level_pieces(lines: Sequence[TextLine], slope: float) -> list[Piece]:
    """Turn runs of a page by its slope, in radians."""
    cosine, sine = math.cos(slope), math.sin(slope)
    pieces = []
    for index, line in enumerate(lines):
        across = [x * cosine + y * sine for x, y in line.corners]
        down = [y * cosine - x * sine for x, y in line.corners]
        ends = min(across), min(down), max(across), max(down)
        pieces.append(Piece(index, *ends, len(line.text)))
    return pieces


def rows_of(pieces: Iterable[Piece]) -> list[Row]:
    """Group pieces into rows from the top, each from the left."""
    rows: list[Row] = []
    middle = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        row = rows[-1] if rows else []
        if row and piece.middle - middle <= _SAME_ROW * min(piece.height, row[-1].height):
            middle += (piece.middle - middle) / (len(row) + 1)
            row.append(piece)
        else:
            rows.append([piece])
            middle = piece.middle
    return [sorted(row, key=lambda piece: piece.left) for row in rows]


def flows(pieces: Sequence[Piece]) -> list[list[Row]]:
    """Return the flows of a page in reading order, each as its rows."""
    if not pieces:
        return []
    height = median(piece.height for piece in pieces)
    strips = _strips(pieces, height)
    head, body, foot = _without_ends(strips, height)
    parts = [*([head] if head else []), *_flows(body, height, 0), *([foot] if foot else [])]
    return [rows_of(part) for part in parts]


class _Strip:
    """Pieces that no white line across the page divides."""

    def __init__(self, pieces: list[Piece], least: float) -> None:
        self.pieces = pieces
        self.top = min(piece.top for piece in pieces)
        self.bottom = max(piece.bottom for piece in pieces)
        self.left = min(piece.left for piece in pieces)
        self.right = max(piece.right for piece in pieces)
        self.free = _free(pieces, least)

        self.height = max(piece.height for piece in pieces)

    @property
    def is_row(self) -> bool:
        """Whether its pieces stand beside each other."""
        return self.bottom - self.top < 2 * self.height

    @property
    def is_divided(self) -> bool:
        """Whether there is something free between its pieces."""
        return len(self.free) > 2


def _strips(pieces: Iterable[Piece], height: float) -> list[_Strip]:
    """Cut a part of a page at every white line across it."""
    found: list[list[Piece]] = []
    reach = -math.inf
    for piece in sorted(pieces, key=lambda piece: piece.top):
        own = _OVERLAP * piece.height
        if piece.top + own >= reach:
            found.append([])
        found[-1].append(piece)
        reach = max(reach, piece.bottom - own)
    return [_Strip(strip, _GUTTER * height) for strip in found]


def _free(pieces: Iterable[Piece], least: float) -> list[Interval]:
    """Return what pieces leave free across the page, the outsides with it."""
    free = []
    reach = -math.inf
    for piece in sorted(pieces, key=lambda piece: piece.left):
        if piece.left - reach >= least:
            free.append((reach, piece.left))
        reach = max(reach, piece.right)
    return [*free, (reach, math.inf)]


def _common(one: list[Interval], other: list[Interval], least: float) -> list[Interval]:
    """Return what is free in both."""
    found = []
    first = second = 0
    while first < len(one) and second < len(other):
        left = max(one[first][0], other[second][0])
        right = min(one[first][1], other[second][1])
        if right - left >= least:
            found.append((left, right))
        if one[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return found


def _without_ends(
    strips: list[_Strip], height: float
) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Take a running head and a page number away from what is between them."""
    first, last = 0, len(strips)
    if len(strips) > 2 and strips[0].is_row:
        first = int(strips[1].top - strips[0].bottom > _APART * height)
    if len(strips) - first > 2 and strips[-1].is_row:
        last -= int(strips[-1].top - strips[-2].bottom > _APART * height)
    parts = strips[:first], strips[first:last], strips[last:]
    head, body, foot = ([piece for strip in part for piece in strip.pieces] for part in parts)
    return head, body, foot


def _flows(pieces: list[Piece], height: float, depth: int) -> list[list[Piece]]:
    """Divide a part of a page into flows."""
    found: list[list[Piece]] = []
    plain: list[Piece] = []
    for band in _bands(_strips(pieces, height), height):
        columns = _columns(band, height) if depth < _DEEPEST else None
        if columns is None:
            plain += band
            continue
        found += [plain] if plain else []
        plain = []
        for column in columns:
            found += _flows(column, height, depth + 1)
    return [*found, plain] if plain else found


def _bands(strips: list[_Strip], height: float) -> list[list[Piece]]:
    """Put neighbouring strips together that have a gutter in common, or none."""
    bands: list[_Band] = []
    for number, strip in enumerate(strips):
        follower = strips[number + 1] if number + 1 < len(strips) else None
        if bands and bands[-1].takes(strip, follower):
            bands[-1].add(strip)
        else:
            bands.append(_Band(strip, height))
    return [[piece for strip in band.strips for piece in strip.pieces] for band in bands]


class _Band:
    """Strips one below the other."""

    def __init__(self, strip: _Strip, height: float) -> None:
        self.strips = [strip]
        self._height = height
        self._left, self._right = strip.left, strip.right
        self._free = strip.free
        self._has_columns = strip.is_divided

    def takes(self, strip: _Strip, follower: _Strip | None) -> bool:
        """Say whether a strip belongs to the band; the follower is the one below it."""
        if not self._has_columns and not strip.is_divided:
            return True
        gutters = self._gutters(strip)
        if not self._has_columns:
            return any(self._right <= gutter[0] for gutter in gutters)
        return bool(gutters) and not (
            self._ends_at_picture(strip, gutters[0]) or self._is_heading(strip, follower, gutters)
        )

    def add(self, strip: _Strip) -> None:
        """Take a strip."""
        self._free = _common(self._free, strip.free, _GUTTER * self._height)
        self._left, self._right = min(self._left, strip.left), max(self._right, strip.right)
        self._has_columns |= strip.is_divided
        self.strips.append(strip)

    def _gutters(self, strip: _Strip) -> list[Interval]:
        """Return the gutters that the band would have with a strip: text stands on both sides."""
        left, right = min(self._left, strip.left), max(self._right, strip.right)
        common = _common(self._free, strip.free, _GUTTER * self._height)
        return [each for each in common if each[0] >= left and each[1] <= right]

    def _ends_at_picture(self, strip: _Strip, gutter: Interval) -> bool:
        """Say whether all columns end at one height, and begin at one, far below."""
        if strip.top - self.strips[-1].bottom < _PICTURE * self._height:
            return False
        above, below = (_sides(part.pieces, gutter) for part in (self.strips[-1], strip))
        if not (all(above) and all(below)):
            return False
        ends = [max(piece.bottom for piece in side) for side in above]
        begins = [min(piece.top for piece in side) for side in below]
        return max(abs(ends[0] - ends[1]), abs(begins[0] - begins[1])) < self._height

    def _is_heading(self, strip: _Strip, follower: _Strip | None, gutters: list[Interval]) -> bool:
        """Say whether a row that stands on one side alone is the heading of what follows."""
        gutter = gutters[0]
        if follower is None or not strip.is_row or all(_sides(strip.pieces, gutter)):
            return False
        if not all(_sides(self.strips[-1].pieces, gutter)):
            return False
        is_larger = strip.height >= _LARGER * self._height
        if _common(gutters, follower.free, _GUTTER * self._height):
            return is_larger and all(_sides(follower.pieces, gutter))
        return is_larger or strip.top - self.strips[-1].bottom > _APART * self._height


def _sides(pieces: Iterable[Piece], gutter: Interval) -> tuple[list[Piece], list[Piece]]:
    """Part pieces at a gutter."""
    sides: tuple[list[Piece], list[Piece]] = [], []
    for piece in pieces:
        sides[piece.left > gutter[0]].append(piece)
    return sides


def _columns(pieces: list[Piece], height: float) -> tuple[list[Piece], list[Piece]] | None:
    """Divide a band at a gutter between columns of text; None when there is none."""
    gutters = _free(pieces, _GUTTER * height)[1:-1]
    for gutter in sorted(gutters, key=lambda each: each[0] - each[1])[:_TRIED]:
        sides = _sides(pieces, gutter)
        if _are_columns(rows_of(sides[0]), rows_of(sides[1])):
            return sides
    return None


def _are_columns(left: list[Row], right: list[Row]) -> bool:
    """Say whether two sides of a gutter are read one after the other, not row by row."""
    if min(len(left), len(right)) < 2:
        return False
    return (_is_prose(left) and _is_prose(right)) or not _match(left, right)


def _is_prose(rows: list[Row]) -> bool:
    """Say whether most rows are long and fill their column."""
    left = min(row[0].left for row in rows)
    width = max(piece.right for row in rows for piece in row) - left
    lengths = [sum(piece.length for piece in row) for row in rows]
    filled = [max(piece.right for piece in row) - row[0].left for row in rows]
    return median(lengths) >= _PROSE and median(filled) >= _FULL * width


def _match(left: list[Row], right: list[Row]) -> bool:
    """Say whether most rows of the shorter side stand beside one of the other."""
    few, many = sorted((left, right), key=len)
    middles = [fmean(piece.middle for piece in row) for row in many]
    matching = 0
    for row in few:
        own = fmean(piece.middle for piece in row)
        nearest = min(abs(own - middle) for middle in middles)
        matching += nearest <= _MATCHING * min(piece.height for piece in row)
    return 2 * matching >= len(few)


def gaps(rows: Sequence[Row]) -> list[float]:
    """Return the distances of the middles of rows that follow each other."""
    middles = [fmean(piece.middle for piece in row) for row in rows]
    return [below - above for above, below in pairwise(middles)]
