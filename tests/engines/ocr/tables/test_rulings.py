"""Straight lines of any colour are found; strokes of letters are not."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.rulings import (
    Rulings,
    darkest_channel,
    erase,
    find_rulings,
)
from tests.engines.ocr.tables.drawn import Sheet


def rulings_of(sheet: Sheet) -> Rulings:
    """Find the rulings of a page whose text is 20 pixels high."""
    pixels = np.asarray(sheet.image)
    return find_rulings(darkest_channel(pixels), [line.box for line in sheet.lines], 20)


@pytest.mark.parametrize(
    ("ground", "ink"),
    [
        ((255, 255, 255), (0, 0, 0)),
        ((255, 255, 255), (225, 225, 225)),
        ((255, 255, 255), (255, 255, 0)),
        ((20, 30, 60), (255, 255, 255)),
    ],
)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_lines_of_any_colour_and_thickness(
    ground: tuple[int, int, int], ink: tuple[int, int, int], width: int
) -> None:
    """A line of any colour and thickness is one ruling, also where lines cross."""
    sheet = Sheet(ground=ground)
    sheet.pen.line([(100, 200), (700, 200)], fill=ink, width=width)
    sheet.pen.line([(300, 100), (300, 500)], fill=ink, width=width)
    found = rulings_of(sheet)
    (flat,), (tall,) = found.horizontal, found.vertical
    assert (flat.position, flat.start, flat.end) == pytest.approx((200, 100, 701), abs=3)
    assert (tall.position, tall.start, tall.end) == pytest.approx((300, 100, 501), abs=3)


def test_the_sides_of_a_light_fill_are_lines() -> None:
    """A pale stripe has an upper and a lower ruling."""
    sheet = Sheet()
    sheet.pen.rectangle([100, 200, 700, 240], fill=(245, 245, 245))
    assert [round(ruling.position, -1) for ruling in rulings_of(sheet).horizontal] == [200, 240]


def test_a_leaning_line_is_one() -> None:
    """A line tilted by half a degree is one ruling."""
    sheet = Sheet()
    sheet.rule((100, 200), (800, 206))
    (found,) = rulings_of(sheet).horizontal
    assert found.length > 680


def test_text_and_specks_are_no_lines() -> None:
    """Letters, dashes and noise are not rulings."""
    sheet = Sheet()
    sheet.write(100, 100, "HHHHHH LLLLL TTTTTTT EEEEE ------ ____")
    random = np.random.default_rng(3)
    noisy = np.clip(np.asarray(sheet.image) + random.normal(0, 12, (700, 1000, 1)), 0, 255)
    found = find_rulings(
        darkest_channel(noisy.astype(np.uint8)), [line.box for line in sheet.lines], 20
    )
    assert found == Rulings((), ())


def test_stems_of_letters_in_two_rows_are_no_line() -> None:
    """Stems below each other in narrow rows are strokes; a line through both rows is none."""
    sheet = Sheet()
    for y in (100, 121):
        sheet.pen.line([(150, y), (150, y + 18)], fill=(0, 0, 0), width=3)
        sheet.lines.append(TextLine("till", 1.0, Rect(100, y - 1, 200, y + 19)))
    sheet.pen.line([(180, 80), (180, 160)], fill=(0, 0, 0), width=3)

    (line,) = rulings_of(sheet).vertical

    assert line.position == pytest.approx(180, abs=3)


def test_a_line_longer_than_text_that_it_crosses_counts() -> None:
    """A line that extends beyond the text it crosses is a ruling."""
    gray = np.full((100, 600), 255, np.uint8)
    gray[50:52] = 0
    assert len(find_rulings(gray, [Rect(100, 40, 300, 62)], 20).horizontal) == 1
    assert find_rulings(gray, [Rect(0, 40, 600, 62)], 20).horizontal == ()


def test_erased_lines_leave_text_and_fills() -> None:
    """Erased rules get the background colour of either side; all else stays."""
    sheet = Sheet()
    sheet.pen.rectangle([50, 200, 700, 260], fill=(230, 230, 230))
    sheet.write(100, 220, "stays")
    before = np.asarray(sheet.image).copy()
    sheet.rule((50, 200), (700, 200))
    sheet.rule((400, 100), (400, 260))
    found = rulings_of(sheet)
    clean = erase(np.asarray(sheet.image), found, 9)
    assert np.array_equal(clean[215:250, 90:200], before[215:250, 90:200])
    assert clean[210:255, 395:405].min() >= 225
    assert clean[196:199, 60:380].min() == 255
    assert clean[203:206, 60:380].max() == 230
