"""How pages are prepared for the program."""

import numpy as np
import pytest
from PIL import Image

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.tesseract.preparing import MARGIN, evenly_lit, has_ink, prepare


@pytest.mark.parametrize(
    ("size", "scale"),
    [
        ((1000, 500), 2),
        ((300, 200), 3),
        ((1900, 100), 1),
        ((2500, 1000), 1),
        ((4500, 3000), (12 / 13.5) ** 0.5),
        ((20_000, 20), 0.5),
        ((1, 1), 3),
    ],
)
def test_pages_get_a_size_that_suits_the_program(size, scale):
    """Small pages are scaled up, very large and long ones down, others are unchanged."""
    prepared = prepare(np.full((size[1], size[0], 3), 200, np.uint8))

    assert prepared.scale == pytest.approx(scale)
    wanted = [max(1, round(side * scale)) + 2 * MARGIN for side in size]
    assert list(prepared.image.size) == pytest.approx(wanted, abs=1)
    assert prepared.image.size[0] * prepared.image.size[1] < 12.5e6


def test_boxes_lead_back_to_the_page():
    """Boxes in the prepared image are mapped back to the page and clipped to it."""
    prepared = prepare(np.full((500, 1000, 3), 255, np.uint8))

    assert prepared.on_page(Rect(216, 116, 416, 216), 1000, 500) == Rect(100, 50, 200, 100)
    assert prepared.on_page(Rect(0, 0, 9999, 9999), 1000, 500) == Rect(0, 0, 1000, 500)


def test_light_is_made_even():
    """Unevenly grey paper becomes white, ink stays dark."""
    light = np.linspace(230, 90, 400)[None, :].repeat(100, axis=0)
    light[40:50, 100:300] *= 0.3

    even = np.asarray(evenly_lit(Image.fromarray(light.astype(np.uint8))))

    assert even[:30].min() > 215
    assert even[42:48, 110:290].max() < 100


def test_ink_is_seen():
    """A blank page has no ink, one with a small dot has."""
    page = np.full((50, 50), 255, np.uint8)
    assert not has_ink(Image.fromarray(page))
    page[10:13, 10:13] = 0
    assert has_ink(Image.fromarray(page))
