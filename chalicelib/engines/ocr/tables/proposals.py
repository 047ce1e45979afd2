"""Proposes table structures for a region of text; scoring.py chooses one of them.

Structures come from ruled lines and from the alignment of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, pairwise, takewhile

from chalicelib.domain.documents.page import TextLine, around
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.filling import fill, join_signs, joined
from chalicelib.engines.ocr.tables.grid import FilledGrid, Lines, Slot, TableGrid
from chalicelib.engines.ocr.tables.heading import is_value
from chalicelib.engines.ocr.tables.rows import group_rows, pieces_inside, white_below
from chalicelib.engines.ocr.tables.rulings import Rulings, row_separators
from chalicelib.engines.ocr.tables.scoring import ALIGNMENT, LATTICE, Structure
from chalicelib.engines.ocr.tables.sifting import is_ruled_table, is_table
from chalicelib.engines.ocr.tables.unruled.alignment import aligned_grid, group_name
from chalicelib.engines.ocr.tables.unruled.regions import Region


def lattice_structures(
    grid: TableGrid, pieces: Sequence[TextLine], rulings: Rulings
) -> Iterator[Structure]:
    """Propose structures for the text in `grid`, the cells between crossing ruled lines."""
    filled = fill(grid, pieces_inside(pieces, grid.box))
    # Where there are ruled lines, they separate rows; elsewhere, each row of text is a row.
    split = split_rows(filled, 2)
    for each in _distinct(filled, split, join_to_values(split)):
        is_split = each.grid.row_count >= settings.SPLIT_ROWS_TIMES * filled.grid.row_count
        if each.grid.row_count > filled.grid.row_count and not is_split:
            continue
        if is_table(each, is_ruled=True) if is_split else is_ruled_table(each):
            yield Structure(each, LATTICE, rulings)
    text = tuple(filled.lines())
    if len(text) > 1:
        yield from region_structures(Region(text, grid.box, is_ruled=True), rulings)


def region_structures(region: Region, rulings: Rulings) -> Iterator[Structure]:
    """Propose structures for the text of a region, from its alignment."""
    separators = row_separators(rulings.horizontal, region.box)
    aligned = fill(aligned_grid(region.pieces, separators), region.pieces)
    if not is_table(aligned, is_ruled=region.is_ruled):
        return
    plain = fill(aligned_grid(region.pieces), region.pieces) if separators else aligned
    split = split_rows(aligned, 1)
    named = _with_group_names(aligned, region, separators, rulings)
    for each in _distinct(aligned, plain, split, join_to_values(split), join_near(split), named):
        yield Structure(each, ALIGNMENT, rulings)


def _with_group_names(
    aligned: FilledGrid, region: Region, separators: Sequence[float], rulings: Rulings
) -> FilledGrid:
    """Align text again if the first rows of a region are names of groups of columns.

    Such rows leave the first column free, unlike other text directly above a table.
    """
    rows = group_rows(region.pieces)
    first = next((n for n, row in enumerate(rows) if _has_numbers(row)), 0)
    is_head = 1 < first <= settings.MOST_HEADER_ROWS
    if not is_head or rows[0][0].box.min_x <= rows[first][0].box.max_x:
        return aligned
    names = [group_name(piece, rulings) for row in rows[: first - 1] for piece in row]
    below = [piece for row in rows[first - 1 :] for piece in row]
    return fill(aligned_grid([*names, *below], separators, first - 1), region.pieces)


def _distinct(*filled: FilledGrid) -> Iterator[FilledGrid]:
    """Yield structures and their variants (currency signs or header joined) without duplicates."""
    seen: list[FilledGrid] = []
    for each in filled:
        for one in (each, join_signs(each)):
            for other in (one, join_head(one)):
                if other not in seen:
                    seen.append(other)
                    yield other


def split_rows(filled: FilledGrid, least: int) -> FilledGrid:
    """Split each table row in which at least `least` cells contain several rows of text."""
    numbers: dict[int, int] = {}
    depths = [1] * filled.grid.row_count
    by_row: dict[int, list[Lines]] = {}
    for slot, lines in filled.cells():
        if slot.row_span == 1 and not slot.is_head and lines:
            by_row.setdefault(slot.row, []).append(lines)
    for row, places in by_row.items():
        if sum(len(group_rows(lines)) > 1 for lines in places) < least:
            continue
        rows = group_rows(chain(*places))
        depths[row] = len(rows)
        for number, own in enumerate(rows):
            numbers.update((id(line), number) for line in own)
    if max(depths, default=1) == 1:
        return filled
    return _split_into(filled, depths, numbers)


def join_to_values(filled: FilledGrid) -> FilledGrid:
    """Join each row with few filled columns to the nearest row with many filled columns."""
    rows = filled.row_lines()
    counts = Counter(slot.row for slot, lines in filled.cells() if lines)
    least = max([2, *counts.values()])
    full = [row for row in range(len(rows)) if 2 * counts[row] >= least]
    starts = {0}
    for above, below in pairwise(full):
        # The rows between two full rows are divided at their widest gap.
        places = range(above + 1, below + 1)
        starts.add(max(places, key=lambda row: white_below(rows[row - 1], rows[row])))
    numbers = list(accumulate(int(row in starts and row > 0) for row in range(len(rows))))
    return joined(filled, numbers) if numbers and numbers[-1] < len(rows) - 1 else filled


def join_near(filled: FilledGrid) -> FilledGrid:
    """Join rows with a small gap between them, if most gaps are clearly small or clearly large."""
    rows = filled.row_lines()
    whites = [white_below(above, row) for above, row in pairwise(rows)]
    # The header and notes may be farther from the other rows, or touch them.
    outer = len(whites) // 2 // 2
    usual = sorted(whites)[outer : len(whites) - outer]
    if len(usual) < 2:
        return filled
    _, near, wide = max((above - below, below, above) for below, above in pairwise(usual))
    if near > settings.WRAPPED_TO_ROW_SPACE * wide:
        return filled
    numbers = list(accumulate((int(white > near) for white in whites), initial=0))
    return joined(filled, numbers)


def _split_into(filled: FilledGrid, depths: Sequence[int], numbers: dict[int, int]) -> FilledGrid:
    """Split row i into `depths[i]` parts; `numbers[id(line)]` is the index of a line's part."""
    starts = [sum(depths[:row]) for row in range(len(depths) + 1)]
    texts: dict[Slot, Lines] = {}
    for slot, lines in filled.cells():
        first, depth = starts[slot.row], depths[slot.row]
        if slot.row_span > 1 or slot.is_head or depth == 1:
            span = starts[slot.rows.stop] - first
            texts[replace(slot, row=first, row_span=span)] = lines
            continue
        for part in range(depth):
            own = tuple(line for line in lines if numbers[id(line)] == part)
            box = around(line.box for line in own) if own else slot.box
            texts[replace(slot, row=first + part, box=box)] = own
    return filled.with_cells(texts)


def join_head(filled: FilledGrid) -> FilledGrid:
    """Join the first rows, at most four, that are lines of the same header.

    These rows have no numbers and no spanning cells, and are as close as lines of a paragraph.
    """
    rows = filled.row_lines()
    spanning = {
        slot.row
        for slot, lines in filled.cells()
        if lines and (slot.column_span > 1 or slot.row_span > 1)
    }
    first = next((row for row in range(len(rows)) if row not in spanning), 0)
    joins = (
        row not in spanning and _is_one_head(rows[row - 1], rows[row])
        for row in range(first + 1, min(first + 4, len(rows)))
    )
    last = first + len(list(takewhile(bool, joins)))
    if last == first or last + 1 >= len(rows):
        return filled
    numbers = [row if row < first else max(first, row - last + first) for row in range(len(rows))]
    return joined(filled, numbers)


def _is_one_head(above: Sequence[TextLine], below: Sequence[TextLine]) -> bool:
    """Return whether two rows have no numbers and are as close as lines of the same text."""
    if not above or not below or _has_numbers(above) or _has_numbers(below):
        return False
    least = min(line.box.height for line in below)
    return white_below(above, below) <= settings.CELL_GAP_HEIGHTS * least


def _has_numbers(row: Iterable[TextLine]) -> bool:
    texts = [line.text for line in row if any(map(str.isdecimal, line.text))]
    return any(map(is_value, texts))
