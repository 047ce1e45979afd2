"""Reading order."""

import math

import pytest

from chalicelib.domain.documents.page import Rect, TextLine, around_points
from chalicelib.engines.ocr.order import in_reading_order, page_slope


def line(text, x, y, degrees=0.0, width=100.0, height=20.0):
    """Return a line with top left at (x, y), rotated around the page's origin."""
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    slope = math.radians(degrees)
    quad = tuple(
        (px * math.cos(slope) - py * math.sin(slope), px * math.sin(slope) + py * math.cos(slope))
        for px, py in corners
    )
    return TextLine(text, 1.0, around_points(quad), quad)


@pytest.mark.parametrize("degrees", [-20, 0, 15])
def test_rows_are_read_from_the_left(degrees):
    """Lines of one row are read from the left, although the right one is higher."""
    lines = [
        line("d", 400, 106, degrees),
        line("b", 400, 0, degrees),
        line("c", 10, 110, degrees),
        line("a", 10, 5, degrees),
    ]

    assert [one.text for one in in_reading_order(lines)] == ["a", "b", "c", "d"]


def test_the_slope_is_that_of_the_long_lines():
    """The page's slope is that of its long lines, however many short ones there are."""
    lines = [line("a", 0, 0, 3, width=300), *[line("b", 0, 40, 40, width=30)] * 20]

    assert math.degrees(page_slope(lines)) == pytest.approx(3)


def test_no_lines_have_no_order():
    """An empty page is accepted, and lines without corners count as upright."""
    assert in_reading_order([]) == []
    assert page_slope([TextLine("a", 1.0, Rect(0, 0, 10, 30))]) == 0
