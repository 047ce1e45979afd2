"""Finds the tables of a page.

Tables with ruled cells are found by ruled lines that cross. Other tables are searched for between
horizontal ruled lines of the same width, and where text is aligned in columns. A network may
propose further structures. The most likely of all proposed structures is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.findings import Cell, Table
from chalicelib.domain.documents.page import ReadPage, Rect, TextLine, around
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine
from chalicelib.engines.ocr.skew import LEAST, PageRotation, find_angle, is_level
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.blanks import read_blanks
from chalicelib.engines.ocr.tables.filling import fill_by_rows
from chalicelib.engines.ocr.tables.grid import FilledGrid, TableGrid, text_of
from chalicelib.engines.ocr.tables.heading import kinds
from chalicelib.engines.ocr.tables.lattice import find_lattices
from chalicelib.engines.ocr.tables.pieces import cut_page, text_height
from chalicelib.engines.ocr.tables.proposals import lattice_structures, region_structures
from chalicelib.engines.ocr.tables.rows import group_rows, pieces_inside, row_box
from chalicelib.engines.ocr.tables.rulings import (
    Ruling,
    darkest_channel,
    erase,
    find_rulings,
)
from chalicelib.engines.ocr.tables.scoring import NETWORK, Structure, Weigh, likelihood
from chalicelib.engines.ocr.tables.unruled.dividing import divided
from chalicelib.engines.ocr.tables.unruled.regions import aligned_regions, ruled_regions
from chalicelib.engines.ocr.turning import needed_turns, turned_lines, turned_pixels, turned_rects

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.engines.ocr.tables.structure import StructureModel


def find_tables(
    page: ReadPage,
    engine: TextEngine,
    structure: StructureModel | None,
    check: CancelCheck,
    weigh: Weigh = likelihood,
) -> tuple[Table, ...]:
    """Find the tables of a page, from top to bottom.

    Args:
        page: page as read, with pixels. Without pixels or without text, no tables are found.
        engine: engine that reads cells with ink but no text.
        structure: network that proposes rows and columns; None if it is not installed.
        check: called between steps; may raise an error to stop.
        weigh: returns the probability that a structure, or a cut of text, is right.
    """
    if page.pixels is None:
        return ()
    sheet = _Sheet(page, engine, structure, check, page.pixels, weigh)
    found = _level_tables(sheet)
    # A table that is sideways on an upright page is read from a rotated copy.
    for turns in (1, 3):
        lines = [line for line in page.lines if needed_turns([line]) == turns]
        if len(lines) < settings.FEWEST_SIDEWAYS:
            continue
        pixels = turned_pixels(page.pixels, turns)
        turned = replace(
            page,
            turns=(page.turns + turns) % 4,
            pixels=pixels,
            lines=tuple(turned_lines(lines, turns, page.width, page.height)),
            rules=page.rules and turned_rects(page.rules, turns, page.width, page.height),
        )
        sideways = _level_tables(replace(sheet, page=turned, pixels=pixels))
        back = partial(turned_rects, turns=4 - turns, width=turned.width, height=turned.height)
        found += tuple(_moved(table, back) for table in sideways)
    return tuple(sorted(found, key=lambda table: (table.box.min_y, table.box.min_x)))


def _level_tables(sheet: _Sheet) -> tuple[Table, ...]:
    """Find the tables in the text that is upright; a slightly skewed page is deskewed first."""
    page = sheet.page
    turn = PageRotation(find_angle(page.lines), page.width, page.height)
    lines = tuple(
        line for line in page.lines if is_level(line, turn.angle) and needed_turns([line]) % 2 == 0
    )
    if page.is_exact or abs(turn.angle) < LEAST:
        return _tables(replace(sheet, page=replace(page, lines=lines)))
    pixels = turn.pixels(sheet.pixels)
    upright = replace(page, pixels=pixels, lines=tuple(map(turn.upright, lines)))
    found = _tables(replace(sheet, page=upright, pixels=pixels))
    return tuple(_moved(table, partial(map, turn.back)) for table in found)


def _between_text(tables: Iterable[Table], page: ReadPage) -> tuple[Table, ...]:
    """Store in each table the rows of text above and below it on the page."""
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
    """An upright page, with everything needed to find its tables."""

    page: ReadPage
    engine: TextEngine
    structure: StructureModel | None
    check: CancelCheck
    pixels: Pixels
    weigh: Weigh


def _tables(sheet: _Sheet) -> tuple[Table, ...]:
    if not sheet.page.lines:
        return ()
    height = text_height(sheet.page.lines)
    boxes = [line.box for line in sheet.page.lines]
    rulings = find_rulings(darkest_channel(sheet.pixels), boxes, height)
    sheet.check()
    pixels = erase(sheet.pixels, rulings, settings.RULE_THICKNESS_EMS * height)
    clean = replace(sheet.page, pixels=pixels)
    pieces = cut_page(clean, rulings.vertical, sheet.engine, sheet.check)
    sheet.check()
    found: list[FilledGrid] = []
    for grid in find_lattices(rulings, height):
        found += _chosen(sheet, lattice_structures(grid, _outside(pieces, found), rulings))
    free = _outside(pieces, found)
    rules = [rule for rule in rulings.horizontal if not _in_any(rule, found)]
    regions = (*ruled_regions(free, rules, height), *aligned_regions(free, rules, height))
    parts = (part for region in regions for part in divided(region, rulings, height, sheet.weigh))
    found += _chosen(sheet, (each for part in parts for each in region_structures(part, rulings)))
    if not sheet.page.is_exact:
        # Engines miss single characters; a text layer has them.
        found = [read_blanks(each, pixels, height, sheet.engine, sheet.check) for each in found]
    ordered = sorted(found, key=lambda filled: (filled.grid.box.min_y, filled.grid.box.min_x))
    return _between_text(map(answer_table, ordered), sheet.page)


def _chosen(sheet: _Sheet, structures: Iterable[Structure]) -> list[FilledGrid]:
    """Return the most likely structures. No text is in two of them."""
    chosen = []
    for rivals in _rivals(list(structures)):
        sheet.check()
        scored = _scored(sheet, rivals)
        if scored[0][0] < settings.SURE_STRUCTURE:
            # The network is slow, so it is run only if no other structure is certain.
            predicted = _predicted(sheet, scored[0][1])
            scored = _scored(sheet, [*rivals, *predicted]) if predicted else scored
        taken: set[int] = set()
        for probability, structure in scored:
            own = {id(line) for line in structure.filled.lines()}
            if not own & taken:
                taken |= own
                grid = replace(structure.filled.grid, probability=probability)
                chosen.append(replace(structure.filled, grid=grid))
    return chosen


def _rivals(structures: Sequence[Structure]) -> list[list[Structure]]:
    """Group structures that share text, directly or through other structures of the group."""
    groups: list[tuple[set[int], list[Structure]]] = []
    for structure in structures:
        own = {id(line) for line in structure.filled.lines()}
        joined = [structure]
        for group in [group for group in groups if group[0] & own]:
            groups.remove(group)
            own |= group[0]
            joined = [*group[1], *joined]
        groups.append((own, joined))
    return [group for _, group in groups]


def _scored(sheet: _Sheet, rivals: Sequence[Structure]) -> list[tuple[float, Structure]]:
    """Return competing structures with their probabilities, the most likely first."""
    texts = [{id(line) for line in each.filled.lines()} for each in rivals]
    count = len(set().union(*texts))
    first = {each.source: each.filled for each in reversed(rivals)}
    scored = []
    for each, own in zip(rivals, texts, strict=True):
        others = [filled for source, filled in first.items() if source != each.source]
        left_out = (count - len(own)) / max(1, count)
        measured = replace(each, rivals=tuple(others), left_out=left_out)
        scored.append((sheet.weigh(measured), measured))
    return sorted(scored, key=lambda pair: -pair[0])


def _outside(pieces: Sequence[TextLine], found: Sequence[FilledGrid]) -> list[TextLine]:
    taken = {id(piece) for filled in found for piece in filled.lines()}
    taken |= {id(piece) for filled in found for piece in pieces_inside(pieces, filled.grid.box)}
    return [piece for piece in pieces if id(piece) not in taken]


def _in_any(rule: Ruling, found: Sequence[FilledGrid]) -> bool:
    """Return whether a horizontal ruled line is part of a table that was found."""
    middle = (rule.start + rule.end) / 2
    return any(
        filled.grid.box.min_x <= middle <= filled.grid.box.max_x
        and filled.grid.box.min_y - 3 <= rule.position <= filled.grid.box.max_y + 3
        for filled in found
    )


def _predicted(sheet: _Sheet, best: Structure) -> list[Structure]:
    """Return the structures that the network predicts for the text in a proposed structure."""
    if sheet.structure is None or len(best.filled.grid.slots) > settings.MOST_PARTS:
        return []
    pieces = list(best.filled.lines())
    box = around([best.filled.grid.box, *(piece.box for piece in pieces)])
    left, top = max(0, int(box.min_x) - 4), max(0, int(box.min_y) - 4)
    crop = sheet.pixels[top : int(box.max_y) + 5, left : int(box.max_x) + 5]
    grid = sheet.structure.grid(np.ascontiguousarray(crop), (left, top))
    return [Structure(fill_by_rows(grid, pieces), NETWORK, best.rulings)] if grid.slots else []


def answer_table(filled: FilledGrid) -> Table:
    """Convert a table to the form in which services return it."""
    cells = []
    for slot, lines, kind in zip(filled.grid.slots, filled.texts, kinds(filled), strict=True):
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
    weight = sum(len(line.text) for line in lines)
    total = sum(line.probability * len(line.text) for line in lines)
    return total / weight if weight else grid.probability


def _moved(table: Table, back: Callable[[Sequence[Rect]], Iterable[Rect]]) -> Table:
    """Convert a table to coordinates of the page as read, before it was rotated."""
    box, *places = back([table.box, *(cell.box for cell in table.cells)])
    cells = (replace(cell, box=at) for cell, at in zip(table.cells, places, strict=True))
    return replace(table, box=box, cells=tuple(cells))
