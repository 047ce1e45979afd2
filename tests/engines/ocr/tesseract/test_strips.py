"""Regions of a page are placed on one sheet, and its words mapped back."""

import numpy as np
from PIL import Image

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.tesseract.caller import Word
from chalicelib.engines.ocr.tesseract.strips import Sheet

UPRIGHT = ((10.0, 10.0), (90.0, 10.0), (90.0, 30.0), (10.0, 30.0))
SIDEWAYS = ((118.0, 10.0), (118.0, 90.0), (98.0, 90.0), (98.0, 10.0))


def page():
    """Draw a page on which the left half of each region is black."""
    pixels = np.full((100, 120), 255, np.uint8)
    pixels[10:30, 10:50] = 0
    pixels[10:50, 98:118] = 0
    return Image.fromarray(pixels)


def word(text, left, top):
    """Return a word of the sheet."""
    return Word(text, 0.9, Rect(left, top, left + 20, top + 20), ("1", "1", "1"))


def test_places_are_turned_upright_below_each_other():
    """Rotated regions are placed upright: black on the left, white on the right."""
    pixels = np.asarray(Sheet(page(), [UPRIGHT, SIDEWAYS]).image)

    first, second = pixels[16:56, 16:176], pixels[80:120, 16:176]

    assert abs(first.astype(int) - second).mean() < 3
    assert first[5:35, 5:70].max() < 40
    assert first[5:35, 90:155].min() > 215
    assert pixels[60:76].min() == 255


def test_words_are_given_to_their_places():
    """A word belongs to the strip with the nearest centre; a strip without words gives None."""
    sheet = Sheet(page(), [UPRIGHT, UPRIGHT, SIDEWAYS])

    lines = sheet.lines([word("b", 60, 26), word("a", 20, 22), word("c", 30, 128)])

    assert [line and line.text for line in lines] == ["a b", None, "c"]
    assert lines[0].box == Rect(10, 10, 90, 30)
    assert lines[0].quad is None
    assert lines[2].quad == SIDEWAYS
    assert lines[2].box == Rect(98, 10, 118, 90)


def test_words_beyond_the_strips_go_to_the_nearest():
    """A word above or below all strips is assigned to the nearest."""
    sheet = Sheet(page(), [UPRIGHT])

    assert [line.text for line in sheet.lines([word("a", 20, -30)])] == ["a"]
    assert [line.text for line in sheet.lines([word("a", 20, 500)])] == ["a"]


def test_what_lies_beyond_the_page_is_white():
    """Parts of a region beyond the page are white, and its box is clipped to the page."""
    outside = ((200.0, 200.0), (300.0, 200.0), (300.0, 220.0), (200.0, 220.0))
    sheet = Sheet(page(), [outside])

    (line,) = sheet.lines([word("a", 20, 20)])

    assert np.asarray(sheet.image).min() == 255
    assert line.box == Rect(120, 100, 120, 100)
