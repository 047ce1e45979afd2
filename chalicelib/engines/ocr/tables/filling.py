"""Assigns text to the cells of a table, orders it, and joins rows or columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import TextLine, around
from chalicelib.engines.ocr.tables.grid import FilledGrid, Lines, Slot, TableGrid, text_of
from chalicelib.engines.ocr.tables.heading import SIGNS, is_numeric
from chalicelib.engines.ocr.tables.rows import group_rows

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles


def fill(grid: TableGrid, pieces: Sequence[TextLine]) -> FilledGrid:
    """Assign each piece of text to the cell that it overlaps most.

    A piece that overlaps no cell is assigned to the nearest one, because a network predicts cells
    that can be slightly wrong.
    """
    return _filled(grid, pieces, _nearest(grid, pieces))


def fill_by_rows(grid: TableGrid, pieces: Sequence[TextLine]) -> FilledGrid:
    """Assign pieces to cells, so that all pieces of a text row are in the same table row.

    In long tables, the predicted cells can be off by a row. So all pieces of a text row go to the
    table row to which most of them belong.
    """
    numbers = dict(zip(map(id, pieces), _nearest(grid, pieces), strict=True))
    single = {
        (slot.row, slot.column): number
        for number, slot in enumerate(grid.slots)
        if slot.row_span == 1
    }
    for row in group_rows(pieces):
        own = [grid.slots[numbers[id(piece)]] for piece in row]
        votes = Counter(slot.row for slot in own if slot.row_span == 1)
        if not votes:
            continue
        winner = votes.most_common(1)[0][0]
        for piece, slot in zip(row, own, strict=True):
            target = single.get((winner, slot.column))
            if slot.row_span == 1 and slot.row != winner and target is not None:
                numbers[id(piece)] = target
    return _filled(grid, pieces, [numbers[id(piece)] for piece in pieces])


def _filled(grid: TableGrid, pieces: Sequence[TextLine], numbers: Sequence[int]) -> FilledGrid:
    texts: list[list[TextLine]] = [[] for _ in grid.slots]
    for piece, number in zip(pieces, numbers, strict=True):
        texts[number].append(piece)
    return FilledGrid(grid, tuple(in_reading_order(lines) for lines in texts))


def _nearest(grid: TableGrid, pieces: Sequence[TextLine]) -> list[int]:
    """Return, for each piece, the index of the cell that it overlaps most, or the nearest cell."""
    slots = np.array(
        [(s.box.min_x, s.box.min_y, s.box.max_x, s.box.max_y) for s in grid.slots], np.float64
    )
    # Cells at about the height of a piece are searched first.
    step = max(1.0, float(np.median(slots[:, 3] - slots[:, 1])))
    bands = (slots[:, [1, 3]] / step).astype(np.int64)
    numbers = []
    for piece in pieces:
        band = int(piece.box.center[1] / step)
        near = np.flatnonzero((bands[:, 0] <= band) & (band <= bands[:, 1]))
        number, is_over = _best(slots[near], piece) if len(near) else (0, False)
        numbers.append(int(near[number]) if is_over else _best(slots, piece)[0])
    return numbers


def _best(slots: Doubles, piece: TextLine) -> tuple[int, bool]:
    """Return the index of a piece's cell, and whether the piece overlaps this cell.

    The cell is the one with the largest overlap, or else the nearest one. Vertical distance counts
    three times, because lines are much wider than high.
    """
    box = piece.box
    shared_x = np.minimum(slots[:, 2], box.max_x) - np.maximum(slots[:, 0], box.min_x)
    shared_y = np.minimum(slots[:, 3], box.max_y) - np.maximum(slots[:, 1], box.min_y)
    shared = np.where((shared_x > 0) & (shared_y > 0), shared_x * shared_y, 0.0)
    if shared.max() > 0:
        union = (slots[:, 2] - slots[:, 0]) * (slots[:, 3] - slots[:, 1]) + box.area - shared
        return int(np.argmax(shared + 1e-3 * shared / np.maximum(union, 1.0))), True
    distance = np.maximum(0.0, -shared_x) + 3.0 * np.maximum(0.0, -shared_y)
    return int(np.argmin(distance)), False


def in_reading_order(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Return the lines of one cell in reading order."""
    return tuple(piece for row in group_rows(lines) for piece in row)


def joined(predicted: FilledGrid, numbers: list[int]) -> FilledGrid:
    """Renumber the rows of a table, and merge the cells that then have the same rows and columns.

    `numbers` has the new index of each row; rows with the same new index are joined. If cells would
    then overlap, the table is returned unchanged.
    """
    merged: dict[tuple[int, int, int], tuple[Slot, Lines]] = {}
    for slot, lines in predicted.cells():
        last = numbers[slot.rows.stop - 1]
        row = numbers[slot.row]
        moved = replace(slot, row=row, row_span=last - row + 1)
        key = (row, slot.column, slot.column_span)
        if key in merged:
            other, texts = merged[key]
            moved = replace(
                other,
                box=around([other.box, slot.box]),
                row_span=max(other.row_span, moved.row_span),
            )
            lines = in_reading_order([*texts, *lines])
        merged[key] = moved, lines
    slots = [slot for slot, _ in merged.values()]
    covered = [(row, column) for slot in slots for row in slot.rows for column in slot.columns]
    if len(set(covered)) < len(covered):
        return predicted
    return predicted.with_cells(dict(merged.values()))


def join_signs(filled: FilledGrid) -> FilledGrid:
    """Join columns that contain only currency signs to the columns of the amounts.

    The first column of signs shows whether amounts are in the next or in the previous column.
    """
    texts: dict[int, dict[int, str]] = {}
    for slot, lines in filled.cells():
        if lines and slot.column_span == 1:
            texts.setdefault(slot.column, {})[slot.row] = text_of(lines)
    signs = sorted(column for column, rows in texts.items() if SIGNS.issuperset(rows.values()))

    def has_amounts(column: int, step: int) -> bool:
        amounts = texts.get(column + step, {})
        rows = [amounts.get(row, "") for row in texts[column]]
        return all(is_numeric(text) and any(map(str.isdecimal, text)) for text in rows)

    step = -1 if signs and has_amounts(signs[0], -1) else 1
    if not signs or not all(has_amounts(column, step) for column in signs):
        return filled
    glued = {max(column, column + step) for column in signs}
    columns = range(filled.grid.column_count)
    numbers = list(accumulate(int(column > 0 and column not in glued) for column in columns))
    return _transposed(joined(_transposed(filled), numbers))


def _transposed(filled: FilledGrid) -> FilledGrid:
    return filled.with_cells(
        {
            Slot(s.column, s.row, s.box, s.column_span, s.row_span, s.is_head): lines
            for s, lines in filled.cells()
        }
    )
