"""Tests of chalicelib/engines/ocr/forms/single_boxes.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from chalicelib.domain.documents.page import Page, Quad, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.forms.single_boxes import with_single_boxes
from tests.engines.ocr.forms.drawn import DrawnForm

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

PITCH = 40


class _Engine:
    """Returns a fixed text for every crop, and counts the calls."""

    name = "test"

    def __init__(self, text: str) -> None:
        self.text = text
        self.strips: list[Pixels] = []

    def in_alphabet(self, _alphabet: str) -> _Engine:
        return self

    def read(self, _pixels: Pixels, _check: Callable[[], None]) -> tuple[TextLine, ...]:
        raise AssertionError

    def read_crops(
        self, pixels: Pixels, quads: Sequence[Quad], _check: Callable[[], None]
    ) -> tuple[TextLine | None, ...]:
        self.strips.append(pixels)
        return tuple(TextLine(self.text, 0.99, Rect(0, 0, 1, 1)) for _ in quads)


def _form(*rows: tuple[str, str]) -> DrawnForm:
    """Draw rows of single boxes between ticks; return all digits and those that were read."""
    form = DrawnForm()
    for row, (digits, read) in enumerate(rows):
        y = 100 + 60 * row
        form.write(60, y, "Number")
        for place, (digit, seen) in enumerate(zip(digits, read, strict=True)):
            count = len(form.lines)
            form.write(200 + PITCH * place - form.width(digit) / 2, y, digit)
            form.rule(200 + PITCH * (place + 0.5), y, 200 + PITCH * (place + 0.5), y + 20)
            if seen == " ":
                del form.lines[count:]
    return form


def _texts(page: ReadPage) -> list[str]:
    return [line.text for line in page.lines]


@pytest.mark.parametrize("read", ["29 0  0 1", " 91070   ", "       01"])
def test_missed_digits_are_read_with_the_others(read: str) -> None:
    """Boxes with ink between, before and after the read digits are read and joined."""
    engine = _Engine("291070001")

    page = with_single_boxes(_form(("291070001", read)).read(), engine, lambda: None)

    assert _texts(page) == ["Number", "2 9 1 0 7 0 0 0 1"]
    whole = page.lines[1]
    middles = [whole.box.min_x + place * whole.box.width for place in whole.places[::2]]
    assert middles == pytest.approx([200 + PITCH * place for place in range(9)], abs=4)
    assert [strip.shape[1] < 9 * PITCH for strip in engine.strips] == [True]


@pytest.mark.parametrize("text", ["481070551", "29107", "29I070001", ""])
def test_reading_that_says_something_else_changes_nothing(text: str) -> None:
    """A second reading is used only if it has only digits and contains the first one."""
    form = _form(("291070001", "29 0  0 1"))

    page = with_single_boxes(form.read(), _Engine(text), lambda: None)

    assert _texts(page) == ["Number", "2", "9", "0", "0", "1"]


def test_whole_row_is_not_read_again() -> None:
    """If every inked box was read nothing is read again; multi-digit lines are joined."""
    engine = _Engine("4417")
    form = _form(("4417", "4417"))

    page = with_single_boxes(form.read(), engine, lambda: None)
    first, second = form.lines[1], form.lines[2]
    box = Rect(first.box.min_x, first.box.min_y, second.box.max_x, second.box.max_y)
    form.lines[1:3] = [TextLine("4 4", 0.9, box)]
    joined = with_single_boxes(form.read(), engine, lambda: None)

    assert _texts(page) == ["Number", "4", "4", "1", "7"]
    assert _texts(joined) == ["Number", "4 4 1 7"]
    assert engine.strips == []


def test_single_digit_stands_in_the_boxes_of_the_row_above() -> None:
    """The box spacing of a single digit is taken from the row above."""
    form = _form(("291070001", "291070001"), ("291070001", "        1"))

    page = with_single_boxes(form.read(), _Engine("291070001"), lambda: None)

    assert _texts(page)[-1] == "2 9 1 0 7 0 0 0 1"


def test_text_layer_and_digits_far_apart_stay() -> None:
    """Text layers, and digits as far apart as table columns, are not changed."""
    page = _form(("2910", "2  0")).read()
    layer = ReadPage(page.page, 0, page.pixels, page.lines, is_exact=True)
    columns = DrawnForm()
    for place in range(5):
        columns.write(100 + 160 * place, 100, str(place))

    assert with_single_boxes(layer, _Engine("2910"), lambda: None) is layer
    table = columns.read()
    assert with_single_boxes(table, _Engine("0123"), lambda: None).lines == table.lines


def test_page_of_digits_takes_seconds_at_most() -> None:
    """A page of 5,000 one-digit cells is a table and stays unchanged."""
    lines = tuple(
        TextLine(
            str(n % 10),
            0.9,
            Rect(20 * (n % 80), 30 * (n // 80), 20 * (n % 80) + 12, 30 * (n // 80) + 20),
        )
        for n in range(5_000)
    )
    pixels = np.full((1900, 1600, 3), 255, dtype=np.uint8)
    page = ReadPage(Page(1, 1600, 1900, 1.0), 0, pixels, lines)
    began = time.process_time()

    assert with_single_boxes(page, _Engine(""), lambda: None).lines == lines
    assert time.process_time() - began < 5


@pytest.mark.parametrize("shift", [(-230.0, 0.0), (0.0, -130.0), (900.0, 0.0), (0.0, 790.0)])
def test_boxes_off_the_page_are_not_read(shift: tuple[float, float]) -> None:
    """Digits partly or wholly outside the raster do not fail."""
    form = _form(("291070001", "29 0  0 1"))
    right, down = shift
    for number, line in enumerate(form.lines):
        box = line.box
        form.lines[number] = replace(
            line,
            box=Rect(box.min_x + right, box.min_y + down, box.max_x + right, box.max_y + down),
        )
    engine = _Engine("291070001")

    page = with_single_boxes(form.read(), engine, lambda: None)

    assert len(page.lines) in {2, 6}
    assert all(strip.size for strip in engine.strips)
