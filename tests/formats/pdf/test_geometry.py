"""Conversion between page points and raster pixels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.formats.pdf.geometry import (
    MAX_PAGE_POINTS,
    MAX_RASTER_PIXELS,
    MAX_RASTER_SIDE,
    PIXELS_PER_POINT,
    PageView,
    raster_of,
)

SIDES = st.floats(1e-4, MAX_PAGE_POINTS)


def test_a4_is_drawn_at_200_dpi():
    """An A4 page has its raster at 200 dpi."""
    raster = raster_of(595.276, 841.89)
    assert (raster.width, raster.height) == (1654, 2339)
    assert raster.scale == 1


@given(SIDES, SIDES)
def test_rasters_are_bounded(width, height):
    """However large or narrow a page is, its raster is bounded, not empty and in proportion."""
    raster = raster_of(width, height)
    assert 1 <= raster.width <= MAX_RASTER_SIDE
    assert 1 <= raster.height <= MAX_RASTER_SIDE
    assert raster.width * raster.height <= MAX_RASTER_PIXELS
    assert raster.per_point <= PIXELS_PER_POINT
    assert abs(raster.width - max(1, width * raster.per_point)) < 5
    assert abs(raster.height - max(1, height * raster.per_point)) < 5


@pytest.mark.parametrize("side", [0, -1, math.nan, math.inf, 2 * MAX_PAGE_POINTS])
def test_sizes_that_are_none(side):
    """A page without area, or of excessive size, is refused."""
    with pytest.raises(ValueError, match="points large"):
        raster_of(side, 100)
    with pytest.raises(ValueError, match="points large"):
        raster_of(100, side)


@pytest.mark.parametrize(
    ("turns", "corner", "right"),
    [
        (0, (0, 0), (1, 0)),
        (1, (300, 0), (0, 1)),
        (2, (200, 300), (-1, 0)),
        (3, (0, 200), (0, -1)),
    ],
)
def test_views_turn_to_the_right(turns, corner, right):
    """The page's top left corner and reading direction match the display."""
    width, height = ((200, 300), (300, 200))[turns % 2]
    raster = raster_of(width, height)
    view = PageView(50, 60, 250, 360, turns, raster)
    x, y = view.point(50, 360)
    assert (x / raster.per_point, y / raster.per_point) == pytest.approx(corner)
    assert view.direction(1, 0) == right
