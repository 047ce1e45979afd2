"""Reading a page from its text layer or its pixels, rotated upright."""

import time

import numpy as np
import pytest

from chalicelib.domain.documents.page import Page, Rect, TextLine
from chalicelib.engines.ocr.reading import read_page
from chalicelib.engines.ocr.turning import turned_lines
from tests.curling import KINDS, curled
from tests.engines.ocr.ppocr.pages import TEXTS, a_page, drawn, go_on, paged, texts_of, the_engine


class Counted:
    """The engine, with counted calls."""

    name = "counted"

    def __init__(self):
        self.pages = self.crops = 0

    def read(self, pixels, check):
        """Read a page."""
        self.pages += 1
        return the_engine().read(pixels, check)

    def read_crops(self, pixels, quads, check):
        """Read regions."""
        self.crops += len(quads)
        return the_engine().read_crops(pixels, quads, check)


def test_an_upright_page_is_read_once():
    """An upright page is read once, without a search for rotated text."""
    engine = Counted()

    page = read_page(paged(a_page()), engine, go_on)

    assert texts_of(page.lines) == TEXTS
    assert (page.turns, engine.pages, engine.crops) == (0, 1, 0)
    assert not page.is_exact


def test_single_line_on_a_large_page_is_read():
    """A single line missed at full size is found by a second detection at a smaller size."""
    pixels = drawn([(220, 300, "Order 4711 paid")], size=(1654, 2339), font=34)

    page = read_page(paged(pixels), the_engine(), go_on)

    assert texts_of(page.lines) == ("Order 4711 paid",)
    box = page.lines[0].box
    assert 200 < box.min_x < 240
    assert 290 < box.min_y < 335


def test_blank_page_is_looked_at_once():
    """Blank scanned pages are not detected twice."""
    engine = Counted()

    page = read_page(paged(np.full((1200, 900, 3), 250, np.uint8)), engine, go_on)

    assert page.lines == ()
    assert engine.pages == 1


def test_images_of_a_text_page_are_recognised():
    """Images within a text page are read by OCR, in order with the text around them."""
    pixels = drawn([(120, 400, "Garden hose 19.90")], size=(1000, 900), font=30)
    layer = tuple(
        TextLine(text, 1.0, Rect(100, top, 500, top + 30))
        for text, top in (("Dear customer", 100), ("Yours faithfully", 700))
    )
    picture = (Rect(80, 380, 700, 480),)
    page = Page(1, 1000, 900, 1.0, pixels, layer, (), (), picture)

    read = read_page(page, the_engine(), go_on)

    assert texts_of(read.lines) == (
        "Dear customer",
        "Garden hose 19.90",
        "Yours faithfully",
    )
    assert 110 < read.lines[1].box.min_x < 140
    assert 390 < read.lines[1].box.min_y < 425


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_page_is_read_upright(turns):
    """A rotated page is read, with boxes in its own coordinates."""
    upright = a_page()
    pixels = np.ascontiguousarray(np.rot90(upright, turns))

    page = read_page(paged(pixels), the_engine(), go_on)

    assert texts_of(page.lines) == TEXTS
    assert page.turns == turns
    assert np.array_equal(page.pixels, upright)
    box = page.answer_box(page.lines[0].box)
    inside = pixels[box.min_y : box.max_y, box.min_x : box.max_x]
    assert (inside < 128).sum() > 500
    assert (pixels < 128).sum() > 2 * (inside < 128).sum()


def test_numbers_alone_do_not_turn_a_page():
    """A page of digits that can be read upside down is not rotated."""
    pixels = drawn([(60, 40, "1690 8161"), (60, 120, "9108 6619")], size=(400, 220))

    page = read_page(paged(pixels), the_engine(), go_on)

    assert page.turns == 0
    assert "".join(texts_of(page.lines)).replace(" ", "") == "1690816191086619"


@pytest.mark.parametrize("with_pixels", [False, True])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_text_layer_needs_no_engine(turns, with_pixels):
    """A text layer is used without an engine, in reading order, and rotated with the pixels."""
    upright = [
        TextLine("below", 1.0, Rect(10, 60, 90, 80)),
        TextLine("above", 1.0, Rect(10, 20, 90, 40)),
    ]
    width, height = (200, 120) if turns % 2 else (120, 200)
    layer = tuple(turned_lines(upright, (4 - turns) % 4, 120, 200))
    pixels = np.zeros((height, width, 3), np.uint8) if with_pixels else None

    page = read_page(Page(1, width, height, 1.0, pixels, layer), None, go_on)

    assert page.is_exact
    assert texts_of(page.lines) == ("above", "below")
    assert page.lines[0].box == Rect(10, 20, 90, 40)
    assert page.turns == turns
    assert (page.pixels is not None) == with_pixels
    if with_pixels:
        assert page.pixels.shape == (200, 120, 3)


def test_an_empty_layer_is_an_answer():
    """A page with a trusted, empty text layer has no lines."""
    assert read_page(Page(1, 10, 10, 1.0, None, ()), None, go_on).lines == ()


def test_a_blank_page_stays_as_it_is():
    """A blank page is not rotated and has no lines."""
    engine = Counted()

    page = read_page(paged(np.full((300, 400, 3), 255, np.uint8)), engine, go_on)

    assert (page.lines, page.turns, engine.pages) == ((), 0, 1)


SENTENCES = tuple(
    f"{number} parcels of {size} kg went from the harbour to the northern depot on day {number}"
    for number, size in enumerate((12, 35, 47, 51, 68, 84, 96, 105), start=1)
)


def a_letter():
    """Draw a page of long lines."""
    rows = [(60, 80 + 44 * row, text) for row, text in enumerate(SENTENCES)]
    return drawn(rows, size=(1000, 552), font=22)


@pytest.mark.parametrize(("kind", "turns"), [*((kind, 0) for kind in KINDS), ("sine", 2)])
def test_a_bent_page_is_straightened(kind, turns):
    """Bent lines are read correctly, with boxes on the original page."""
    engine = the_engine()
    bent = np.ascontiguousarray(np.rot90(curled(a_letter(), kind, 3, 0.05), turns))

    page = read_page(paged(bent), engine, go_on)

    found = [word for line in page.lines for word in line.text.split()]
    words = [word for text in SENTENCES for word in text.split()]
    assert len(set(found) & set(words)) >= 0.97 * len(set(words))
    assert page.unrolling is not None
    assert (page.height, page.width) == page.pixels.shape[:2]
    outside = bent[:, :, 0] < 128
    for line in page.lines:
        box = page.answer_box(line.box)
        outside[box.min_y : box.max_y, box.min_x : box.max_x] = False
    assert outside.sum() < 0.02 * (bent[:, :, 0] < 128).sum()


def test_a_flat_page_is_not_straightened():
    """Level and slanted pages are not straightened."""
    engine = the_engine()
    for pixels in (a_letter(), curled(a_letter(), "bulge", 3, 0.0)):
        page = read_page(paged(pixels), engine, go_on)

        assert page.unrolling is None
        assert page.pixels is pixels
        assert len(page.lines) == len(SENTENCES)


def waves():
    """Draw a page of waves."""
    rows, columns = np.mgrid[0:900, 0:900]
    return np.repeat((127 + 127 * np.sin((rows + 40 * np.sin(columns / 60)) / 5))[..., None], 3, 2)


@pytest.mark.parametrize(
    "draw",
    [
        waves,
        lambda: np.random.default_rng(1).integers(0, 256, (900, 900, 3)),
        lambda: curled(a_letter(), "bulge", 1, 0.5),
        lambda: curled(a_letter(), "sine", 1, 0.3),
    ],
    ids=["waves", "noise", "rolled up", "crumpled"],
)
def test_pages_beyond_straightening_are_answered(draw):
    """Waves, noise and extremely bent paper end soon, with boxes on the page."""
    engine, pixels = the_engine(), draw()
    start = time.process_time()

    page = read_page(paged(pixels.astype(np.uint8)), engine, go_on)

    assert time.process_time() - start < 30
    for rect in (*(line.box for line in page.lines), *page.unread):
        box = page.answer_box(rect)
        assert 0 <= box.min_x <= box.max_x <= pixels.shape[1]
        assert 0 <= box.min_y <= box.max_y <= pixels.shape[0]
