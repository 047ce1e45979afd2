"""Quarter turns."""

import numpy as np
import pytest

from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.turning import (
    needed_turns,
    reversed_quad,
    turned_lines,
    turned_pixels,
)

LINE = TextLine("Total", 1.0, Rect(10, 20, 60, 30), None, (0.1, 0.3, 0.5, 0.7, 0.9))


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_lines_and_pixels_turn_alike(turns):
    """A rotated box covers the rotated ink, and maps back to the page."""
    pixels = np.zeros((100, 80, 3), np.uint8)
    pixels[20:30, 10:60] = 255

    (line,) = turned_lines([LINE], turns, 80, 100)
    turned = turned_pixels(pixels, turns)

    rows, columns = np.nonzero(turned[:, :, 0])
    assert line.box == Rect(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    read = ReadPage(Page(1, 80, 100, 1.0), turns, turned, (line,))
    answer = read.answer_box(line.box)
    assert (answer.min_x, answer.min_y, answer.max_x, answer.max_y) == (10, 20, 60, 30)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_the_needed_turns_are_found(turns):
    """The found number of quarter turns makes rotated lines upright."""
    lines = turned_lines([LINE], turns, 80, 100)

    assert needed_turns(lines) == (4 - turns) % 4
    assert (
        turned_lines(lines, needed_turns(lines), *((100, 80) if turns % 2 else (80, 100)))[0].box
        == LINE.box
    )


def test_a_few_turned_lines_turn_nothing():
    """Text in the margin, or two halves that disagree, do not rotate the page."""
    turned = turned_lines([LINE], 1, 80, 100)

    assert needed_turns([LINE, LINE, *turned]) == 0
    assert needed_turns([LINE, *turned]) == 0
    assert needed_turns([]) == 0


def test_a_reversed_line_begins_at_its_end():
    """Reversing a line twice gives the line."""
    quad = LINE.corners

    assert reversed_quad(quad)[0] == (60, 30)
    assert reversed_quad(reversed_quad(quad)) == quad
