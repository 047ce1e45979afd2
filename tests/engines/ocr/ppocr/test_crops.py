"""Cutting text lines out of a page."""

import numpy as np
import pytest
from PIL import Image

from chalicelib.engines.ocr.ppocr.crops import (
    HEIGHT,
    MOST_GROWTH,
    MOST_WIDTH,
    crop_width,
    cut_crop,
)

UPRIGHT = ((10.0, 20.0), (110.0, 20.0), (110.0, 40.0), (10.0, 40.0))


def a_page():
    """Draw a region whose left half is red and right half blue."""
    pixels = np.full((100, 150, 3), 255, np.uint8)
    pixels[20:40, 10:60] = (200, 0, 0)
    pixels[20:40, 60:110] = (0, 0, 200)
    return Image.fromarray(pixels)


def ends(crop):
    """Return the colours near both ends."""
    values = np.asarray(crop)
    middle = values.shape[0] // 2
    return tuple(values[middle, 8].tolist()), tuple(values[middle, -8].tolist())


def test_an_upright_place_is_cut_and_scaled():
    """An upright crop has the network's height and the region's aspect ratio."""
    crop = cut_crop(a_page(), UPRIGHT)

    assert crop.size == (240, HEIGHT)
    assert ends(crop) == ((200, 0, 0), (0, 0, 200))


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_place_is_turned_upright(turns):
    """Rotated regions become upright crops, whose left end is where reading starts."""
    page = a_page()
    turned = page.transpose(
        {1: Image.Transpose.ROTATE_270, 2: Image.Transpose.ROTATE_180}.get(
            turns, Image.Transpose.ROTATE_90
        )
    )
    width, height = page.size
    move = {
        1: lambda x, y: (height - y, x),
        2: lambda x, y: (width - x, height - y),
        3: lambda x, y: (y, width - x),
    }[turns]

    crop = cut_crop(turned, tuple(move(x, y) for x, y in UPRIGHT))

    assert crop.size == (240, HEIGHT)
    first, last = ends(crop)
    assert first == pytest.approx((200, 0, 0), abs=6)
    assert last == pytest.approx((0, 0, 200), abs=6)


@pytest.mark.parametrize(
    "quad",
    [
        ((-50.0, -50.0), (-20.0, -50.0), (-20.0, -40.0), (-50.0, -40.0)),
        ((140.0, 90.0), (300.0, 90.0), (300.0, 130.0), (140.0, 130.0)),
        ((5.0, 5.0), (5.0, 5.0), (5.0, 5.0), (5.0, 5.0)),
    ],
)
def test_places_may_lie_outside(quad):
    """Regions outside the page or without size still give a crop."""
    assert cut_crop(a_page(), quad).size == (crop_width(quad), HEIGHT)


def test_widths_are_bounded():
    """A region of a million pixels by one is squeezed to the maximum width."""
    assert crop_width(((0.0, 0.0), (1e6, 0.0), (1e6, 1.0), (0.0, 1.0))) == MOST_WIDTH


@pytest.mark.parametrize("slope", [0.0, 40.0])
def test_widths_stay_in_proportion_to_the_page(slope):
    """A region too low for text costs no more than its own pixels justify."""
    low = ((0.0, 50.0), (100.0, 50.0 + slope), (100.0, 51.0 + slope), (0.0, 51.0))

    assert crop_width(low) <= MOST_GROWTH * 108
    assert cut_crop(a_page(), low).size == (crop_width(low), HEIGHT)
