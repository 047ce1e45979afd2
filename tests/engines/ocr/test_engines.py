"""The common behaviour of both text engines on drawn pages."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from rapidfuzz.distance import Levenshtein

from chalicelib.domain.documents.characters import CHARACTERS, LATIN, LATIN_CHARACTERS
from chalicelib.domain.documents.page import Page
from chalicelib.engines.ocr.interface import PPOCR, TESSERACT
from chalicelib.engines.ocr.pool import OcrPool
from chalicelib.engines.ocr.reading import read_page
from infra.models import default_directory
from tests.papers import accented_paper, foreign_paper

TEXTS = (
    "Invoice No. 4711 of 12 March 2024",
    "Green tea, 3 boxes at $4.50 each: $13.50",
    "Payment is due within 30 days; thank you!",
    "Questions? Write to office@example.com",
)
LEFT, TOP, PITCH = 40, 30, 60
SIZE = 26


def draw(texts=TEXTS, size=SIZE, shape=(300, 760), ink=0, paper=255):
    """Draw lines of text below each other."""
    page = Image.new("RGB", (shape[1], shape[0]), (paper,) * 3)
    pen = ImageDraw.Draw(page)
    for row, text in enumerate(texts):
        place = (LEFT, TOP + row * PITCH)
        pen.text(place, text, fill=(ink,) * 3, font=ImageFont.load_default(size=size))
    return np.asarray(page)


def error_rate(lines, texts=TEXTS):
    """Return the edit distance per character, ignoring spaces."""
    wanted = "".join("".join(texts).split())
    given = "".join("".join(line.text for line in lines).split())
    return Levenshtein.distance(wanted, given) / len(wanted)


def go_on():
    """Let an engine continue."""


def quad_of(row, width=620):
    """Return the corners of a drawn line."""
    top, bottom = TOP + row * PITCH - 4, TOP + row * PITCH + SIZE + 10
    return (
        (LEFT - 6.0, top),
        (LEFT + float(width), top),
        (LEFT + float(width), bottom),
        (LEFT - 6.0, bottom),
    )


def on_page(line, height, width):
    """Return whether a line's box is on the page."""
    box = line.box
    return 0 <= box.min_x < box.max_x <= width and 0 <= box.min_y < box.max_y <= height


@pytest.fixture(scope="module", params=[PPOCR, TESSERACT])
def engine(request):
    """Each engine in turn."""
    return OcrPool(default_directory(), request.param).engine()


@pytest.fixture(scope="module")
def lines(engine):
    """The lines that an engine reads on the drawn page."""
    return engine.read(draw(), go_on)


def test_reads_a_drawn_page(lines):
    """Nearly every character is right, in reading order."""
    assert error_rate(lines) < 0.03
    assert [line.text.split()[0] for line in lines] == ["Invoice", "Green", "Payment", "Questions?"]


def test_lines_say_where_they_are(lines):
    """Boxes fit the drawn lines, probabilities are high, words have single spaces."""
    assert all(on_page(line, 300, 760) for line in lines)
    for row, line in enumerate(lines):
        middle = TOP + row * PITCH + SIZE / 2 + 3
        assert line.box.min_y < middle < line.box.max_y
        assert abs(line.box.min_x - LEFT) < 12
        assert 0.6 < line.probability <= 1
        assert line.text == " ".join(line.text.split())


def test_characters_have_places(lines):
    """Characters have increasing positions, near where they were drawn."""
    font = ImageFont.load_default(size=SIZE)
    for line in lines:
        assert len(line.places) == len(line.text)
        assert list(line.places) == sorted(line.places)
        assert 0 <= line.places[0] < line.places[-1] <= 1
        at = line.text.index(" ")
        drawn = font.getlength(line.text[:at]) / font.getlength(line.text)
        assert abs(line.places[at] - drawn) < 0.04


def test_blank_pages_hold_nothing(engine):
    """White, black and grey pages give no lines."""
    for colour in (255, 0, 128):
        assert engine.read(np.full((200, 300, 3), colour, np.uint8), go_on) == ()


@pytest.mark.parametrize("shape", [(1, 1), (2, 400), (400, 2), (3, 3), (8, 5), (16, 16), (3, 2000)])
def test_tiny_pages_are_read_without_fault(engine, shape):
    """Pages too small for text give nothing, or nothing wrong."""
    pixels = np.random.default_rng(7).integers(0, 256, (*shape, 3), np.uint8)

    lines = engine.read(pixels, go_on)

    assert all(on_page(line, *shape) for line in lines)
    assert len(engine.read_crops(pixels, [((0, 0), (9, 0), (9, 9), (0, 9))], go_on)) == 1


def test_grey_paper_and_pale_ink_are_read(engine):
    """A shaded page with low contrast is read."""
    shade = np.linspace(1, 0.7, 760)[None, :, None]
    pixels = (draw(ink=110, paper=210) * shade).astype(np.uint8)

    assert error_rate(engine.read(pixels, go_on)) < 0.05


def test_reads_crops(engine):
    """Given regions are read in the requested order; an empty one gives None."""
    pixels = draw()
    quads = [quad_of(2), quad_of(0), ((600, 270), (700, 270), (700, 290), (600, 290)), quad_of(1)]

    lines = engine.read_crops(pixels, quads, go_on)

    assert lines[2] is None
    assert error_rate([lines[1], lines[3], lines[0]], TEXTS[:3]) < 0.05
    assert all(on_page(line, 300, 760) for line in lines if line)
    assert engine.read_crops(pixels, [], go_on) == ()


def test_reads_a_crop_that_is_turned(engine):
    """A region's corners define its reading direction: vertical or upside down."""
    turned = np.ascontiguousarray(np.rot90(draw(), -1))
    sideways = tuple((300.0 - y, x) for x, y in quad_of(0))
    over = np.ascontiguousarray(np.rot90(draw(), 2))
    upside_down = tuple((760.0 - x, 300.0 - y) for x, y in quad_of(3))

    (first,) = engine.read_crops(turned, [sideways], go_on)
    (last,) = engine.read_crops(over, [upside_down], go_on)

    assert error_rate([first], TEXTS[:1]) < 0.1
    assert error_rate([last], TEXTS[3:]) < 0.1
    assert first.corners == sideways


def test_crops_outside_of_the_page_are_no_fault(engine):
    """Regions beyond the page, without size, or reversed do not fail."""
    quads = [
        ((-50, -50), (-10, -50), (-10, -20), (-50, -20)),
        ((700, 280), (900, 280), (900, 400), (700, 400)),
        ((10, 10), (10, 10), (10, 10), (10, 10)),
        ((0, 0), (760, 0), (760, 1), (0, 1)),
    ]

    assert len(engine.read_crops(draw(), quads, go_on)) == 4


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_turned_pages_are_read(engine, turns):
    """A page rotated by 90 or 180 degrees is read, with boxes in its own coordinates."""
    pixels = np.ascontiguousarray(np.rot90(draw(), -turns))
    height, width = pixels.shape[:2]

    page = read_page(Page(1, width, height, 1.0, pixels), engine, go_on)

    assert page.turns == (4 - turns) % 4
    assert error_rate(page.lines) < 0.05


def test_other_alphabets_are_answered_in_documented_characters(engine):
    """Letters outside the documented characters are never returned; accents are dropped."""
    accents = accented_paper("Cafe resume naive Zurich", "   '  '   '        :")
    foreign = foreign_paper(["ДЖИША ШИФЦ", "ΩΣΛΞ ΨΔΠ", "中市田木"])

    texts = [
        line.text for page in (accents, foreign) for line in engine.read(np.asarray(page), go_on)
    ]

    assert texts[0] == "Cafe resume naive Zurich"
    assert set("".join(texts)) <= set(CHARACTERS)


def test_accents_are_kept_where_they_are_asked_for(engine):
    """With the larger alphabet accents are kept; the shared engine is not changed."""
    accents = np.asarray(accented_paper("Cafe resume naive Zurich", "   '  '   '        :"))
    latin = engine.in_alphabet(LATIN)

    (read,) = (line.text for line in latin.read(accents, go_on))

    assert "é" in read
    assert set(read) <= set(LATIN_CHARACTERS)
    assert engine.read(accents, go_on)[0].text == "Cafe resume naive Zurich"


def test_threads_share_an_engine(engine, lines):
    """Pages read simultaneously give the same result as one by one."""
    barrier = threading.Barrier(3)

    def read(_):
        barrier.wait(60)
        return engine.read(draw(), go_on)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(read, range(3))) == [lines] * 3


def test_a_check_that_raises_ends_the_reading(engine):
    """Reading stops when the check raises."""

    class TimeIsUpError(Exception):
        pass

    def stop():
        raise TimeIsUpError

    with pytest.raises(TimeIsUpError):
        engine.read(draw(), stop)
    with pytest.raises(TimeIsUpError):
        engine.read_crops(draw(), [quad_of(0)], stop)


def test_a_page_is_not_changed(engine):
    """Read-only pixels and other memory orders are read without being changed."""
    pixels = draw()
    turned = np.rot90(np.rot90(pixels, 1).copy(), -1)
    turned.flags.writeable = False

    assert engine.read(turned, go_on) == engine.read(pixels, go_on)
