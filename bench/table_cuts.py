"""Fits weights for dividing text into two tables, on generated pages with a text layer.

bench/fit_tables.py writes the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from bench.ocr_reading import go_on
from bench.signed_fit import fit_ridge
from bench.table_families import CUT_FAMILIES, FAMILIES
from bench.table_pages import TablePage, draw_table
from chalicelib.domain.documents.page import Rect, around
from chalicelib.engines.ocr.interface import TextEngine
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.engines.ocr.tables.rows import pieces_inside
from chalicelib.engines.ocr.tables.scoring import (
    BETWEEN_COLUMNS,
    BETWEEN_ROWS,
    FittedWeights,
    Structure,
    TableCut,
)

_FAMILIES = {**FAMILIES, **CUT_FAMILIES}
SEEDS, MORE_SEEDS = range(3), range(24)
"""Seeds of the pages of each family, and of those that draw the families with two tables."""


@dataclass(frozen=True)
class CutCase:
    """A gap at which the text of one table or of two tables may be divided."""

    family: str
    direction: str
    """BETWEEN_ROWS or BETWEEN_COLUMNS."""
    inputs: Mapping[str, float]
    is_right: bool
    """Whether no table is on both sides."""


def read_cuts() -> Iterator[CutCase]:
    """Yield the gaps at which text on generated pages may be divided into tables."""
    for name, family in _FAMILIES.items():
        for seed in MORE_SEEDS if family.second else SEEDS:
            yield from _page_cuts(name, draw_table(name, seed))


def _page_cuts(family: str, drawn: TablePage) -> Iterator[CutCase]:
    """Yield the gaps at which text on one page may be divided into tables."""
    cuts: list[TableCut] = []

    def remember(each: Structure | TableCut) -> float:
        if isinstance(each, TableCut):
            cuts.append(each)
        return 0.0

    # A page with a text layer needs no engine.
    find_tables(drawn.layer(), cast("TextEngine", None), None, go_on, remember)
    boxes = [_table_box(drawn, numbers) for numbers in drawn.tables]
    for cut in cuts:
        sides = [tuple(bool(pieces_inside(part, box)) for part in cut.parts) for box in boxes]
        if any(map(any, sides)):
            yield CutCase(family, cut.direction, cut.inputs, not any(map(all, sides)))


def _table_box(drawn: TablePage, cells: Mapping[tuple[int, ...], object]) -> Rect:
    """Return the box around the text of a table, on the visible part of the page."""
    box = around(drawn.sheet.lines[number].box for numbers in cells for number in numbers)
    x, y = drawn.cut.min_x, drawn.cut.min_y
    return Rect(box.min_x - x, box.min_y - y, box.max_x - x, box.max_y - y)


def fit_cuts(cases: Sequence[CutCase]) -> dict[str, FittedWeights]:
    """Return weights for each direction, by a logistic regression with ridge penalty."""
    return {
        direction: _fit_direction(cases, direction) for direction in (BETWEEN_ROWS, BETWEEN_COLUMNS)
    }


def _fit_direction(cases: Sequence[CutCase], direction: str) -> FittedWeights:
    own = [case for case in cases if case.direction == direction]
    rows = np.array([list(case.inputs.values()) for case in own])
    right = np.array([case.is_right for case in own], dtype=np.float64)
    bias, weights = fit_ridge(rows, right, np.ones(len(own)))
    named = zip(own[0].inputs, weights, strict=True)
    return FittedWeights(round(bias, 3), {name: round(float(weight), 3) for name, weight in named})


def cuts_left_out(cases: Sequence[CutCase]) -> dict[str, dict[str, FittedWeights]]:
    """Return, for each family of tables, the weights of a fit without this family."""
    return {
        family: fit_cuts([case for case in cases if case.family != family]) for family in _FAMILIES
    }


def cut_figures(
    cases: Sequence[CutCase], left_out: Mapping[str, Mapping[str, FittedWeights]]
) -> dict[str, dict[str, int]]:
    """Return numbers of right and wrong cuts. Each case is decided by a fit without its family."""
    figures = {}
    for direction in (BETWEEN_ROWS, BETWEEN_COLUMNS):
        own = [case for case in cases if case.direction == direction]
        made = [
            case.is_right
            for case in own
            if left_out[case.family][direction].probability(case.inputs) >= settings.SURE_CUT
        ]
        figures[direction] = {
            "places": len(own),
            "right": sum(case.is_right for case in own),
            "rightMade": sum(made),
            "wrongMade": len(made) - sum(made),
        }
    return figures
