"""The engine on drawn pages."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from chalicelib.engines.ocr.ppocr import engine
from chalicelib.engines.ocr.ppocr.recogniser import Recogniser
from tests.engines.ocr.ppocr.pages import TEXTS, a_page, drawn, go_on, texts_of, the_engine


class TimeIsUp(Exception):
    """Raised by a check."""


def resident_bytes():
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize(("ink", "paper"), [(0, 255), (255, 0), (190, 225)])
def test_a_drawn_page_is_read_exactly(ink, paper):
    """Black on white, white on black and faint print are read without an error."""
    lines = the_engine().read(a_page(ink, paper), go_on)

    assert texts_of(lines) == TEXTS
    assert all(line.probability > 0.9 for line in lines)


@pytest.mark.parametrize(("ink", "paper"), [(160, 172), (60, 52)])
def test_pale_print_is_read(ink, paper):
    """Ink slightly darker than its paper is read despite camera noise."""
    noise = np.random.default_rng(5).normal(0, 1, (300, 620, 3))
    pixels = np.clip(np.rint(a_page(ink, paper) + noise), 0, 255).astype(np.uint8)

    assert texts_of(the_engine().read(pixels, go_on)) == TEXTS


def test_boxes_lie_around_the_text():
    """A line's box fits its drawn text closely, and each character has a position in it."""
    line = the_engine().read(a_page(), go_on)[0]

    assert line.box.min_x == pytest.approx(40, abs=14)
    assert line.box.min_y == pytest.approx(44, abs=14)
    assert line.box.height < 52
    assert len(line.places) == len(line.text)
    assert list(line.places) == sorted(line.places)
    assert 0 <= line.places[0] < 0.1
    assert 0.9 < line.places[-1] <= 1


def test_scores_tell_what_stands_in_a_place():
    """The scores of requested letters sum to 1 per step; the best ones spell the text."""
    page = drawn([(20, 20, "Kx7")], size=(120, 60))
    quad = ((14, 14), (82, 14), (82, 54), (14, 54))
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"

    (steps,) = the_engine().score_crops(page, [quad], letters, go_on)

    best = ["_", *letters]
    read = "".join(best[column] for column in steps.argmax(axis=1))
    assert steps.sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert read.replace("_", "") == "KX7"


@pytest.mark.parametrize("degrees", [-20, -5, 10, 20])
def test_skewed_text_is_read(degrees):
    """Slanted text is read in order, and its corners follow the slope."""
    page = Image.fromarray(a_page()).rotate(-degrees, expand=True, fillcolor=(255, 255, 255))

    lines = the_engine().read(np.asarray(page), go_on)

    assert texts_of(lines) == TEXTS
    (ax, ay), (bx, by), *_ = lines[0].corners
    assert np.degrees(np.arctan2(by - ay, bx - ax)) == pytest.approx(degrees, abs=2)


@pytest.mark.parametrize("turns", [1, 3])
def test_a_vertical_line_next_to_upright_text_is_read(turns):
    """Vertical text in the margin is read in addition to horizontal lines."""
    margin = np.rot90(drawn([(10, 6, "Draft copy 2024")], size=(240, 40), font=24), turns)
    page = a_page().copy()
    page[30:270, 560:600] = margin

    assert set(texts_of(the_engine().read(page, go_on))) == {*TEXTS, "Draft copy 2024"}


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 5000), (5000, 1), (3, 3000), (40, 40)])
@pytest.mark.parametrize("value", [0, 255])
def test_empty_pages_have_no_lines(shape, value):
    """Single pixels, strips and pages of one colour give no lines."""
    assert the_engine().read(np.full((*shape, 3), value, np.uint8), go_on) == ()


def test_noise_is_no_text():
    """A page of noise ends, without text."""
    page = np.random.default_rng(3).integers(0, 256, (700, 900, 3), dtype=np.uint8)

    assert the_engine().read(page, go_on) == ()


def test_large_pages_keep_their_coordinates():
    """A page of more than 12 megapixels is scaled down; boxes refer to the original."""
    page = Image.fromarray(a_page()).resize((6200, 3000))

    lines = the_engine().read(np.asarray(page), go_on)

    assert texts_of(lines) == TEXTS
    assert lines[2].box.center == pytest.approx((10 * 230, 10 * 196), abs=250)


def test_single_characters_are_upright():
    """Tall single characters are not taken for vertical text."""
    pixels = drawn([(60, 60, "I"), (300, 60, "7")], size=(420, 200), font=44)

    assert texts_of(the_engine().read(pixels, go_on)) == ("I", "7")


def test_crops_are_read_in_their_order():
    """Given regions are read without detection, in order; an empty one gives None."""
    quads = [
        ((35.0, y), (460.0, y), (460.0, y + 40.0), (35.0, y + 40.0)) for y in (175.0, 35.0, 240.0)
    ]

    lines = the_engine().read_crops(a_page(), quads, go_on)

    assert [line and line.text for line in lines] == [TEXTS[2], TEXTS[0], None]
    assert the_engine().read_crops(a_page(), [], go_on) == ()


def test_the_check_stops_the_work():
    """Reading calls the check repeatedly and stops when it raises."""
    asked = []

    def check():
        asked.append(1)
        if len(asked) == 3:
            raise TimeIsUp

    with pytest.raises(TimeIsUp):
        the_engine().read(a_page(), check)


def test_threads_share_the_engine():
    """Pages read simultaneously give the same result as one by one."""
    pages = [a_page(), a_page(255, 0)] * 3

    with ThreadPoolExecutor(3) as threads:
        read = list(threads.map(lambda page: the_engine().read(page, go_on), pages))

    assert all(texts_of(lines) == TEXTS for lines in read)


def test_memory_does_not_grow():
    """Reading crops of all sizes repeatedly does not increase memory."""
    draws = np.random.default_rng(9).integers(40, 300, (40, 2))
    page = a_page()
    for number, (width, height) in enumerate(draws):
        if number == 15:
            before = resident_bytes()
        the_engine().read(page[: int(height), : int(width)], go_on)

    assert resident_bytes() - before < 50e6


def test_what_other_pages_left_goes_before_a_page_is_looked_at(monkeypatch):
    """Freed memory is returned to the system before detection, which needs the most."""
    order = []
    detector = SimpleNamespace(find=lambda image: order.append("looked") or [])
    monkeypatch.setattr(engine, "release_memory_beyond", lambda: order.append("released"))

    assert engine.PpOcr(detector, Recogniser(None, ())).read(a_page(), go_on) == ()

    assert order == ["released", "looked"]
