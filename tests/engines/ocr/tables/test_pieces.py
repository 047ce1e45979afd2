"""Lines are split at cell borders, together with their text."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.pieces import cut, cut_at_rulings, cut_page, text_height
from chalicelib.engines.ocr.tables.rulings import Ruling
from chalicelib.engines.ocr.tables.settings import LEAST_TEXT_PIXELS
from tests.engines.ocr.tables.drawn import Reader, Sheet


def line(text: str, places: tuple[float, ...] = ()) -> TextLine:
    """Return a line from x = 0 to 200."""
    return TextLine(text, 0.9, Rect(0, 0, 200, 20), None, places)


def test_a_cut_falls_on_the_space_nearby() -> None:
    """A cut moves to a nearby space, and both boxes end there."""
    first, second = cut(line("north 1234"), [110])
    assert (first.text, second.text) == ("north", "1234")
    assert (first.box.max_x, second.box.min_x) == (110, 110)
    assert all(0 <= place <= 1 for place in (*first.places, *second.places))


def test_known_places_decide() -> None:
    """Characters with known positions are assigned by these."""
    places = (0.02, 0.05, 0.08, 0.9, 0.94, 0.98)
    assert [piece.text for piece in cut(line("abcdef", places), [100])] == ["abc", "def"]
    assert [piece.text for piece in cut(line("abcdef", places), [60, 120])] == ["abc", "def"]


def test_a_ruling_that_was_read_as_a_stroke_is_no_text() -> None:
    """A ruling that was read as a bar belongs to neither cell."""
    rule = Ruling(100, -50, 100, 2)
    assert [piece.text for piece in cut_at_rulings(line("abcd|efgh"), [rule])] == ["abcd", "efgh"]


@pytest.mark.parametrize(
    "rule", [Ruling(2, -50, 100, 2), Ruling(100, 12, 100, 2), Ruling(100, -50, 6, 2)]
)
def test_rulings_at_ends_or_outside_cut_nothing(rule: Ruling) -> None:
    """A ruling at a line's end, or outside it, does not split it."""
    whole = line("abcd efgh")
    assert cut_at_rulings(whole, [rule]) == [whole]


def test_wide_gaps_cut_and_word_spaces_do_not() -> None:
    """A line over two cells is split at the wide gap; a sentence is not."""
    sheet = Sheet()
    sheet.write(50, 50, "a short sentence of words")
    sheet.write(50, 100, "left")
    sheet.write(300, 100, "right")
    left, right = sheet.lines[1:]
    box = Rect(left.box.min_x, left.box.min_y, right.box.max_x, right.box.max_y)
    places = tuple(
        (part.box.min_x + place * part.box.width - box.min_x) / box.width
        for part in (left, right)
        for place in (*part.places, 1.0)
    )[:-1]
    sheet.lines[1:] = [TextLine("left right", 0.9, box, None, places)]
    found = cut_page(sheet.page(), [], Reader(), lambda: None)
    assert [piece.text for piece in found] == ["a short sentence of words", "left", "right"]
    assert found[1].box.max_x < 100 < 290 < found[2].box.min_x


def test_letters_of_one_width_keep_their_words() -> None:
    """In wide-spaced print a gap must be even wider to split a line."""
    sheet = Sheet()
    for number in range(6):
        for index, character in enumerate("one two three"):
            sheet.write(50 + 13 * index, 50 + 40 * number, character, is_noted=False)
        sheet.lines.append(
            TextLine(
                "one two three",
                0.9,
                Rect(46, 46 + 40 * number, 50 + 13 * 13, 80 + 40 * number),
                None,
                tuple((4 + 13 * index + 5) / (4 + 13 * 13) for index in range(13)),
            )
        )
    found = cut_page(sheet.page(), [], Reader(), lambda: None)
    assert [piece.text for piece in found] == ["one two three"] * 6


def test_text_height_is_at_least_a_few_pixels() -> None:
    """The usual height is the median; lines without height get a minimum."""
    assert text_height([line("a")]) == 20
    flat = TextLine("a", 0.9, Rect(0, 0, 10, 0))
    assert text_height([flat, flat, line("a")]) == LEAST_TEXT_PIXELS
