"""Groups pieces of text into rows, and finds gutters: white gaps between columns.

Coordinates are pixels of the raster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean

from chalicelib.domain.documents.page import Rect, TextLine, around

# Beginning and end along one direction, in pixels.
Span = tuple[float, float]


def group_rows(pieces: Iterable[TextLine]) -> list[list[TextLine]]:
    """Group pieces into rows from top to bottom; each row is sorted from left to right.

    A piece belongs to a row if its middle is between the row's mean top and mean bottom.
    """
    rows: list[list[TextLine]] = []
    top = bottom = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.box.center[1]):
        if rows and top <= piece.box.center[1] <= bottom:
            rows[-1].append(piece)
            share = 1 / len(rows[-1])
            top += share * (piece.box.min_y - top)
            bottom += share * (piece.box.max_y - bottom)
        else:
            rows.append([piece])
            top, bottom = piece.box.min_y, piece.box.max_y
    return [sorted(row, key=lambda piece: piece.box.min_x) for row in rows]


def pieces_inside(pieces: Iterable[TextLine], box: Rect) -> list[TextLine]:
    """Return the pieces whose centre is in a box."""
    return [
        piece
        for piece in pieces
        if box.min_x <= piece.box.center[0] <= box.max_x
        and box.min_y <= piece.box.center[1] <= box.max_y
    ]


def row_box(row: Sequence[TextLine]) -> Rect:
    """Return the smallest rectangle around a row."""
    return around(piece.box for piece in row)


def white_below(above: Sequence[TextLine], row: Sequence[TextLine]) -> float:
    """Return the gap between two rows, in pixels: negative if they overlap, 0 if one is empty."""
    return row_box(row).min_y - row_box(above).max_y if above and row else 0.0


def aligned_share(row: Iterable[TextLine], others: Iterable[TextLine], text_height: float) -> float:
    """Return the fraction of pieces in `row` with the left, right or middle of one in `others`."""
    sides = [(other.box.min_x, other.box.max_x, other.box.center[0]) for other in others]
    return fmean(
        any(
            2 * min(abs(left - box.min_x), abs(right - box.max_x), abs(middle - box.center[0]))
            <= text_height
            for left, right, middle in sides
        )
        for box in (piece.box for piece in row)
    )


def covered(pieces: Iterable[TextLine]) -> list[Span]:
    """Return the intervals along x that pieces cover, from left to right."""
    return joined((piece.box.min_x, piece.box.max_x) for piece in pieces)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Merge intervals that overlap; the result is sorted."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((start, end))
    return result


def gaps(spans: Sequence[Span]) -> list[Span]:
    """Return the gaps between sorted intervals."""
    return [(left[1], right[0]) for left, right in pairwise(spans)]


def narrowed(gutters: Iterable[Span], row: Iterable[TextLine], least: float) -> list[Span]:
    """Return the parts of gutters that a row's text leaves free, at least `least` pixels wide."""
    free = gaps([(-math.inf, -math.inf), *covered(row), (math.inf, math.inf)])
    parts = ((max(a, start), min(b, end)) for a, b in gutters for start, end in free)
    return [(start, end) for start, end in parts if end - start >= least]
