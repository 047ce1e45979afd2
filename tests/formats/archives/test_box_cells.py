"""One cell of annotations.csv, and boxes that extend beyond their image."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.documents.picture import Box
from chalicelib.formats.archives.box_cells import CellFault, clip_box, parse_cell
from tests.pictures import a_box

GOOD = a_box("cat", 1, 2, 3, 4)
NESTED = json.dumps({**GOOD, "x": 1})[:-1] + ', "more": ' + "[" * 64 + "]" * 64 + "}"


@pytest.mark.parametrize(
    "cell",
    [
        '{"label": "cat", "x": 1, "y": 2, "width": 3, "height": 4}',
        '{"height":4.0,"width":3e0,"y":2,"x":1,"label":" cat "}',
        '  {"label": "cat", "x": "1", "y": " 2.0", "width": "3", "height": "4", "more": [1]} ',
        '{"label": "\\u0063at", "x": 1, "y": 2, "width": 3, "height": 4}',
    ],
)
def test_cells_that_mean_the_same(cell: str) -> None:
    """Key order, floats, quoted numbers, escapes and extra members are accepted."""
    assert parse_cell(cell) == ("cat", Box(1.0, 2.0, 3.0, 4.0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": float("nan")}, '"x" is not a finite number'),
        ({"y": float("inf")}, '"y" is not a finite number'),
        ({"x": "NaN"}, '"x" is not a finite number'),
        ({"x": 10**400}, '"x" is not a finite number'),
        ({"x": -1e300}, r'"x" is -1e\+300; at most 1,000,000'),
        ({"width": 1e7}, '"width" is 1e'),
        ({"width": 0}, "0 × 4 pixels; width and height must be above 0"),
        ({"height": -4}, "3 × -4 pixels"),
        ({"x": "one"}, '"x" is not a number'),
        ({"x": True}, '"x" is not a number'),
        ({"x": [1]}, '"x" is not a number'),
        ({"x": None}, '"x" is missing'),
        ({"label": None}, '"label" is missing or is not a text'),
        ({"label": 7}, '"label" is missing or is not a text'),
        ({"label": " \t"}, "the label is empty"),
        ({"label": "a\x07b"}, r"control character U\+0007"),
        ({"label": "x" * 6_000}, r"the cell has 6,\d\d\d characters, the limit is 5,000"),
    ],
)
def test_cells_that_are_no_box(change: dict[str, object], words: str) -> None:
    """An invalid box is rejected with a reason that refers to its cell."""
    with pytest.raises(CellFault, match=words):
        parse_cell(json.dumps(GOOD | change))


@pytest.mark.parametrize(
    "cell",
    [
        "{",
        "cat",
        '{"label": "cat"',
        "{'label': 'cat'}",
        "[" * 4_999,
        '{"a":' * 900,
        NESTED,
        "1" * 4_900,
    ],
)
def test_broken_json(cell: str) -> None:
    """Invalid, non-object or deeply nested JSON rejects one box."""
    with pytest.raises(CellFault, match=r"not JSON|not an object|nested"):
        parse_cell(cell)


@pytest.mark.parametrize(
    ("box", "clipped"),
    [
        (Box(0, 0, 40, 30), Box(0, 0, 40, 30)),
        (Box(0.1, 0.2, 0.3, 0.4), Box(0.1, 0.2, 0.3, 0.4)),
        (Box(20, 20, 21, 10), Box(20, 20, 20, 10)),
        (Box(-5, -5, 20, 20), Box(0, 0, 15, 15)),
        (Box(-100, -100, 250, 240), Box(0, 0, 40, 30)),
        (Box(-10, 0, 20, 30), Box(0, 0, 10, 30)),
    ],
)
def test_clipping(box: Box, clipped: Box) -> None:
    """A box with its centre in the image is clipped at the edges; others stay exact."""
    assert clip_box(box, 40, 30) == clipped


@pytest.mark.parametrize(
    "box", [Box(-11, 0, 20, 30), Box(30, 0, 20, 10), Box(50, 50, 5, 5), Box(0, 25, 5, 10)]
)
def test_centre_outside(box: Box) -> None:
    """A box with its centre outside the image is rejected with the image's size."""
    with pytest.raises(CellFault, match="outside of the image of 40 × 30 pixels"):
        clip_box(box, 40, 30)


SIDES = st.floats(-1e6, 1e6)


@given(x=SIDES, y=SIDES, width=st.floats(0, 1e6, exclude_min=True), height=st.floats(1e-9, 1e6))
def test_clipped_boxes_are_inside(x: float, y: float, width: float, height: float) -> None:
    """An accepted box is inside the image and has a positive size, whatever its numbers."""
    try:
        box = clip_box(Box(x, y, width, height), 40, 30)
    except CellFault:
        return
    left, top, right, bottom = box.corners
    assert 0 <= left < right <= 40 + 1e-9
    assert 0 <= top < bottom <= 30 + 1e-9
