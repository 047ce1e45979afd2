"""The minimum-area rectangle around points."""

import math

import numpy as np
import pytest

from chalicelib.engines.ocr.ppocr.boxes import Rectangle, convex_hull, smallest_rectangle


def outline(angle, length=80.0, breadth=12.0):
    """Return the outermost pixels of each row of a filled rectangle around (100, 100)."""
    y, x = np.mgrid[0:200, 0:200] - 100.0
    along = x * math.cos(angle) + y * math.sin(angle)
    across = y * math.cos(angle) - x * math.sin(angle)
    mask = (np.abs(along) <= length / 2) & (np.abs(across) <= breadth / 2)
    rows = np.flatnonzero(mask.any(axis=1))
    ends = [(np.flatnonzero(mask[row])[i], row) for row in rows for i in (0, -1)]
    return np.array(ends)


@pytest.mark.parametrize("degrees", [-40, -12, 0, 7, 20, 44])
def test_a_turned_rectangle_is_found(degrees):
    """Centre, sides and direction of a rotated rectangle are found within two pixels."""
    found = smallest_rectangle(outline(math.radians(degrees)))

    assert math.hypot(found.x - 100, found.y - 100) < 1
    assert found.length == pytest.approx(80, abs=2)
    assert found.breadth == pytest.approx(12, abs=2)
    assert math.degrees(math.atan2(found.dy, found.dx)) == pytest.approx(degrees, abs=2)


def test_a_steep_rectangle_is_described_to_the_right():
    """A steep rectangle has the direction of its short side, because up and down look the same."""
    found = smallest_rectangle(outline(math.radians(90)))

    assert (found.dx, found.dy) == pytest.approx((1, 0), abs=1e-6)
    assert found.breadth > found.length


def test_one_point_is_a_rectangle_of_no_size():
    """A single pixel gives a rectangle without size."""
    found = smallest_rectangle(np.array([(4, 7), (4, 7)]))

    assert found == Rectangle(4.0, 7.0, 0.0, 0.0, 1.0, 0.0)


def test_points_on_a_line_are_a_rectangle_without_breadth():
    """A one-pixel stroke gives a rectangle with length and no width."""
    found = smallest_rectangle(np.array([(2, 3), (9, 3)]))

    assert (found.length, found.breadth) == (7.0, 0.0)


def test_the_hull_has_the_corners_alone():
    """The convex hull has only the corners."""
    points = np.array([(0, 0), (2, 0), (4, 0), (0, 2), (2, 2), (4, 2), (0, 4), (4, 4)])

    assert sorted(map(tuple, convex_hull(points).tolist())) == [(0, 0), (0, 4), (4, 0), (4, 4)]


def test_corners_follow_the_reading():
    """Corners follow the reading direction: turned by 90 degrees, the first is at the top right."""
    corners = Rectangle(50, 50, 10, 40, 1.0, 0.0).turned().corners()

    assert corners == pytest.approx(np.array([(55, 30), (55, 70), (45, 70), (45, 30)]))


def test_a_margin_grows_all_sides():
    """A margin enlarges all sides around the same centre."""
    assert Rectangle(1, 2, 15, 9, 1, 0) == Rectangle(1, 2, 11, 5, 1, 0).grown(2)
