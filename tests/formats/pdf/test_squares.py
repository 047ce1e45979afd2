"""Small squares drawn in PDFs, such as tick boxes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.formats.documents import open_document
from chalicelib.formats.pdf.document import read_squares
from chalicelib.formats.pdf.frames import ProcessFailed
from tests.pdfs import pdf, text_sheet

WORDS = "A text layer that is long enough"
PIXELS = 200 / 72
"""Of the raster, for each point."""
EMPTY = b"100 600 10 10 re S "
CROSS = b"102 602 m 108 608 l S 102 608 m 108 602 l S "


def _squares(drawing: bytes, most: int = 1) -> list[tuple[list[int], bool]]:
    """Return the squares of a page with a drawing, in points, and whether each has ink."""
    sheet = text_sheet([WORDS])
    sheet = replace(sheet, media=(0, 0, 612, 842), content=sheet.content + b"\n" + drawing)
    with open_document(pdf([sheet]), 1) as document:
        page = document.page(1, False, most)
    assert page.pixels is None
    return [
        ([round(side / PIXELS) for side in (one.rect.min_x, one.rect.min_y)], one.ink > 0.07)
        for one in page.squares
    ]


@pytest.mark.parametrize(
    ("drawing", "squares"),
    [
        (EMPTY, [([100, 232], False)]),
        (EMPTY + CROSS, [([100, 232], True)]),
        (EMPTY + b"101 601 8 8 re f ", [([100, 232], True)]),
        (b".5 g 100 600 10 10 re f 1 g 101 601 8 8 re f", [([100, 232], False)]),
        (b"100 600 10 40 re S", []),
        (b"100 600 60 60 re S", []),
        (b"100 600 m 110 600 l S 130 610 m 140 610 l S", []),
    ],
)
def test_squares_and_their_ink(drawing: bytes, squares: list[tuple[list[int], bool]]) -> None:
    """Squares of the size of tick boxes are returned, and whether something is drawn inside."""
    assert _squares(drawing)[:1] == squares


@pytest.mark.parametrize(("x", "y"), [(100, -30), (100, -5), (607, 400), (-5, 400), (612, 842)])
def test_square_that_is_not_on_the_page_is_left_out(x: int, y: int) -> None:
    """A square beyond a side of the page is not measured, and the page is read."""
    assert _squares(b"%d %d 10 10 re S " % (x, y)) == []


def test_squares_are_read_only_with_form_fields() -> None:
    """Without form fields, a page is not searched for squares, because it would be drawn."""
    assert _squares(EMPTY, most=0) == []


@pytest.mark.parametrize("square", [(0, 0, float("nan"), 9, 0.1), (0, 0, 9, 9, 2.0)])
def test_damaged_square_is_refused(square: tuple[float, float, float, float, float]) -> None:
    """An answer of the child process with a damaged square is refused."""
    with pytest.raises(ProcessFailed):
        read_squares([square])
