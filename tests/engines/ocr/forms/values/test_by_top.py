"""Things on a page, found by their height."""

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms.values.by_top import ByTop

TALL, LOW, NEXT = Rect(0, 0, 10, 50), Rect(20, 30, 30, 40), Rect(0, 60, 10, 70)
PAGE = ByTop([NEXT, LOW, TALL], lambda rect: rect)


def test_a_tall_thing_that_begins_far_above_is_on_the_same_line():
    """A thing is found on the line of a text although its upper edge is far above the text."""
    assert PAGE.level(LOW) == [TALL, LOW]


def test_things_between_two_heights_include_both_heights():
    """Things that begin exactly at the lowest or highest position are found, from the top."""
    assert PAGE.between(30, 60) == [LOW, NEXT]
