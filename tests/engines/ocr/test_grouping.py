"""Groups of things that belong together."""

import pytest

from chalicelib.engines.ocr.grouping import grouped


@pytest.mark.parametrize(
    ("only_last", "expected"),
    [(False, [[1, 2, 3], [9, 8]]), (True, [[1, 2], [9, 8], [3]])],
)
def test_a_thing_joins_the_first_group_that_it_fits(only_last, expected):
    """A number joins the first group with a near last number, or only the group before it."""
    near = grouped(
        [1, 2, 9, 8, 3], lambda group, one: abs(group[-1] - one) < 2, only_last=only_last
    )

    assert near == expected
