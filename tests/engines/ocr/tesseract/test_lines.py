"""Words become lines."""

import pytest

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.tesseract.caller import Word
from chalicelib.engines.ocr.tesseract.lines import line_of, runs_of


def word(text, left, right, line="1", probability=0.9):
    """Return a word 20 pixels high."""
    return Word(text, probability, Rect(left, 0, right, 20), ("1", "1", line))


def texts(runs):
    """Return the texts of runs."""
    return [[word.text for word in run] for run in runs]


def test_lines_are_split_at_wide_gaps():
    """Columns of a table become separate lines; words of a sentence stay together."""
    words = [word("a", 0, 10), word("b", 20, 30), word("c", 61, 70), word("d", 0, 10, "2")]

    assert texts(runs_of(words)) == [["a", "b"], ["c"], ["d"]]
    assert texts(runs_of([])) == []


def test_words_are_put_in_order():
    """Words of a line are sorted if the program returns them in another order."""
    assert texts(runs_of([word("b", 20, 30), word("a", 0, 10)])) == [["a", "b"]]


def test_a_line_weighs_its_words_and_places_its_characters():
    """A line's probability is weighted by word length; characters divide a word evenly."""
    box = Rect(5, 5, 55, 15)

    line = line_of(
        [word("ab", 0, 20, probability=1), word("c", 40, 50, probability=0.4)], (0, 50), box
    )

    assert line.text == "ab c"
    assert line.probability == pytest.approx(0.8)
    assert line.box == box
    assert line.places == pytest.approx((0.1, 0.3, 0.6, 0.9))


def test_places_stay_within_the_line():
    """Words are clipped to the requested region; an empty line does not fail."""
    line = line_of([word("abc", -10, 110)], (0, 100), Rect(0, 0, 1, 1))
    assert min(line.places) >= 0
    assert max(line.places) <= 1
    assert line_of([word("a", 3, 3)], (3, 3), Rect(0, 0, 1, 1)).places == (0,)
