"""Finds the rows and columns of a table without ruled cells, from the alignment of its text.

Columns are separated by gutters, white gaps that most rows leave free. Each row of text is a table
row, unless it only continues cells of the row above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect, TextLine, around
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.grid import Slot, TableGrid, in_order
from chalicelib.engines.ocr.tables.rows import Span, group_rows, row_box
from chalicelib.engines.ocr.tables.rulings import Rulings

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Ints


def aligned_grid(
    pieces: Sequence[TextLine], separators: Sequence[float] = (), head: int = 0
) -> TableGrid:
    """Return the cells of a table from the alignment of its text.

    `separators` has the y of ruled lines that separate rows. The first `head` rows name groups of
    columns, so columns are determined from the rows below.
    """
    rows = group_rows(pieces)
    columns = _columns(rows[head:])
    inks = [_ink(rows[head:], column) for column in columns]
    owners = [
        _separate_pieces(row, [_covered_columns(piece.box, inks) for piece in row], columns)
        for row in rows
    ]
    by_row: dict[int, dict[int, Slot]] = {}
    numbers = _row_numbers(rows, owners, separators)
    for row, number, spans in zip(rows, numbers, owners, strict=True):
        for piece, (first, last) in zip(row, spans, strict=True):
            _grow(by_row.setdefault(number, {}), number, first, last, piece.box)
    slots = [slot for own in by_row.values() for slot in own.values()]
    bands = [around(slot.box for slot in own.values()) for own in by_row.values()]
    box = around(piece.box for piece in pieces)
    return TableGrid(box, in_order([*slots, *_empty(slots, bands, columns)]))


def group_name(piece: TextLine, rulings: Rulings) -> TextLine:
    """Widen the box of a piece to the ruled line below it, if the piece is centred above the line.

    Such a piece is the name of a group of columns. Vertical ruled lines next to it limit the width.
    """
    box = piece.box
    x, y = box.center
    for rule in rulings.horizontal:
        if y < rule.position < box.max_y + box.height and rule.start <= x <= rule.end:
            sides = [side.position for side in rulings.vertical if side.start < y < side.end]
            left = max([rule.start, *(side for side in sides if side <= box.min_x)])
            right = min([rule.end, *(side for side in sides if side >= box.max_x)])
            if abs(left + right - 2 * x) < 2 * box.height:
                left, right = min(left, box.min_x), max(right, box.max_x)
                return replace(piece, box=Rect(left, box.min_y, right, box.max_y))
    return piece


def _columns(rows: Sequence[Sequence[TextLine]]) -> list[Span]:
    """Return the horizontal interval of each column; neighbours meet in the middle of a gutter."""
    box = around(piece.box for row in rows for piece in row)
    left, width = box.min_x, int(box.width) + 2
    wide = [row for row in rows if len(row) > 1] or list(rows)
    counts: Ints = np.zeros(width, np.int64)
    for row in wide:
        inked = np.zeros(width, np.bool_)
        for piece in row:
            inked[int(piece.box.min_x - left) : int(piece.box.max_x - left) + 1] = True
        counts += inked
    height = median(piece.box.height for row in rows for piece in row)
    allowed = int(settings.GUTTER_CROSSING_SHARE * len(wide)) if len(wide) > 3 else 0
    free = np.flatnonzero(counts <= allowed)
    stretches = np.split(free, np.flatnonzero(np.diff(free) > 1) + 1) if len(free) else []
    middles = [
        left + float(part[0] + part[-1] + 1) / 2
        for part in stretches
        if len(part) >= settings.GUTTER_EMS * height and part[0] > 0 and part[-1] < width - 2
    ]
    edges = [box.min_x, *middles, box.max_x]
    return list(pairwise(edges))


def _ink(rows: Sequence[Sequence[TextLine]], column: Span) -> Span:
    """Return the horizontal interval of the text inside a column."""
    boxes = [piece.box for row in rows for piece in row]
    inside = [box for box in boxes if column[0] <= box.min_x and box.max_x <= column[1]]
    return (around(inside).min_x, around(inside).max_x) if inside else column


def _covered_columns(box: Rect, inks: Sequence[Span]) -> tuple[int, int]:
    """Return the first and last column below a text; for a gutter, the columns next to it."""
    slack = settings.RULE_SLACK_HEIGHTS * box.height
    first = sum(end < box.min_x + slack for _, end in inks)
    last = sum(start <= box.max_x - slack for start, _ in inks) - 1
    return (first, last) if first <= last else (max(0, last), min(first, len(inks) - 1))


def _separate_pieces(
    row: Sequence[TextLine], owners: Sequence[tuple[int, int]], columns: Sequence[Span]
) -> list[tuple[int, int]]:
    """Return first and last column of each piece in a row, so that neighbours share no column."""
    apart = list(owners)
    for at, (left, right) in enumerate(pairwise(row)):
        (first, last), (start, end) = apart[at], apart[at + 1]
        if last != start or left.box.max_x > right.box.min_x:
            continue
        # The boundary of columns is in the white between the pieces, or in the wider piece.
        if first < last and columns[last][0] + left.box.height > left.box.max_x:
            apart[at] = first, last - 1
        elif start < end and columns[start][1] - right.box.height < right.box.min_x:
            apart[at + 1] = start + 1, end
    return apart


def _row_numbers(
    rows: Sequence[Sequence[TextLine]],
    owners: Sequence[Sequence[tuple[int, int]]],
    separators: Sequence[float],
) -> list[int]:
    """Return the number of the table row to which each row of text belongs.

    `owners` has the first and last column of each piece of each row; `separators` has the y of
    ruled lines that separate rows.
    """
    boxes = [row_box(row) for row in rows]
    between = [below.min_y - above.max_y for above, below in pairwise(boxes)]
    bands = [sum(1 for y in separators if y < box.center[1]) for box in boxes]
    is_banded = len(set(bands)) >= max(3, settings.BANDED_SHARE * len(rows))
    # The usual gap between table rows is the median of the larger half of all gaps.
    usual = median(sorted(between)[len(between) // 2 :]) if between else 0.0
    steps = (
        not (band == band_above and (is_banded or _continues(above, below, white, usual)))
        for (band_above, band), (above, below), white in zip(
            pairwise(bands), pairwise(owners), between, strict=True
        )
    )
    return list(accumulate(map(int, steps), initial=0))


def _continues(
    above: Sequence[tuple[int, int]], below: Sequence[tuple[int, int]], white: float, usual: float
) -> bool:
    """Return whether a row of text only continues cells of the row above.

    `white` is the gap between them, `usual` the usual gap between table rows.
    """
    filled_above = {column for first, last in above for column in range(first, last + 1)}
    filled_below = {column for first, last in below for column in range(first, last + 1)}
    near = white < settings.WRAPPED_TO_ROW_SPACE * usual
    return near and filled_below <= filled_above and len(filled_below) < len(filled_above)


def _grow(slots: dict[int, Slot], row: int, first: int, last: int, box: Rect) -> None:
    """Add a cell for columns `first` to `last` to `slots`, merged with cells that it overlaps."""
    touching = [
        slot for slot in slots.values() if slot.column <= last and slot.columns.stop > first
    ]
    for slot in touching:
        del slots[slot.column]
        first, last = min(first, slot.column), max(last, slot.columns.stop - 1)
    box = around([box, *(slot.box for slot in touching)])
    slots[first] = Slot(row, first, box, 1, last - first + 1)


def _empty(slots: Sequence[Slot], bands: Sequence[Rect], columns: Sequence[Span]) -> list[Slot]:
    """Return a `Slot` for each cell without text."""
    taken = {(slot.row, column) for slot in slots for column in slot.columns}
    return [
        Slot(row, column, Rect(left, band.min_y, right, band.max_y))
        for row, band in enumerate(bands)
        for column, (left, right) in enumerate(columns)
        if (row, column) not in taken
    ]
