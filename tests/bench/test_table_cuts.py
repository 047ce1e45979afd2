"""Cuts of generated pages are right if no table is on both sides."""

from __future__ import annotations

import pytest

from bench import table_cuts
from bench.table_cuts import CutCase, cut_figures, fit_cuts, read_cuts
from bench.table_families import CUT_FAMILIES
from chalicelib.engines.ocr.tables.scoring import BETWEEN_COLUMNS, BETWEEN_ROWS, FittedWeights


def cuts_of(monkeypatch: pytest.MonkeyPatch, family: str, seeds: range) -> list[CutCase]:
    """Return the cuts of some pages of one family."""
    monkeypatch.setattr(table_cuts, "_FAMILIES", {family: CUT_FAMILIES[family]})
    monkeypatch.setattr(table_cuts, "SEEDS", seeds)
    monkeypatch.setattr(table_cuts, "MORE_SEEDS", seeds)
    return list(read_cuts())


def test_a_cut_between_two_tables_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the cuts of two tables next to each other, only the one between them is right."""
    cuts = cuts_of(monkeypatch, "plain, one right", range(1))

    assert len([cut for cut in cuts if cut.direction == BETWEEN_COLUMNS and cut.is_right]) == 1
    assert not [cut for cut in cuts if cut.direction == BETWEEN_ROWS and cut.is_right]


def test_no_cut_of_one_table_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide gutter or a blank row inside a table is an example of a wrong cut."""
    cuts = cuts_of(monkeypatch, "plain wide", range(2))

    assert {cut.is_right for cut in cuts} == {False}


def test_figures_count_found_and_wrong_cuts() -> None:
    """Each cut counts with the weights that were fitted without its family."""
    weights = {"gap": 1.0}
    high, low = FittedWeights(5.0, weights), FittedWeights(-5.0, weights)
    cases = [
        CutCase(family, direction, {"gap": 0.0}, is_right=family == "two")
        for family in ("one", "two")
        for direction in (BETWEEN_ROWS, BETWEEN_COLUMNS)
    ]

    figures = cut_figures(
        cases,
        {
            "one": {BETWEEN_ROWS: high, BETWEEN_COLUMNS: low},
            "two": {BETWEEN_ROWS: low, BETWEEN_COLUMNS: high},
        },
    )

    assert figures == {
        BETWEEN_ROWS: {"places": 2, "right": 1, "rightMade": 0, "wrongMade": 1},
        BETWEEN_COLUMNS: {"places": 2, "right": 1, "rightMade": 1, "wrongMade": 0},
    }


def test_weights_separate_right_cuts() -> None:
    """A cut with a wide gap is more probable if right cuts have wide gaps."""
    cases = [
        CutCase("one", direction, {"gap": float(number)}, is_right=number > 5)
        for number in range(10)
        for direction in (BETWEEN_ROWS, BETWEEN_COLUMNS)
    ]

    fitted = fit_cuts(cases)

    for weights in fitted.values():
        assert weights.probability({"gap": 9.0}) > weights.probability({"gap": 0.0})
