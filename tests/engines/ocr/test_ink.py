"""Finding the ink of a line."""

import math

import numpy as np
import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.ink import find_ink, part_of, stretches


def a_line(box, quad=None):
    """Return a line."""
    return TextLine("abc", 1.0, Rect(*box), quad, (0.1, 0.5, 0.9))


def paper(*boxes, ink=0, light=255):
    """Draw filled boxes (left, top, right, bottom)."""
    pixels = np.full((100, 300, 3), light, np.uint8)
    for left, top, right, bottom in boxes:
        pixels[top:bottom, left:right] = ink
    return pixels


def inked_part(line, ink):
    """Return the part of a line from its first to its last ink."""
    return part_of(line, ink.spans[0][0], ink.spans[-1][1], ink)


@pytest.mark.parametrize(("ink", "light"), [(0, 255), (255, 0), (180, 230)])
def test_a_box_is_drawn_in_to_its_ink(ink, light):
    """A box shrinks to its ink to the pixel, for dark, light and faint ink."""
    pixels = paper((40, 40, 60, 60), (80, 44, 100, 60), ink=ink, light=light)
    line = a_line((20, 30, 120, 70))

    found = find_ink(pixels, line)

    assert inked_part(line, found).box == Rect(40, 40, 100, 60)
    assert found.spans == pytest.approx(np.array([(0.2, 0.4), (0.6, 0.8)]))
    assert found.height == pytest.approx(0.2)


def test_rules_are_no_ink():
    """Underlines, frames and descenders of the line above are not ink of the line."""
    letters = [(left, 42, left + 8, 58) for left in range(40, 200, 16)]
    pixels = paper(*letters, (20, 64, 220, 66), (216, 20, 218, 80), (60, 20, 63, 34))
    line = a_line((20, 30, 220, 70))

    assert inked_part(line, find_ink(pixels, line)).box == Rect(40, 42, 192, 58)


def test_dots_belong_to_their_letters():
    """Dots slightly above the line's body are part of it."""
    pixels = paper((40, 44, 60, 60), (45, 38, 50, 41))
    line = a_line((20, 30, 120, 70))

    assert inked_part(line, find_ink(pixels, line)).box.min_y == 38


@pytest.mark.parametrize("box", [(20, 30, 120, 70), (5, 5, 6, 6), (400, 400, 500, 450)])
def test_an_empty_place_has_no_ink(box):
    """Blank paper, a single pixel and a region outside the page have no ink."""
    line = a_line(box)

    assert find_ink(paper(), line) is None


def test_a_slope_is_followed():
    """The ink of a rotated line is found along its corners."""
    y, x = np.mgrid[0:200, 0:300]
    slope = math.radians(15)
    along = (x - 60) * math.cos(slope) + (y - 50) * math.sin(slope)
    across = (y - 50) * math.cos(slope) - (x - 60) * math.sin(slope)
    pixels = np.full((200, 300, 3), 255, np.uint8)
    pixels[(along > 20) & (along < 60) & (across > 10) & (across < 30)] = 0
    pixels[(along > 120) & (along < 140) & (across > 10) & (across < 30)] = 0

    def on_page(u, v):
        return (
            60 + u * math.cos(slope) - v * math.sin(slope),
            50 + u * math.sin(slope) + v * math.cos(slope),
        )

    quad = on_page(0, 0), on_page(200, 0), on_page(200, 40), on_page(0, 40)
    xs, ys = zip(*quad, strict=True)
    line = a_line((min(xs), min(ys), max(xs), max(ys)), quad)

    found = find_ink(pixels, line)

    assert found.spans == pytest.approx(np.array([(0.1, 0.3), (0.6, 0.7)]), abs=0.015)
    tight = inked_part(line, found)
    assert tight.corners[0] == pytest.approx(on_page(20, 10), abs=2)
    assert tight.corners[2] == pytest.approx(on_page(140, 30), abs=2)


def test_places_follow_a_part():
    """Character positions are scaled to a part of the line."""
    line = a_line((0, 0, 100, 20))
    found = find_ink(paper((10, 5, 30, 15), (60, 5, 90, 15)), line)

    part = part_of(line, 0.1, 0.9, found)

    assert part.box == Rect(10, 5, 90, 15)
    assert part.places == pytest.approx((0, 0.5, 1))


def test_stretches_are_where_flags_are_set():
    """Runs of set flags are returned as starts and exclusive ends."""
    starts, ends = stretches(np.array([True, True, False, True]))

    assert (starts.tolist(), ends.tolist()) == ([0, 3], [2, 4])
