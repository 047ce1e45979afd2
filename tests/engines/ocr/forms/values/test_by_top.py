"""Objects on a page are found by their y position."""

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms.values.by_top import ByTop

TALL, LOW, NEXT = Rect(0, 0, 10, 50), Rect(20, 30, 30, 40), Rect(0, 60, 10, 70)
PAGE = ByTop([NEXT, LOW, TALL], lambda rect: rect)


def test_tall_object_is_on_each_line_it_crosses():
    """An object is found on the line of a text although its upper edge is far above the text."""
    assert PAGE.level(LOW) == [TALL, LOW]


def test_range_includes_both_positions():
    """Objects whose upper edge is exactly at the first or last position are found, in order."""
    assert PAGE.between(30, 60) == [LOW, NEXT]
