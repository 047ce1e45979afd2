"""The items of task text: runs of words."""

import numpy as np
import pytest

from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.reading import read_page
from chalicelib.engines.ocr.runs import text_runs
from tests.engines.ocr.ppocr.pages import TEXTS, a_page, drawn, go_on, paged, texts_of, the_engine


def runs_of(pixels):
    """Read drawn pixels and divide lines into runs."""
    return text_runs(read_page(paged(pixels), the_engine(), go_on), the_engine(), go_on)


def inked(box):
    """Return the fraction of a page's ink that a box covers."""
    return slice(int(box.min_y), int(box.max_y) + 1), slice(int(box.min_x), int(box.max_x) + 1)


def test_phrases_stay_whole():
    """A line with usual spaces is one item, and its box ends at its ink."""
    pixels = a_page()

    runs = runs_of(pixels)

    assert texts_of(runs) == TEXTS
    for run in runs:
        part = pixels[inked(run.box)]
        assert (part[:, :2] < 128).any()
        assert (part[:, -3:] < 128).any()


def test_columns_are_parted():
    """A wide gap ends an item, whether the engine saw one line or two."""
    pixels = drawn([(40, 40, "Green tea"), (200, 40, "4.50"), (40, 100, "Brown sugar and honey")])

    runs = runs_of(pixels)

    assert texts_of(runs) == ("Green tea", "4.50", "Brown sugar and honey")
    assert runs[0].box.max_x < 190
    assert runs[1].box.min_x > 195


def test_text_on_a_slope_is_parted():
    """On slanted text, gaps are measured along the line."""
    from PIL import Image

    pixels = drawn([(60, 120, "Green tea"), (250, 120, "4.50"), (60, 180, "Brown sugar and honey")])
    turned = Image.fromarray(pixels).rotate(-10, fillcolor=(255, 255, 255))

    assert set(texts_of(runs_of(np.asarray(turned)))) == {
        "Green tea",
        "4.50",
        "Brown sugar and honey",
    }


def typewriter(text, left, top, step):
    """Draw characters at equal distances."""
    return [(left + step * number, top, letter) for number, letter in enumerate(text)]


def test_typewriter_text_stays_whole():
    """On a page with generally wide spaces these do not split a phrase."""
    items = [
        *typewriter("MEET ME AT THE HARBOUR", 40, 40, 17),
        *typewriter("BRING THE RED BAG NOW", 40, 110, 17),
    ]

    assert [text.replace(" ", "") for text in texts_of(runs_of(drawn(items)))] == [
        "MEETMEATTHEHARBOUR",
        "BRINGTHEREDBAGNOW",
    ]


def exact(text, places):
    """Return a page with one line of a text layer."""
    line = TextLine(text, 1.0, Rect(0, 0, 400, 20), None, places)
    return ReadPage(Page(1, 500, 100, 1.0, None, (line,)), 0, None, (line,), is_exact=True)


def test_a_text_layer_is_parted_by_its_places():
    """Text layer lines are split by character positions, without pixels or engine."""
    page = exact("ab cd", (0.02, 0.05, 0.5, 0.92, 0.95))

    first, second = text_runs(page, None, go_on)

    assert (first.text, second.text) == ("ab", "cd")
    assert (first.box.min_x, first.box.max_x) == pytest.approx((2, 26))
    assert second.box.min_x == pytest.approx(362)
    assert second.places == pytest.approx((0.25, 0.75), abs=0.2)


@pytest.mark.parametrize("places", [(), (0.02, 0.05, 0.08, 0.11, 0.14)])
def test_a_text_layer_with_usual_spaces_stays_whole(places):
    """Evenly spaced characters, and lines without positions, are not split."""
    page = exact("ab cd", places)

    assert text_runs(page, None, go_on) == page.lines


def test_a_line_without_places_is_read_again():
    """Parts of a line without character positions are read again from the image."""
    pixels = drawn([(40, 40, "Green tea"), (200, 40, "4.50")])
    line = TextLine("Green tea 4.50", 0.9, Rect(30, 36, 280, 76))
    page = ReadPage(paged(pixels), 0, pixels, (line,))

    runs = text_runs(page, the_engine(), go_on)

    assert texts_of(runs) == ("Green tea", "4.50")


def test_a_line_without_ink_stays():
    """A line on blank paper is returned as it was read."""
    line = TextLine("ghost", 0.6, Rect(10, 10, 90, 30))
    pixels = np.full((60, 120, 3), 255, np.uint8)

    assert text_runs(ReadPage(paged(pixels), 0, pixels, (line,)), None, go_on) == (line,)
