"""Squares in the pixels of a page: chalicelib/engines/ocr/forms/tick_boxes/squares.py."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import ImageDraw

from chalicelib.domain.documents.page import Rect, Square
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.tick_boxes.squares import find_squares
from tests.engines.ocr.forms.drawn import DrawnForm

TEXT_HEIGHT = 24.0


def _squares(form: DrawnForm) -> list[Square]:
    return find_squares(np.asarray(form.image), TEXT_HEIGHT)


@pytest.mark.parametrize("side", [15, 22, 36])
def test_square_is_found_with_its_ink(side: int) -> None:
    """Squares are found at their place, and a cross is ink inside."""
    form = DrawnForm()
    form.box(100, 100, 100 + side, 100 + side)
    form.box(300, 100, 300 + side, 100 + side)
    form.rule(304, 104, 296 + side, 96 + side)
    form.rule(304, 96 + side, 296 + side, 104)

    empty, ticked = _squares(form)

    assert empty.rect.overlap(Rect(100, 100, 100 + side, 100 + side)) > 0.9 * side * side
    assert empty.ink == 0
    assert ticked.ink > 0.1


def test_mark_may_cross_the_side() -> None:
    """A square with a tick beyond its corner is found."""
    form = DrawnForm()
    form.box(100, 100, 122, 122)
    ImageDraw.Draw(form.image).line((103, 112, 109, 119, 130, 92), fill=0, width=3)

    (found,) = _squares(form)

    assert abs(found.rect.center[0] - 111) < 2
    assert found.ink > 0.1


def test_cells_of_a_table_are_no_squares() -> None:
    """Cells whose lines continue beyond the cell are not found."""
    form = DrawnForm()
    for at in range(4):
        form.rule(100, 100 + 24 * at, 172, 100 + 24 * at)
        form.rule(100 + 24 * at, 100, 100 + 24 * at, 172)

    assert _squares(form) == []


def test_squares_of_a_page_are_limited() -> None:
    """Of a page full of boxes, only as many are returned as a form may have."""
    form = DrawnForm()
    for y in range(10, 880, 30):
        for x in range(10, 1220, 30):
            form.box(x, y, x + 20, y + 20)

    assert 0 < len(_squares(form)) <= 2 * settings.MOST_ALIKE


def _circle(form: DrawnForm, x: float, y: float, side: float, *, is_ticked: bool = False) -> None:
    draw = ImageDraw.Draw(form.image)
    draw.ellipse((x, y, x + side, y + side), outline=0, width=2)
    if is_ticked:
        draw.ellipse((x + side / 4, y + side / 4, x + 3 * side / 4, y + 3 * side / 4), fill=0)


@pytest.mark.parametrize("side", [20, 26, 34])
def test_circles_are_found_with_their_ink(side: int) -> None:
    """Two equal circles in a row are radio buttons, and a dot is ink inside."""
    form = DrawnForm()
    _circle(form, 100, 100, side)
    _circle(form, 300, 100, side, is_ticked=True)

    empty, ticked = _squares(form)

    assert abs(empty.rect.center[0] - 100 - side / 2) < 2
    assert (empty.ink, ticked.ink > 0.3) == (0, True)


def test_letters_and_single_circles_are_no_radio_buttons() -> None:
    """A circle without another one of its size, and letters of words, are not found."""
    form = DrawnForm()
    _circle(form, 100, 100, 26)
    _circle(form, 300, 100, 34)
    form.write(100, 300, "TOO COOL FOR OOO", 30)

    assert _squares(form) == []
