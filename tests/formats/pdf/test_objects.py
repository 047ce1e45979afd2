"""Ruled lines drawn in PDFs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.formats.documents import open_document
from chalicelib.formats.pdf.document import read_rules
from chalicelib.formats.pdf.frames import ProcessFailed
from tests.pdfs import pdf, text_sheet

WORDS = "A text layer that is long enough"
PIXELS = 200 / 72
"""Of the raster, for each point."""


def _rules(drawing: bytes) -> list[list[int]]:
    """Return the lines of a page of 612 x 842 points with a drawing, in points."""
    sheet = text_sheet([WORDS])
    sheet = replace(sheet, media=(0, 0, 612, 842), content=sheet.content + b"\n" + drawing)
    with open_document(pdf([sheet]), 1) as document:
        page = document.page(1, False)
    return [
        [round(side / PIXELS) for side in (rect.min_x, rect.min_y, rect.max_x, rect.max_y)]
        for rect in page.rules or ()
    ]


@pytest.mark.parametrize(
    ("drawing", "rules"),
    [
        (b"100 742 m 300 742 l S", [[100, 100, 300, 100]]),
        (b"100 742 m 100 642 l S", [[100, 100, 100, 200]]),
        (b"100 741.8 200 .4 re f", [[100, 100, 300, 100]]),
        (b"[3 3] 0 d 100 742 m 300 742 l S", []),
        (b"100 742 m 102 742 l S", []),
        (b"100 742 m 200 650 l S", []),
        (b"1 g 100 600 100 92 re f", []),
        (b"100 742 m 300 742 l n", []),
    ],
)
def test_drawn_lines(drawing: bytes, rules: list[list[int]]) -> None:
    """Strokes and filled strips are rules; dashes, slopes, ticks and white on white are not."""
    assert _rules(drawing) == rules


def test_sides_of_fills() -> None:
    """A filled area has four sides, and so has a white area on it."""
    assert len(_rules(b".8 .9 1 rg 100 500 200 150 re f")) == 4
    assert len(_rules(b".8 .9 1 rg 100 500 200 150 re f 1 g 150 550 50 50 re f")) == 8


def test_page_of_very_many_lines_has_none() -> None:
    """A page with a pattern of very many lines has no rules."""
    assert _rules(b"".join(b"50 %d m 500 %d l S " % (n % 700, n % 700) for n in range(9000))) == []


def test_damaged_rules_are_noticed() -> None:
    """Invalid rules from the PDF process are rejected."""
    with pytest.raises(ProcessFailed):
        read_rules([(0.0, 0.0, float("nan"), 1.0)])
    with pytest.raises(ProcessFailed):
        read_rules([(0.0, 0.0, 9.0, 1.0)] * 5000)
