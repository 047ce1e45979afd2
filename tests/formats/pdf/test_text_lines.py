"""Characters become lines: words, columns, indexes, overprints, rotated text."""

from __future__ import annotations

import math
import time

import pytest

from chalicelib.formats.pdf.glyphs import Glyph
from chalicelib.formats.pdf.text_lines import ASCENT, DESCENT, text_lines

WIDTH = 0.5
"""Width of a character of these tests, by the size of its font."""


def spell(text, x, y, size=20.0, angle=0.0, run=0):
    """Return characters of a text set from a position in a direction."""
    glyphs = []
    spaced = False
    across, down = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    step = WIDTH * size
    for number, letter in enumerate(text):
        if letter == " ":
            spaced = True
            continue
        origin = (x + number * step * across, y + number * step * down)
        # The cell's corners: from the baseline along the line, and up.
        far = [
            (origin[0] + along * across + up * down, origin[1] + along * down - up * across)
            for along in (0, step)
            for up in (0, 0.7 * size)
        ]
        box = (
            min(p[0] for p in far),
            min(p[1] for p in far),
            max(p[0] for p in far),
            max(p[1] for p in far),
        )
        glyphs.append(Glyph(letter, origin, box, angle % 360, size, run, spaced, True))
        spaced = False
    return glyphs


def read(*glyphs):
    """Return the texts of the lines that characters form."""
    return [line.text for line in text_lines([one for group in glyphs for one in group])]


def test_a_line_has_its_words_and_places():
    """Text, box and character centres of a line are as set."""
    (line,) = text_lines(spell("two words", 100, 200))
    assert line.text == "two words"
    assert line.quad is None
    assert line.box == pytest.approx((100, 200 - ASCENT * 20, 190, 200 + DESCENT * 20))
    assert line.places == pytest.approx([(number + 0.5) / 9 for number in range(9)], abs=1e-4)


def test_lines_are_parted_by_baseline_and_order():
    """Lines are ordered from top to bottom, whatever the file's order."""
    assert read(spell("second", 10, 130), spell("first", 10, 100)) == ["first", "second"]


def test_wide_gaps_end_a_line():
    """Columns of one row are separate lines; words are not."""
    assert read(spell("left column", 10, 100), spell("right", 200, 100, run=1)) == [
        "left column",
        "right",
    ]


def test_pieces_without_spaces_are_joined_by_their_gaps():
    """Words drawn separately are joined with spaces, parts of words without."""
    assert read(spell("wo", 10, 100), spell("rd", 30, 100, run=1)) == ["word"]
    assert read(spell("b", 26, 100), spell("a", 10, 100, run=1)) == ["a b"]
    assert read(spell("a", 10, 100), spell("b", 32, 100, run=1)) == ["a b"]


def test_wide_letters_are_words():
    """In wide-spaced headings the words are those of the PDF."""
    wide = [
        one._replace(origin=(8 * n, 100), box=(8 * n, 86, 8 * n + 2, 100), size=10.0)
        for n, one in enumerate(spell("A WIDE", 0, 100))
    ]
    assert read(wide) == ["A WIDE"]


def test_pieces_drawn_backwards_are_put_right():
    """Text drawn right to left is returned in display order."""
    assert read(spell("world", 70, 100), spell("hello", 10, 100, run=1)) == ["hello world"]


def test_indexes_stay_with_their_line():
    """Superscripts and subscripts are joined to their word."""
    raised = spell("2", 30, 93, size=12, run=1)
    assert read(spell("mm", 10, 100), raised, spell(" long", 36, 100, run=2)) == ["mm2 long"]
    lowered = spell("2", 20, 104, size=12, run=1)
    assert read(spell("H", 10, 100), lowered, spell("O", 26, 100, run=2)) == ["H2O"]
    mark = spell("1", 10, 92, size=10, run=0)
    assert read(mark, spell("Footnote", 15, 100, run=1)) == ["1Footnote"]


def test_small_lines_are_no_indexes():
    """A small line below or next to a large one is a separate line."""
    assert read(spell("left", 10, 100), spell("right", 52, 107, run=1)) == ["left", "right"]
    assert read(spell("Large", 10, 100, size=30), spell("small", 10, 118, size=10, run=1)) == [
        "Large",
        "small",
    ]


def test_overprints_are_kept_once():
    """Text printed twice appears once; double letters stay."""
    assert read(spell("Bell 77", 10, 100), spell("Bell 77", 10.6, 100.4, run=1)) == ["Bell 77"]


def test_letters_of_one_glyph_are_kept():
    """A ligature becomes its letters, with positions inside its box."""
    glyph = Glyph("ffi", (10, 100), (10, 86, 34, 100), 0, 20, 0, False, True)
    (line,) = text_lines([*spell("o", -0.5, 100), glyph, *spell("ce", 34, 100)])
    assert line.text == "office"
    (line,) = text_lines([glyph])
    assert line.places == pytest.approx((1 / 6, 3 / 6, 5 / 6), abs=1e-4)


@pytest.mark.parametrize("angle", [90, 180, 270, 30, 45, 135, 350.5])
def test_turned_text_has_corners(angle):
    """Rotated text is read along its direction; its corners start at its own top left."""
    (line,) = text_lines(spell("turned text", 500, 500, angle=angle))
    assert line.text == "turned text"
    across, down = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    start, end = line.quad[3], line.quad[2]
    depth = DESCENT * 20
    assert start == pytest.approx((500 - depth * down, 500 + depth * across), abs=0.01)
    assert math.dist(start, end) == pytest.approx(110, abs=1)
    assert (end[0] - start[0], end[1] - start[1]) == pytest.approx(
        (110 * across, 110 * down), abs=1.1
    )
    assert math.dist(line.quad[0], start) == pytest.approx((ASCENT + DESCENT) * 20, abs=0.01)


def test_directions_do_not_mix():
    """A diagonal stamp is a separate line after the page's text."""
    page = spell("running text of the page", 10, 100)
    assert read(spell("DRAFT", 60, 140, angle=315), page) == ["running text of the page", "DRAFT"]


def test_absurd_font_sizes_are_corrected_by_ink():
    """If the font size does not match the letters, their ink is measured."""
    glyphs = [one._replace(size=2000.0) for one in spell("two words", 100, 200)]
    (line,) = text_lines(glyphs)
    assert line.text == "two words"
    assert line.box[3] - line.box[1] < 30


def test_nothing_makes_nothing():
    """A page without characters has no lines."""
    assert text_lines([]) == []


def test_hostile_pages_take_no_time():
    """A hundred thousand characters in one place are grouped in one pass."""
    glyphs = [one for run in range(2_000) for one in spell("abcdefghij", 100, 100, run=run)]
    started = time.process_time()
    text_lines(glyphs)
    assert time.process_time() - started < 3
