"""Tick boxes of a page: chalicelib/engines/ocr/forms/tick_boxes/boxes.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import ImageDraw

from chalicelib.domain.documents.page import FormWidget, Rect, TextLine, around
from chalicelib.engines.ocr.forms.segments import make_segments
from chalicelib.engines.ocr.forms.tick_boxes.boxes import FoundBox, find_boxes
from tests.engines.ocr.forms.drawn import DrawnForm


def _found(form: DrawnForm) -> tuple[list[str], tuple[FoundBox, ...]]:
    page = form.read()
    texts, boxes = find_boxes(page, make_segments(page.lines, 0.0), 0.0)
    return [each.text for each in texts], boxes


@pytest.mark.parametrize(
    ("text", "parts", "states"),
    [
        ("☐ Male ☒ Female", ["Male", "Female"], [False, True]),
        ("[ ] Yes [X] No", ["Yes", "No"], [False, True]),
        ("( ) Yes (x) No", ["Yes", "No"], [False, True]),
        ("○ Cash ● Card", ["Cash", "Card"], [False, True]),
        ("● one (x) two", ["● one (x) two"], []),
        ("f(x) and g()", ["f(x) and g()"], []),
    ],
)
def test_characters_for_boxes(text: str, parts: list[str], states: list[bool]) -> None:
    """Boxes divide a text; bullets and brackets are boxes only next to empty boxes."""
    form = DrawnForm()
    form.write(100, 100, text)

    texts, boxes = _found(form)

    assert texts == parts
    assert [box.is_ticked for box in boxes] == states


def test_text_of_a_drawn_box_is_its_mark() -> None:
    """What an engine reads inside a box is its mark, and no part of the text."""
    form = DrawnForm()
    form.box(100, 98, 124, 122)
    mark, text = form.write(104, 98, "X"), form.write(140, 98, "Female")
    whole = around((mark, text))
    middles = (mark.center[0], 132, *(144 + 11 * at for at in range(6)))
    places = tuple((x - whole.min_x) / whole.width for x in middles)
    form.lines = [TextLine("X Female", 0.9, whole, None, places)]

    texts, (box,) = _found(form)

    assert texts == ["Female"]
    assert box.is_ticked
    assert box.mark is not None
    assert box.mark.text == "X"


def test_boxes_for_single_characters_are_no_tick_boxes() -> None:
    """Squares in a row, and squares with a digit, are left out."""
    form = DrawnForm()
    for at in range(4):
        form.box(100 + 30 * at, 100, 124 + 30 * at, 124)
    form.box(100, 300, 124, 324)
    form.write(106, 300, "7 Wages")

    texts, boxes = _found(form)

    assert texts == ["7 Wages"]
    assert boxes == ()


@pytest.mark.parametrize(("read", "count"), [("O", 2), ("C", 0)])
def test_circles_are_read_as_some_letters_only(read: str, count: int) -> None:
    """A circle that is read as O may be a radio button; one that is read as C is a letter."""
    form = DrawnForm()
    for x, option in ((100, "Yes"), (300, "No")):
        ImageDraw.Draw(form.image).ellipse((x, 100, x + 24, 124), outline=0, width=2)
        box = form.write(x + 40, 100, option)
        whole = Rect(x, box.min_y, box.max_x, box.max_y)
        middles = (x + 12, x + 32, *(x + 46 + 11 * at for at in range(len(option))))
        places = tuple((middle - whole.min_x) / whole.width for middle in middles)
        form.lines[-1] = TextLine(f"{read} {option}", 0.9, whole, None, places)

    texts, boxes = _found(form)

    assert len(boxes) == count
    assert texts == [option if count else f"{read} {option}" for option in ("Yes", "No")]


def test_field_of_a_pdf_gives_its_state() -> None:
    """The state of a PDF's own tick box wins over the ink at its place."""
    form = DrawnForm()
    form.box(100, 98, 124, 122)
    form.write(130, 100, "Female")
    page = form.read()
    widget = FormWidget("sex", "checkbox", "F", True, Rect(100, 98, 124, 122))
    page = replace(page, page=replace(page.page, widgets=(widget,)))

    _, (box,) = find_boxes(page, make_segments(page.lines, 0.0), 0.0)

    assert box.is_ticked
    assert box.value == "F"
