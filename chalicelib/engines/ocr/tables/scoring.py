"""Computes the probability that a proposed table structure is right, by logistic regression.

The inputs describe the structure, its text and the ruled lines. The weights are fitted by `python
-m bench.fit_tables` on generated tables only.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import msgspec

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.filling import join_signs
from chalicelib.engines.ocr.tables.grid import FilledGrid, text_of
from chalicelib.engines.ocr.tables.heading import SIGNS, are_numeric, is_value, is_wordy
from chalicelib.engines.ocr.tables.rows import group_rows, row_box
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings, row_separators
from chalicelib.engines.ocr.tables.sifting import agreement, crammed

WEIGHTS = Path(__file__).parents[3] / "assets" / "ocr" / "tables.json"
LATTICE, ALIGNMENT, NETWORK = "lattice", "alignment", "network"
BETWEEN_ROWS, BETWEEN_COLUMNS = "rows", "columns"
# Names of the inputs, in the order of Structure.inputs.
INPUTS = (
    "joinedColumns", "joinedRows", "wrapped", "rhythm", "tight", "empty", "named", "numbers",
    "wordy", "cutByRules", "cells", "leftOut", "agreement", "isLattice", "isNetwork",
    "looseSigns",
)  # fmt: skip


@dataclass(frozen=True)
class Structure:
    """A proposed structure of a table, with the facts that determine its probability."""

    filled: FilledGrid
    source: str
    """Method that proposed the structure: LATTICE, ALIGNMENT or NETWORK."""
    rulings: Rulings
    """Ruled lines of the page."""
    rivals: tuple[FilledGrid, ...] = ()
    """One structure of each other source for the same text, for comparison."""
    left_out: float = 0.0
    """Fraction of the text pieces in all competing structures that are not in this structure."""

    @cached_property
    def inputs(self) -> tuple[float, ...]:
        """Values of the regression's inputs, in the order of `INPUTS`."""
        filled = self.filled
        pieces = max(1, sum(map(len, filled.texts)))
        texts = [[line for line in lines if line.text not in SIGNS] for lines in filled.texts]
        inside = _rules_inside(self.rulings, filled.grid.box)
        rules = row_separators(inside.horizontal, filled.grid.box)
        rows = _rows_of_text(filled, rules)
        within = [gap.white for gap in rows if gap.is_same_row]
        # A ruled line already separates its two rows, so the gap between them is not evidence.
        between = [gap.white for gap in rows if not gap.is_same_row and not gap.is_ruled]
        usual = median([gap.white for gap in rows if not gap.is_same_row] or [1.0])
        return (
            sum(len(row) - 1 for lines in texts for row in group_rows(lines)) / pieces,
            crammed(filled) / pieces,
            _wrapped_share(filled),
            _rhythm(within, between),
            _tightness(between, usual),
            1 - filled.filled / max(1, len(filled.grid.slots)),
            _named_share(filled),
            _number_share(filled),
            sum(is_wordy(line.text) for line in filled.lines()) / pieces,
            _cut_share(filled, inside),
            math.log(len(filled.grid.slots)),
            self.left_out,
            fmean([agreement(filled, rival) for rival in self.rivals] or [0.9]),
            float(self.source == LATTICE),
            float(self.source == NETWORK) * filled.grid.probability,
            float(join_signs(filled) != filled),
        )


class TableCut(NamedTuple):
    """A place at which text may be divided into two tables, or into a table and other text."""

    direction: str
    """BETWEEN_ROWS or BETWEEN_COLUMNS."""
    inputs: dict[str, float]
    parts: tuple[Sequence[TextLine], Sequence[TextLine]]


# Returns the probability, 0 to 1, that a structure is right, or that a cut divides no table.
Weigh = Callable[[Structure | TableCut], float]


class FittedWeights(msgspec.Struct):
    """Fitted bias, and the weight of each input by its name."""

    bias: float
    weights: dict[str, float]

    def probability(self, inputs: dict[str, float]) -> float:
        """Return the probability, 0 to 1, for the values of inputs."""
        score = self.bias + sum(self.weights[name] * each for name, each in inputs.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


class TableWeights(FittedWeights):
    """Fitted weights; their file also describes the data on which they were fitted."""

    cuts: dict[str, FittedWeights]
    """Weights of cuts, by the direction of the cut."""


@cache
def fitted_weights() -> TableWeights:
    """Return the fitted weights; the first call of a process reads their file."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=TableWeights)


def likelihood(each: Structure | TableCut) -> float:
    """Return the probability, 0 to 1, that a structure or a cut is right.

    A structure is right if at least 95 % of the pairs of neighbouring cells are correct; a cut is
    right if no table is on both sides of it.
    """
    fitted = fitted_weights()
    if isinstance(each, TableCut):
        return fitted.cuts[each.direction].probability(each.inputs)
    return fitted.probability(dict(zip(INPUTS, each.inputs, strict=True)))


class _Gap(NamedTuple):
    white: float
    """Height of the gap, in pixels."""
    is_same_row: bool
    """Whether both rows of text are in one row of the table."""
    is_ruled: bool
    """Whether a ruled line is in the gap."""


def _rows_of_text(filled: FilledGrid, rules: Sequence[float]) -> list[_Gap]:
    """Return the gaps between the rows of text, from the top."""
    # A cell over several rows does not show which of the rows its text is in.
    owners = {
        id(line): slot.row for slot, lines in filled.cells() for line in lines if slot.row_span == 1
    }
    rows = [[line for line in row if id(line) in owners] for row in group_rows(filled.lines())]
    result = []
    for above, below in pairwise(row for row in rows if row):
        last = {owners[id(line)] for line in above}
        top, bottom = row_box(above), row_box(below)
        shared = sum(owners[id(line)] in last for line in below)
        is_ruled = any(top.center[1] < rule < bottom.center[1] for rule in rules)
        result.append(_Gap(bottom.min_y - top.max_y, 2 * shared > len(below), is_ruled))
    return result


def _rhythm(within: Sequence[float], between: Sequence[float]) -> float:
    """Return how often (0 to 1) a gap within a row is nearly as large as a gap between rows."""
    ordered = sorted(between)
    nearer = sum(bisect_right(ordered, white / settings.NEAR_TO_ROW_SPACE) for white in within)
    return nearer / max(1, len(within) * len(between))


def _tightness(between: Sequence[float], usual: float) -> float:
    """Return how close rows are, 0 to 1: 1 if all rows touch, 0 if gaps are `usual` or wider."""
    shares = [1 - max(0.0, white) / max(1.0, usual) for white in between]
    return fmean([max(0.0, share) for share in shares] or [0.0])


def _wrapped_share(filled: FilledGrid) -> float:
    """Return the fraction of rows that fill only some of the columns of the row above."""
    columns: dict[int, set[int]] = {}
    for slot, lines in filled.cells():
        for row in slot.rows if lines else ():
            columns.setdefault(row, set()).update(slot.columns)
    ordered = [columns[row] for row in sorted(columns)]
    return sum(below < above for above, below in pairwise(ordered)) / max(1, len(ordered))


def _named_share(filled: FilledGrid) -> float:
    """Return the fraction of columns that have words above the first row of numbers."""
    places = [(slot, text_of(lines)) for slot, lines in filled.cells() if lines]
    numbers = (slot.row for slot, text in places if is_value(text))
    rows = max(1, min(settings.MOST_HEADER_ROWS, min(numbers, default=1)))
    named = {
        column
        for slot, text in places
        if slot.row < rows and not is_value(text)
        for column in slot.columns
    }
    return len(named) / max(1, filled.grid.column_count)


def _number_share(filled: FilledGrid) -> float:
    """Return the fraction of columns after the first in which most texts are numbers."""
    columns: dict[int, list[str]] = {}
    for slot, lines in filled.cells():
        if lines and slot.column and slot.column_span == 1:
            columns.setdefault(slot.column, []).append(text_of(lines))
    return fmean(map(are_numeric, columns.values())) if columns else 0.0


def _rules_inside(rulings: Rulings, box: Rect) -> Rulings:
    return Rulings(
        tuple(_clipped(rulings.horizontal, (box.min_y, box.max_y), (box.min_x, box.max_x))),
        tuple(_clipped(rulings.vertical, (box.min_x, box.max_x), (box.min_y, box.max_y))),
    )


def _clipped(
    rules: Iterable[Ruling], across: tuple[float, float], along: tuple[float, float]
) -> Iterable[Ruling]:
    for rule in rules:
        start, end = max(rule.start, along[0]), min(rule.end, along[1])
        if across[0] < rule.position < across[1] and end > start:
            yield Ruling(rule.position, start, end, rule.thickness)


def _cut_share(filled: FilledGrid, inside: Rulings) -> float:
    """Return the square root of the fraction of ruled lines that pass between texts of one cell."""
    cells = [[line.box for line in lines] for lines in filled.texts if len(lines) > 1]
    flat = [[(b.min_x, b.max_x, b.min_y, b.max_y) for b in boxes] for boxes in cells]
    tall = [[(b.min_y, b.max_y, b.min_x, b.max_x) for b in boxes] for boxes in cells]
    cut = sum(_cuts(rule, flat) for rule in inside.horizontal)
    cut += sum(_cuts(rule, tall) for rule in inside.vertical)
    # The first ignored line is a strong sign, further lines add little.
    return math.sqrt(cut / max(1, len(inside.horizontal) + len(inside.vertical)))


def _cuts(rule: Ruling, cells: Iterable[Sequence[tuple[float, float, float, float]]]) -> bool:
    sides = ((zip(*boxes, strict=True), boxes) for boxes in cells)
    return any(
        min(top) < rule.position < max(bottom)
        and rule.start <= (max(left) + min(right)) / 2 <= rule.end
        and not any(box[2] < rule.position < box[3] for box in boxes)
        for (left, right, top, bottom), boxes in sides
    )
