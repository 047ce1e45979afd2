"""Very long lines."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from chalicelib.engines.ocr.ppocr.ctc import NOTHING, RecognisedText
from chalicelib.engines.ocr.ppocr.recogniser import LONGEST, cut_places, joined
from tests.engines.ocr.ppocr.pages import drawn, go_on, the_engine


def a_strip(width, blanks=()):
    """Draw a strip full of ink except for some columns."""
    pixels = np.zeros((48, width, 3), np.uint8)
    pixels[:16] = pixels[32:] = 255
    for first, last in blanks:
        pixels[:, first:last] = 255
    return Image.fromarray(pixels)


def test_a_short_line_stays_whole():
    """A line that fits is not cut."""
    assert cut_places(a_strip(LONGEST)) == [(0, LONGEST, False)]


def test_a_long_line_is_cut_where_it_is_blank():
    """A line is cut at the widest gap before the limit, and a wide gap becomes a space."""
    cuts = cut_places(a_strip(4000, [(1500, 1504), (2000, 2030)]))

    assert cuts == [(0, 2015, False), (2015, 4000, True)]


@pytest.mark.parametrize("width", [LONGEST + 1, 10_000, 48_000])
def test_parts_are_bounded(width):
    """Parts cover every column once and are within the limit, with or without gaps."""
    cuts = cut_places(a_strip(width))

    assert cuts[0][0] == 0
    assert cuts[-1][1] == width
    assert all(one[1] == other[0] for one, other in pairwise(cuts))
    assert all(0 < end - start <= LONGEST for start, end, _ in cuts)


def test_parts_are_joined():
    """Texts of parts are joined with spaces, and positions refer to the whole line."""
    cuts = [(0, 50, False), (50, 100, True), (100, 200, False)]
    readings = [RecognisedText("ab", 0.8, (0.2, 0.8)), NOTHING, RecognisedText("c", 0.5, (0.5,))]

    line = joined(cuts, readings, 200)

    assert line.text == "abc"
    assert line.probability == pytest.approx(0.7)
    assert line.places == pytest.approx((0.05, 0.2, 0.75))


def test_a_very_long_line_loses_nothing():
    """A strip thirty times as wide as a usual line is read to its end."""
    text = " ".join(f"part {number}" for number in range(11, 51))
    pixels = drawn([(20, 20, text)], size=(4400, 80), font=30)

    lines = the_engine().read(pixels, go_on)

    assert " ".join(line.text for line in lines) == text
