"""Finds the tables of a page.

Ruled cells are found by lines that cross. Other tables are searched between horizontal lines of the
same width, and where text is aligned in columns. A network predicts their rows and columns; if the
prediction contradicts the text, the alignment is used.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.findings import Cell, Table
from chalicelib.domain.documents.page import ReadPage, Rect, TextLine, around
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine
from chalicelib.engines.ocr.skew import LEAST, PageRotation, find_angle, is_level
from chalicelib.engines.ocr.tables import measures
from chalicelib.engines.ocr.tables.blanks import read_blanks
from chalicelib.engines.ocr.tables.filling import fill, fill_by_rows, join_wrapped, part_by_rows
from chalicelib.engines.ocr.tables.grid import FilledGrid, TableGrid, text_of, without_empty_lanes
from chalicelib.engines.ocr.tables.heading import kinds
from chalicelib.engines.ocr.tables.lattice import find_lattices, lattice_grid
from chalicelib.engines.ocr.tables.pieces import cut_page, text_height
from chalicelib.engines.ocr.tables.rows import group_rows, row_box
from chalicelib.engines.ocr.tables.rulings import (
    Ruling,
    Rulings,
    darkest_channel,
    erase,
    find_rulings,
)
from chalicelib.engines.ocr.tables.sifting import (
    agreement,
    conflicts,
    crowded_share,
    is_absurd,
    is_ruled_table,
    is_table,
)
from chalicelib.engines.ocr.tables.unruled.alignment import aligned_grid, row_separators
from chalicelib.engines.ocr.tables.unruled.growing import Region
from chalicelib.engines.ocr.tables.unruled.headed import find_headed
from chalicelib.engines.ocr.tables.unruled.regions import aligned_regions, ruled_regions
from chalicelib.engines.ocr.turning import (
    needed_turns,
    turned_lines,
    turned_pixels,
    turned_rects,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.engines.ocr.tables.structure import StructureModel


def find_tables(
    page: ReadPage, engine: TextEngine, structure: StructureModel | None, check: CancelCheck
) -> tuple[Table, ...]:
    """Find the tables of a page.

    Args:
        page: page as read, with pixels.
        engine: engine that reads cells with ink but no text.
        structure: network for tables without ruled cells; None if it is not installed, then the
            alignment of the text is used.
        check: called between steps.

    Returns:
        The tables from top to bottom, in coordinates of the page; none without pixels or text.
    """
    if page.pixels is None or not page.lines:
        return ()
    found = _level_tables(page, engine, structure, check)
    # A table that is sideways on an upright page is read on a copy that is turned.
    for turns in (1, 3):
        lines = [line for line in page.lines if needed_turns([line]) == turns]
        if len(lines) < measures.FEWEST_SIDEWAYS:
            continue
        turned = replace(
            page,
            turns=(page.turns + turns) % 4,
            pixels=turned_pixels(page.pixels, turns),
            lines=tuple(turned_lines(lines, turns, page.width, page.height)),
            rules=page.rules and turned_rects(page.rules, turns, page.width, page.height),
        )
        sideways = _level_tables(turned, engine, structure, check)
        found += tuple(_quarter_turned(table, 4 - turns, turned) for table in sideways)
    return tuple(sorted(found, key=lambda table: (table.box.min_y, table.box.min_x)))


def _quarter_turned(table: Table, turns: int, page: ReadPage) -> Table:
    """Return a table of a turned page in coordinates of the upright one."""
    boxes = [table.box, *(cell.box for cell in table.cells)]
    box, *places = turned_rects(boxes, turns, page.width, page.height)
    cells = (replace(cell, box=at) for cell, at in zip(table.cells, places, strict=True))
    return replace(table, box=box, cells=tuple(cells))


def _level_tables(
    page: ReadPage, engine: TextEngine, structure: StructureModel | None, check: CancelCheck
) -> tuple[Table, ...]:
    """Find the tables of a page with pixels whose text is upright."""
    if page.pixels is None:
        return ()
    turn = PageRotation(find_angle(page.lines), page.width, page.height)
    lines = tuple(
        line for line in page.lines if is_level(line, turn.angle) and needed_turns([line]) % 2 == 0
    )
    if page.is_exact or abs(turn.angle) < LEAST:
        level = replace(page, lines=lines)
        return _between_text(_tables(_Sheet(level, engine, structure, check, page.pixels)), level)
    pixels = turn.pixels(page.pixels)
    upright = replace(page, pixels=pixels, lines=tuple(map(turn.upright, lines)))
    found = _tables(_Sheet(upright, engine, structure, check, pixels))
    return tuple(_turned_back(table, turn) for table in _between_text(found, upright))


def _between_text(tables: Iterable[Table], page: ReadPage) -> tuple[Table, ...]:
    """Return tables with the rows of text above and below them on their upright page."""
    rows = [(row_box(row).center[1], text_of(row)) for row in group_rows(page.lines)]
    return tuple(
        replace(
            table,
            above=tuple(text for y, text in rows if y < table.box.min_y),
            below=tuple(text for y, text in rows if y > table.box.max_y),
        )
        for table in tables
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """An upright page, and the tools to process it."""

    page: ReadPage
    engine: TextEngine
    structure: StructureModel | None
    check: CancelCheck
    pixels: Pixels


def _tables(sheet: _Sheet) -> list[Table]:
    """Find the tables of an upright page."""
    height = text_height(sheet.page.lines)
    rulings = find_rulings(
        darkest_channel(sheet.pixels), [line.box for line in sheet.page.lines], height
    )
    sheet.check()
    clean = replace(
        sheet.page, pixels=erase(sheet.pixels, rulings, measures.RULE_THICKNESS_EMS * height)
    )
    pieces = cut_page(clean, rulings.vertical, sheet.engine, sheet.check)
    sheet.check()
    found = list(_lattices(rulings, pieces, height))
    sheet.check()
    free = _outside(pieces, found)
    rules = [rule for rule in rulings.horizontal if not _in_any(rule, found)]
    found += [
        _sure(filled, measures.HEADED_CERTAINTY) for filled in find_headed(free, rules, height)
    ]
    free = _outside(pieces, found)
    for regions in (ruled_regions, aligned_regions):
        for region in list(regions(free, rules, height)):
            sheet.check()
            left = {id(piece) for piece in _outside(region.pieces, found)}
            if len(left) < len(region.pieces):
                region = _only(region, left)
            filled = _filled(sheet, region, rules) if len(left) > 1 else None
            if filled is not None and is_table(filled, is_ruled=region.is_ruled):
                found.append(filled)
        free = _outside(pieces, found)
    ordered = sorted(found, key=lambda filled: (filled.grid.box.min_y, filled.grid.box.min_x))
    return [_table(_complete(filled, clean, sheet, height)) for filled in ordered]


def _only(region: Region, left: Container[int]) -> Region:
    """Return a region without the text of another table."""
    pieces = tuple(piece for piece in region.pieces if id(piece) in left)
    return replace(
        region, pieces=pieces, box=around(piece.box for piece in pieces or region.pieces)
    )


def _complete(filled: FilledGrid, clean: ReadPage, sheet: _Sheet, height: float) -> FilledGrid:
    """Read texts in a table that the engine missed, unless the page has a text layer."""
    if clean.is_exact or clean.pixels is None:
        return filled
    sheet.check()
    return read_blanks(filled, clean.pixels, height, sheet.engine, sheet.check)


def _lattices(rulings: Rulings, pieces: Sequence[TextLine], height: float) -> Iterator[FilledGrid]:
    """Yield the tables with ruled cells."""
    for lattice in find_lattices(rulings, height):
        inside = _inside(pieces, lattice.box)
        if len(inside) < 4:
            continue
        grid = lattice_grid(lattice, inside)
        if grid is None:
            continue
        filled = part_by_rows(fill(grid, _inside(pieces, grid.box)))
        parted = _parted_by_text(filled, rulings.horizontal)
        if parted is not None:
            yield parted
        elif is_ruled_table(filled):
            # Cells with many lines that are not one wrapped text may be several rows.
            certainty = measures.RULED_CERTAINTY * (1 - crowded_share(filled))
            yield _sure(_with_open_rows(filled, rulings, height), certainty)


def _parted_by_text(filled: FilledGrid, rules: Sequence[Ruling]) -> FilledGrid | None:
    """Return a table by its alignment if the ruled lines join what the text clearly parts."""
    wrong = conflicts(filled)
    if wrong < measures.JOINED_SHARE:
        return None
    pieces = list(filled.lines())
    separators = row_separators(rules, filled.grid.box)
    aligned = fill(aligned_grid(pieces, separators), pieces)
    left = conflicts(aligned)
    if left > measures.STILL_JOINED_SHARE * wrong or not is_table(aligned, is_ruled=True):
        return None
    return _sure(aligned, measures.ALIGNED_CERTAINTY * (1 - left))


def _with_open_rows(filled: FilledGrid, rulings: Rulings, height: float) -> FilledGrid:
    """Add rows by the text to a lattice that only has columns."""
    headed = list(find_headed(list(filled.lines()), (), height))
    if len(headed) != 1 or headed[0].grid.row_count <= filled.grid.row_count:
        return filled
    is_whole = sum(map(len, headed[0].texts)) >= sum(map(len, filled.texts))
    return headed[0] if is_whole else filled


def _inside(pieces: Iterable[TextLine], box: Rect) -> list[TextLine]:
    """Return the pieces whose centre is in a box."""
    return [
        piece
        for piece in pieces
        if box.min_x <= piece.box.center[0] <= box.max_x
        and box.min_y <= piece.box.center[1] <= box.max_y
    ]


def _outside(pieces: Sequence[TextLine], found: Sequence[FilledGrid]) -> list[TextLine]:
    """Return the pieces that are not in a table."""
    taken = {id(piece) for filled in found for piece in filled.lines()}
    taken |= {id(piece) for filled in found for piece in _inside(pieces, filled.grid.box)}
    return [piece for piece in pieces if id(piece) not in taken]


def _in_any(rule: Ruling, found: Sequence[FilledGrid]) -> bool:
    """Return whether a horizontal line belongs to a found table."""
    middle = (rule.start + rule.end) / 2
    return any(
        filled.grid.box.min_x <= middle <= filled.grid.box.max_x
        and filled.grid.box.min_y - 3 <= rule.position <= filled.grid.box.max_y + 3
        for filled in found
    )


def _filled(sheet: _Sheet, region: Region, rules: Sequence[Ruling]) -> FilledGrid | None:
    """Return the slots and the text of a region."""
    separators = row_separators(rules, region.box)
    aligned = fill(aligned_grid(region.pieces, separators), region.pieces)
    if not is_table(aligned, is_ruled=region.is_ruled):
        return None
    predicted = (
        _predict_table(sheet, region)
        if len(aligned.grid.slots) <= measures.MOST_NETWORK_PLACES
        else None
    )
    if predicted is None:
        return _sure(aligned, measures.ALIGNED_CERTAINTY * (1 - conflicts(aligned)))
    if _is_worse(predicted, aligned):
        return _sure(aligned, measures.ALIGNED_CERTAINTY * agreement(predicted, aligned))
    joined = join_wrapped(predicted, aligned)
    return _sure(
        joined, measures.NETWORK_CERTAINTY * joined.grid.probability * agreement(joined, aligned)
    )


def _sure(filled: FilledGrid, probability: float) -> FilledGrid:
    """Return a table with the probability that its structure is right."""
    return replace(filled, grid=replace(filled.grid, probability=probability))


def _is_worse(predicted: FilledGrid, aligned: FilledGrid) -> bool:
    """Return whether a predicted structure contradicts the text more than the alignment."""
    has_more = predicted.grid.column_count > aligned.grid.column_count
    return conflicts(predicted) > (0 if has_more else conflicts(aligned))


def _predict_table(sheet: _Sheet, region: Region) -> FilledGrid | None:
    """Return the network's table of a region; None without a network or if implausible."""
    if sheet.structure is None:
        return None
    box = around([region.box, *(piece.box for piece in region.pieces)])
    left, top = max(0, int(box.min_x) - 4), max(0, int(box.min_y) - 4)
    crop = sheet.pixels[top : int(box.max_y) + 5, left : int(box.max_x) + 5]
    grid = sheet.structure.grid(np.ascontiguousarray(crop), (left, top))
    filled = without_empty_lanes(fill_by_rows(grid, region.pieces))
    if not filled.grid.slots or is_absurd(filled):
        return None
    return filled


def _table(filled: FilledGrid) -> Table:
    """Return a table in the form of answers."""
    names = kinds(filled)
    cells = []
    for slot, lines, kind in zip(filled.grid.slots, filled.texts, names, strict=True):
        box = around(line.box for line in lines) if lines else slot.box
        cells.append(
            Cell(
                slot.row + 1,
                slot.column + 1,
                text_of(lines),
                _probability(lines, filled.grid),
                box,
                kind,
                slot.row_span,
                slot.column_span,
            )
        )
    box = around([filled.grid.box, *(line.box for line in filled.lines())])
    return Table(box, tuple(cells), filled.grid.probability)


def _probability(lines: Sequence[TextLine], grid: TableGrid) -> float:
    """Return the mean of lines by length; that of the structure without lines."""
    weight = sum(len(line.text) for line in lines)
    if not weight:
        return grid.probability
    return sum(line.probability * len(line.text) for line in lines) / weight


def _turned_back(table: Table, turn: PageRotation) -> Table:
    """Return a table in coordinates of the original page."""
    cells = tuple(replace(cell, box=turn.back(cell.box)) for cell in table.cells)
    return replace(table, box=turn.back(table.box), cells=cells)
