"""From the network's probability map to rectangles."""

import numpy as np
import pytest

from chalicelib.engines.ocr.ppocr.boxes import MOST_BOXES, text_rectangles


def a_map(*places, value=0.9):
    """Draw a map with rows and columns of text."""
    values = np.zeros((200, 300), np.float32)
    for top, bottom, left, right in places:
        values[top:bottom, left:right] = value
    return values


def test_a_line_is_grown_again():
    """The rectangle is enlarged from its shrunken core around the same centre."""
    (found,) = text_rectangles(a_map((50, 60, 40, 140)))

    assert (found.x, found.y) == pytest.approx((90, 55), abs=1)
    assert found.breadth == pytest.approx(10 + 2 * 1000 * 1.6 / 220, abs=2)
    assert found.length - found.breadth == pytest.approx(90, abs=2)


@pytest.mark.parametrize("value", [0.2, 0.4])
def test_faint_places_are_no_text(value):
    """Regions below the threshold, or with a low mean, are not lines."""
    assert text_rectangles(a_map((50, 60, 40, 140), value=value)) == []


def test_specks_are_no_text():
    """A region of one pixel is ignored."""
    assert text_rectangles(a_map((50, 51, 40, 41))) == []


def test_lines_are_bounded():
    """At most a fixed number of lines is returned, the largest first."""
    values = np.zeros((1000, 1000), np.float32)
    values[2::8, :] = 0.9
    values[3::8, :] = 0.9
    values[:, ::8] = 0.0
    values[:, 1::8] = 0.0

    assert len(text_rectangles(values)) <= MOST_BOXES


def arched(depth):
    """Return a map of one long line that bends by some pixels."""
    values = np.zeros((120, 320), np.float32)
    for column in range(20, 300):
        middle = 30 + round(depth * np.sin(np.pi * (column - 20) / 280))
        values[middle - 4 : middle + 4, column] = 0.9
    return values


def test_a_long_line_is_followed():
    """The course of a line runs through its centre in reading order, and has its height."""
    (found,) = text_rectangles(arched(6))

    course = found.course
    assert len(course.points) >= 8
    assert [x for x, _ in course.points] == sorted(x for x, _ in course.points)
    for x, y in course.points:
        assert y == pytest.approx(30 + 6 * np.sin(np.pi * (x - 20) / 280), abs=1)
    assert course.height == pytest.approx(2.6 * 9, abs=0.1)
    assert course.sag == pytest.approx(6 / course.height, abs=0.1)


def test_a_bent_line_is_kept_though_it_fills_little():
    """A bent line is kept, although it fills little of its rectangle."""
    (flat,), (bent,) = text_rectangles(arched(1)), text_rectangles(arched(60))

    assert flat.is_filled
    assert not bent.is_filled
    assert bent.course.sag > 1


def test_short_places_are_not_followed():
    """The course of a short region is not computed."""
    (found,) = text_rectangles(a_map((50, 60, 40, 80)))

    assert found.course is None
