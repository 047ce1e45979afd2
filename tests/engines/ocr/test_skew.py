"""Slanted pages are levelled, and boxes mapped back."""

from __future__ import annotations

import math

import pytest

from chalicelib.domain.documents.page import Quad, Rect, TextLine, around_points
from chalicelib.engines.ocr.skew import PageRotation, find_angle, is_level
from tests.engines.ocr.tables.drawn import Sheet


def leaning(x: float, y: float, width: float, degrees: float) -> TextLine:
    """Return a line 20 pixels high, slanted clockwise."""
    a = math.radians(degrees)
    along, down = (math.cos(a), math.sin(a)), (-math.sin(a), math.cos(a))
    quad: Quad = (
        (x, y),
        (x + width * along[0], y + width * along[1]),
        (x + width * along[0] + 20 * down[0], y + width * along[1] + 20 * down[1]),
        (x + 20 * down[0], y + 20 * down[1]),
    )
    return TextLine("x", 1.0, around_points(quad), quad)


def test_the_angle_is_the_median_by_width() -> None:
    """The angle is the median weighted by width; short and vertical lines count little."""
    lines = [leaning(0, 0, 500, 3), leaning(0, 50, 20, -30), leaning(0, 90, 300, 80)]
    lines += [leaning(0, 100 + n, 60, 1) for n in range(5)]
    assert math.degrees(find_angle(lines)) == pytest.approx(3)
    assert find_angle([]) == 0


@pytest.mark.parametrize("degrees", [-4.0, 3.0])
def test_there_and_back(degrees: float) -> None:
    """A line becomes an upright box of its size, and is mapped back to its place."""
    line = leaning(100, 100, 200, degrees)
    turn = PageRotation(math.radians(degrees), 1000, 700)
    upright = turn.upright(line)
    assert upright.quad is None
    assert (upright.box.width, upright.box.height) == pytest.approx((200, 20), abs=0.01)
    back = turn.back(upright.box)
    for value, other in zip(
        (back.min_x, back.min_y, back.max_x, back.max_y),
        (line.box.min_x, line.box.min_y, line.box.max_x, line.box.max_y),
        strict=True,
    ):
        assert value == pytest.approx(other, abs=0.01)


def test_pixels_turn_with_the_lines() -> None:
    """Pixels are levelled to where the levelled lines are."""
    sheet = Sheet(ground=(240, 240, 230))
    line = leaning(300, 200, 200, 4)
    assert line.quad is not None
    sheet.pen.polygon(line.quad, fill=(0, 0, 0))
    turn = PageRotation(math.radians(4), 1000, 700)
    pixels = sheet.page().pixels
    assert pixels is not None
    turned, box = turn.pixels(pixels), turn.upright(line).box
    inside = turned[
        int(box.min_y) + 3 : int(box.max_y) - 3, int(box.min_x) + 3 : int(box.max_x) - 3
    ]
    assert inside.max() < 40
    assert tuple(turned[0, 0]) == (240, 240, 230)
    assert Rect(0, 0, 1, 1).area == 1


@pytest.mark.parametrize(("degrees", "is_one"), [(2, True), (17, True), (-34, False), (40, False)])
def test_watermarks_do_not_run_as_the_page_does(degrees: float, is_one: bool) -> None:
    """A long line with another slope than the page is not level, as for watermarks."""
    assert is_level(leaning(0, 0, 500, degrees), math.radians(4)) == is_one
    assert is_level(leaning(0, 0, 30, degrees), math.radians(4))
