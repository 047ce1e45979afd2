"""Metrics that compare recognized text with the truth."""

from __future__ import annotations

import pytest

from bench.ocr_text_metrics import (
    Edits,
    Tally,
    compare_texts,
    count_edits,
    count_words,
    group_rows,
    total,
    total_edits,
)
from chalicelib.domain.documents.page import Rect


def box(x: float, y: float, width: float = 40, height: float = 20) -> Rect:
    """Make a box by its top left corner."""
    return Rect(x, y, x + width, y + height)


def test_words_are_a_multiset_without_case_and_place() -> None:
    """A word counts as often as it occurs in both, wherever the lines break."""
    tally = count_words(["To be or", "not to BE"], ["to to", "be", "or xx"])
    assert tally == Tally(hits=4, found=5, truth=6)
    assert tally.recall == pytest.approx(4 / 6)
    assert tally.precision == pytest.approx(4 / 5)
    assert tally.f1 == pytest.approx(8 / 11)


def test_sets_are_micro_averages() -> None:
    """A long document weighs more than a short one."""
    short, long = count_words(["a"], ["b"]), count_words(["c " * 9], ["c " * 9])
    assert total([short, long]).f1 == pytest.approx(0.9)
    assert total_edits([Edits(1, 1), Edits(0, 9)]).rate == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("truth", "found", "f1", "rate"),
    [([], [], 1.0, 0.0), ([], ["x"], 0.0, 1.0), (["x"], [], 0.0, 1.0)],
)
def test_nothing_is_judged_too(truth: list[str], found: list[str], f1: float, rate: float) -> None:
    """An empty result for an empty page is right; anything else is wrong."""
    assert count_words(truth, found).f1 == f1
    assert compare_texts("".join(truth), "".join(found)).rate == rate


def test_rows_are_read_from_the_left_whatever_the_order_of_boxes() -> None:
    """Boxes of a little different height are one row, and boxes a line lower are another."""
    pieces = [
        ("d", box(0, 31)),
        ("b", box(50, 3)),
        ("c", box(100, 0)),
        ("a", box(0, 5)),
        ("e", box(60, 28)),
    ]
    assert [[text for text, _ in row] for row in group_rows(pieces)] == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    assert group_rows([]) == []


def test_edits_ignore_case_and_spaces_but_not_order() -> None:
    """Two columns that change places cost edits, a lost space costs none."""
    truth = [("Total due", box(0, 0)), ("12.50", box(100, 2))]
    assert count_edits(truth, [("TOTALDUE", box(0, 1)), ("12.5O", box(90, 0))]) == Edits(1, 13)
    swapped = [("Total due", box(100, 0)), ("12.50", box(0, 2))]
    assert count_edits(truth, swapped).rate > 0.5
