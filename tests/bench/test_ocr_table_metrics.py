"""Metrics that compare found tables with true ones."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.ocr_table_metrics import (
    GridText,
    adjacency_relations,
    cells_of,
    count_cells,
    count_relations,
    pair_tables,
    teds,
)
from bench.ocr_text_metrics import Tally
from chalicelib.domain.documents.findings import COLUMN_HEADER, Cell, Table
from chalicelib.domain.documents.page import Rect

HEAD = (GridText(1, 1, "Item", is_head=True), GridText(1, 2, "Unit price", is_head=True))
SMALL = (*HEAD, GridText(2, 1, "Pen"), GridText(2, 2, ""), GridText(3, 1, "Ink"))


def test_relations_skip_empty_cells_and_spaces() -> None:
    """Relations link each cell to the next one with text, right and below."""
    cells = (*SMALL, GridText(3, 2, "2.50"))
    assert adjacency_relations(cells) == Counter(
        {
            ("Item", "Unitprice", "right"): 1,
            ("Ink", "2.50", "right"): 1,
            ("Item", "Pen", "below"): 1,
            ("Pen", "Ink", "below"): 1,
            ("Unitprice", "2.50", "below"): 1,
        }
    )


def test_spanning_cells_relate_to_each_neighbour_once() -> None:
    """A merged cell is the neighbour of every cell below it, once each."""
    cells = (
        GridText(0, 0, "Sum", column_span=2),
        GridText(1, 0, "a"),
        GridText(1, 1, "b", row_span=2),
        GridText(2, 0, "c"),
    )
    assert adjacency_relations(cells) == Counter(
        {
            ("Sum", "a", "below"): 1,
            ("Sum", "b", "below"): 1,
            ("a", "b", "right"): 1,
            ("a", "c", "below"): 1,
            ("c", "b", "right"): 1,
        }
    )


def test_a_false_table_costs_its_relations() -> None:
    """Relations of a page are pooled over its tables."""
    assert count_relations([HEAD, HEAD], [HEAD]) == Tally(hits=1, found=2, truth=1)
    assert count_relations([], [HEAD]) == Tally(hits=0, found=0, truth=1)


def test_cells_need_place_spans_and_text() -> None:
    """A cell is right when row, column, spans and text are; origins may differ."""
    moved = tuple(GridText(cell.row - 1, cell.column - 1, cell.text) for cell in SMALL)
    assert count_cells(moved, SMALL) == Tally(hits=5, found=5, truth=5)
    wide = (GridText(1, 1, "Item", column_span=2), *SMALL[1:])
    assert count_cells(wide, SMALL) == Tally(hits=4, found=5, truth=5)


def test_teds_counts_texts_spans_and_the_head() -> None:
    """Equal tables have a TEDS of 1; errors in text, spans and header lower it."""
    assert teds(SMALL, SMALL) == 1.0
    slip = (*SMALL[:-1], GridText(3, 1, "Ink!"))
    nodes = 1 + 2 + 3 + 5
    assert teds(slip, SMALL) == pytest.approx(1 - 0.25 / nodes)
    wide = (*SMALL[:-1], GridText(3, 1, "Ink", column_span=2))
    assert teds(wide, SMALL) == pytest.approx(1 - 1 / nodes)
    headless = tuple(GridText(cell.row, cell.column, cell.text) for cell in SMALL)
    assert teds(headless, SMALL) < 0.9


def test_teds_refuses_trees_that_would_take_for_ever() -> None:
    """TEDS refuses to compare two huge tables."""
    with pytest.raises(ValueError, match="at most 3000"):
        teds([GridText(1, column, "x") for column in range(3000)], SMALL)


def test_tables_are_paired_by_their_place() -> None:
    """Each table is paired once, with the one that covers it most."""
    found = [Rect(0, 0, 100, 100), Rect(0, 0, 90, 100), Rect(500, 0, 600, 100)]
    assert pair_tables(found, [Rect(0, 0, 92, 100), Rect(0, 300, 10, 310)]) == ((1, 0),)


def test_a_found_table_is_seen_as_measures_see_it() -> None:
    """Kind, place, spans and text are taken over."""
    box = Rect(0, 0, 10, 10)
    table = Table(box, (Cell(1, 1, "Item", 0.9, box, COLUMN_HEADER, 1, 2),))
    assert cells_of(table) == (GridText(1, 1, "Item", 1, 2, True),)
