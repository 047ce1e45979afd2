"""Spaces that the engine missed are restored from the ink."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.spacing import spaced_lines

SIZE = 28
TOP, LEFT, STEP = 20, 20, 60


def go_on() -> None:
    """Never cancel."""


def page_of(drawn: list[str], read: list[str]) -> tuple[np.ndarray, list[TextLine]]:
    """Draw lines, and return them as if read without some of their spaces."""
    font = ImageFont.load_default(SIZE)
    image = Image.new("RGB", (900, TOP + STEP * len(drawn)), "white")
    pen = ImageDraw.Draw(image)
    lines = []
    for number, (text, kept) in enumerate(zip(drawn, read, strict=True)):
        top = TOP + STEP * number
        pen.text((LEFT, top), text, "black", font)
        box = Rect(*pen.textbbox((LEFT, top), text, font))
        middles, at = [], 0
        for character in kept:
            while text[at] != character:
                at += 1
            left, right = (font.getlength(text[:end]) for end in (at, at + 1))
            middles.append((LEFT + (left + right) / 2 - box.min_x) / box.width)
            at += 1
        lines.append(TextLine(kept, 0.9, box, None, tuple(middles)))
    return np.asarray(image), lines


def spaced(drawn: list[str], read: list[str]) -> list[str]:
    """Return the texts with their spaces."""
    found = spaced_lines(*page_of(drawn, read), go_on)
    assert all(len(line.text) == len(line.places) for line in found)
    assert all(list(line.places) == sorted(line.places) for line in found)
    return [line.text for line in found]


def test_overlooked_spaces_are_put_in() -> None:
    """A wide gap between letters or digits becomes a space."""
    drawn = ["Please come again", "4380 Rhodes Via Apt. 745", "15/07/2018 22:07", "(735) 698-4230"]
    read = ["Pleasecome again", "4380Rhodes Via Apt. 745", "15/07/201822:07", "(735)698-4230"]
    assert spaced(drawn, read) == drawn


@pytest.mark.parametrize(
    "text", ["1,111.11 and 41.50", "Total: 17.10", "W. A. Tailor", "1988-11-11 of 1994"]
)
def test_right_text_stays(text: str) -> None:
    """Narrow digits, decimal points and wide letters get no extra space."""
    assert spaced([text], [text]) == [text]


def test_a_colon_that_is_set_apart_stays_so() -> None:
    """A colon printed with a space keeps it; other closing punctuation has none."""
    assert spaced(["Date : today or so", "Well , no"], ["Date: today or so", "Well, no"]) == [
        "Date : today or so",
        "Well, no",
    ]


def test_lines_without_places_stay() -> None:
    """A line without character positions is not changed."""
    pixels, (line,) = page_of(["two words"], ["twowords"])
    bare = TextLine(line.text, line.probability, line.box)
    assert spaced_lines(pixels, [bare], go_on) == (bare,)
    assert spaced_lines(pixels, [], go_on) == ()


def test_text_that_the_engine_left_out_is_returned_without_characters() -> None:
    """Letters far from all characters are a part with an empty text at their place."""
    pixels, lines = page_of(["City Rotterdam 5, Zuid"], ["City  5, "])

    line, *parts = spaced_lines(pixels, lines, go_on)

    assert line.text.split() == ["City", "5,"]
    assert [part.text for part in parts] == ["", ""]
    assert [round(part.box.min_x, -1) for part in parts] == [80, 250]


def test_frame_and_wide_letters_are_no_text_that_was_left_out() -> None:
    """A single stroke next to a text, such as the side of a box, is not unread text."""
    drawn, lines = page_of(["WWW Mmm"], ["WWW Mmm"])
    pixels, box = drawn.copy(), lines[0].box
    places = tuple(place * box.width / (box.width + 60) for place in lines[0].places)
    wide = TextLine(
        "WWW Mmm", 0.9, Rect(box.min_x, box.min_y, box.max_x + 60, box.max_y), None, places
    )
    pixels[int(box.min_y) : int(box.max_y), int(box.max_x) + 30 : int(box.max_x) + 50] = 0

    assert len(spaced_lines(pixels, [wide], go_on)) == 1
