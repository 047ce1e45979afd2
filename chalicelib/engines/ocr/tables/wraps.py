"""Joins rows that a network made of the second lines of cells.

The network looks at the picture, where a wrapped line may look like a row; the white between the
lines tells them apart when rows are further from each other than lines.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from chalicelib.domain.documents.page import TextLine, around
from chalicelib.engines.ocr.tables.filling import in_reading_order
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot


def join_wrapped(told: FilledGrid, aligned: FilledGrid) -> FilledGrid:
    """Join each row to the one above when all its lines go on in cells of that.

    Args:
        told: what the network says.
        aligned: the same pieces, placed by their alignment.

    Returns:
        The network's table with fewer rows; itself when nothing is to be joined.
    """
    cells = {id(line): number for number, lines in enumerate(aligned.texts) for line in lines}
    rows: list[list[TextLine]] = [[] for _ in range(told.grid.row_count)]
    for slot, lines in zip(told.grid.slots, told.texts, strict=True):
        rows[slot.row].extend(lines)
    numbers = [0]
    for above, below in pairwise(rows):
        known = {cells[id(line)] for line in above}
        goes_on = bool(below) and all(cells[id(line)] in known for line in below)
        numbers.append(numbers[-1] + (0 if goes_on else 1))
        if goes_on:
            below.extend(above)
    if numbers[-1] == len(numbers) - 1:
        return told
    return _joined(told, numbers)


def _joined(told: FilledGrid, numbers: list[int]) -> FilledGrid:
    """Give rows new numbers and join the places that meet; the old grid when they overlap."""
    merged: dict[tuple[int, int, int], tuple[Slot, tuple[TextLine, ...]]] = {}
    for slot, lines in zip(told.grid.slots, told.texts, strict=True):
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
        return told
    ordered = sorted(merged.values(), key=lambda place: (place[0].row, place[0].column))
    grid = replace(told.grid, slots=tuple(slot for slot, _ in ordered))
    return FilledGrid(grid, tuple(lines for _, lines in ordered))
