"""Rectangles on a page."""

import pytest

from chalicelib.domain.documents.page import Rect


@pytest.mark.parametrize(
    ("left", "expected"), [(0.0, True), (9.0, True), (15.0, False), (-5.0, False)]
)
def test_a_box_has_the_centre_of_a_text_that_extends_beyond_it(left, expected):
    """Only the centre of a rectangle counts; a centre on the border is outside."""
    assert Rect(0, 0, 20, 20).has_center_of(Rect(left, 5, left + 10, 15)) is expected
