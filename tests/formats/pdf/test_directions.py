"""Hebrew and Arabic text is read in logical order, with embedded numbers and Latin words."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.contacts.piece import pieces_of
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.gaps import divide_exact
from chalicelib.engines.ocr.tables.pieces import cut
from chalicelib.formats.pdf.directions import logical_order, paired
from chalicelib.formats.pdf.glyphs import Glyph
from chalicelib.formats.pdf.text_lines import text_lines

EM = 20.0
HELLO, FRIEND, DATE = (
    "\u05e9\u05dc\u05d5\u05dd",
    "\u05d7\u05d1\u05e8",
    "\u05ea\u05d0\u05e8\u05d9\u05da",
)
SALAM, WELCOME = "\u0633\u0644\u0627\u0645", "\u0645\u0631\u062d\u0628\u0627"


def shown(words):
    """Return the glyphs of words from left to right; letters are half an em wide.

    Words of Hebrew or Arabic letters are given as they are spelled and shown reversed.
    """
    glyphs, x = [], 100.0
    for word in words:
        is_reversed = any(letter >= "\u0590" for letter in word)
        for number, letter in enumerate(reversed(word) if is_reversed else word):
            is_spaced = number == 0 and not is_reversed
            box = (x, 86.0, x + EM / 2, 100.0)
            glyphs.append(Glyph(letter, (x, 100.0), box, 0.0, EM, 0, is_spaced, True))
            x += EM / 2
        x += 0.3 * EM
    # Each word is a text object, so spaces are found by their gaps.
    return [glyph._replace(run=number) for number, glyph in enumerate(glyphs)]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([FRIEND, HELLO], f"{HELLO} {FRIEND}"),
        ([FRIEND, "45", HELLO], f"{HELLO} 45 {FRIEND}"),
        (["12/05/2024", DATE], f"{DATE} 12/05/2024"),
        (["-1,234.50", DATE, "45%", HELLO], f"{HELLO} 45% {DATE} 1,234.50-"),
        ([FRIEND, "ABC", "123", HELLO], f"{HELLO} ABC 123 {FRIEND}"),
        (["Total", "45", FRIEND, HELLO, "in", "all"], f"Total 45 {HELLO} {FRIEND} in all"),
        ([WELCOME, "45", SALAM], f"{SALAM} 45 {WELCOME}"),
    ],
)
def test_words_come_in_the_order_of_reading(words, text):
    """Letters, words, numbers and Latin words of a line are in logical order."""
    (line,) = text_lines(shown(words))
    assert line.text == text
    assert len(line.places) == len(text)


def test_places_are_those_of_the_characters():
    """Character positions follow the display: the first Hebrew letter is at the right end."""
    (line,) = text_lines(shown([FRIEND, "45", HELLO]))
    four, five = line.text.index("4"), line.text.index("5")
    assert line.places[0] == max(line.places)
    assert line.places[-1] == min(line.places)
    assert line.places[four] < line.places[five]


def test_a_mixed_line_begins_where_its_page_does():
    """A mixed line starts on the right of a Hebrew page and on the left of an English one."""
    line = shown(["Presage", HELLO])
    below = [
        glyph._replace(origin=(glyph.origin[0], 200.0), run=glyph.run + 100)
        for glyph in shown([FRIEND, DATE, HELLO])
    ]
    assert text_lines(line)[0].text == f"Presage {HELLO}"
    assert text_lines([*line, *below])[0].text == f"{HELLO} Presage"


def test_marks_follow_their_letter():
    """A vowel point follows its letter, and a ligature gives lam before alef."""
    letters = shown([HELLO])
    shin = letters[-1]
    point = shin._replace(text="\u05b8", origin=(shin.origin[0] - 1, 100.0), run=90)
    point = point._replace(box=(shin.box[0] + 2, 98.0, shin.box[0] + 6, 104.0))
    (line,) = text_lines([point, *letters])
    assert line.text == HELLO[0] + "\u05b8" + HELLO[1:]
    lam, alef = (shin._replace(text=text) for text in ("\u0644", "\u0627"))
    (line,) = text_lines([alef, lam])
    assert line.text == "\u0644\u0627"


def test_brackets_open_and_close():
    """Paired brackets are mirrored; a single one is left as it is."""
    assert paired(f"){HELLO}( 45") == f"({HELLO}) 45"
    assert paired(f"({HELLO}(") == f"({HELLO})"
    assert paired("((a)) [b]") == "((a)) [b]"
    assert paired("1) a") == "1) a"


def test_the_order_of_no_letters_is_theirs():
    """A line of numbers on a left-to-right page is unchanged."""
    assert logical_order(list("12 34"), False) == list(range(5))


def reversed_line():
    """Return a line of two Hebrew words, 400 pixels wide, with a wide gap between them."""
    text = f"{HELLO} {FRIEND}"
    places = (0.98, 0.94, 0.90, 0.86, 0.5, 0.1, 0.06, 0.02)
    return TextLine(text, 1.0, Rect(0, 0, 400, 20), None, places)


def test_parts_of_a_reversed_line_are_where_their_letters_are():
    """Every way of cutting a line keeps text and box of the same letters together."""
    left, right = divide_exact(reversed_line(), 0.45, 1.0)
    assert (left.text, right.text) == (FRIEND, HELLO)
    assert left.box.max_x < 100 < 300 < right.box.min_x
    left, right = cut(reversed_line(), [200.0])
    assert (left.text, right.text) == (FRIEND, HELLO)
    assert (left.box.max_x, right.box.min_x) == (200.0, 200.0)
    first, second = pieces_of([reversed_line()])
    assert (first.text, second.text) == (HELLO, FRIEND)
    assert second.rect.max_x < 100 < 300 < first.rect.min_x
    segment = LineSegment(reversed_line(), 0, 8, Rect(0, 0, 400, 20)).part(0, 4)
    assert segment.text == HELLO
    assert min(segment.rect.min_x, segment.box.min_x) > 190
