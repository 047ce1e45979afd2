"""Zone rows that are read again with character scores."""

from dataclasses import replace

import numpy as np
import pytest

from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.interface import never_cancel
from chalicelib.engines.ocr.mrz.finder import find_zone
from chalicelib.engines.ocr.mrz.formats import CAPITALS, LETTERS, TD2, TD3
from chalicelib.engines.ocr.mrz.posteriors import row_posteriors
from chalicelib.engines.ocr.mrz.strips import extend_rows, read_strips
from tests.engines.ocr.mrz.zones import LETTER_WIDTH, PASSPORT, page_of

PIXELS = np.full((800, 1000, 3), 255, np.uint8)


def steps(text, uncertain=()):
    """Return the steps of a network for a text, with blanks between characters.

    `uncertain` lists places with another character and its probability.
    """
    found = np.full((2 * len(text) + 1, 1 + len(LETTERS)), 1e-6, np.float32)
    found[0::2, 0] = 1.0
    for place, letter in enumerate(text):
        found[2 * place + 1, 1 + LETTERS.index(letter)] = 1.0
    for place, letter, probability in uncertain:
        column = 1 + LETTERS.index(text[place])
        found[2 * place + 1, column] = 1 - probability
        found[2 * place + 1, 1 + LETTERS.index(letter)] = probability
    return found


class ScriptedEngine:
    """Returns predefined scores."""

    def __init__(self, *rows):
        self.rows = rows
        self.quads = ()

    def score_crops(self, pixels, quads, letters, check):
        """Return the rows, and record the places."""
        self.quads = quads
        return self.rows


def test_every_place_has_its_character():
    """A clearly read row has one likely character in each position."""
    scores, excess = row_posteriors(steps(PASSPORT[1]), [LETTERS] * 44)
    best = [max(place, key=place.__getitem__) for place in scores]
    assert "".join(best) == PASSPORT[1]
    assert excess < 0.1


def test_uncertainty_is_divided():
    """The probability of an uncertain character comes from the network's steps."""
    scores, _ = row_posteriors(steps("AB7", [(2, "9", 0.3)]), [LETTERS] * 3)
    assert np.exp(scores[2]["9"]) == pytest.approx(0.3, abs=0.01)
    assert np.exp(scores[2]["7"]) == pytest.approx(0.7, abs=0.01)


def test_digits_in_names_are_letters():
    """Where only letters are allowed, a digit becomes the letter that looks like it."""
    scores, _ = row_posteriors(steps("Z0E"), [CAPITALS] * 3)
    assert max(scores[1], key=scores[1].__getitem__) == "O"


def test_another_length_is_unlikely():
    """A row of 36 characters is not read as one of 44, and vice versa."""
    _, longer = row_posteriors(steps("7" * 36), [LETTERS] * 44)
    _, shorter = row_posteriors(steps("AB" * 22), [LETTERS] * 36)
    assert longer > 0.7
    assert shorter > 0.7
    assert row_posteriors(steps("AB"), [LETTERS] * 44) is None


def test_zone_is_read_again_where_check_digits_fail():
    """A misread number is corrected using check digits and alternative readings."""
    misread = PASSPORT[1].replace("L898902C3", "L890902C3")
    engine = ScriptedEngine(steps(PASSPORT[0]), steps(misread, [(3, "8", 0.2)]))
    page = replace(page_of((PASSPORT[0], misread)), pixels=PIXELS)
    assert find_zone(page) is None
    assert find_zone(page, engine).decision.rows == PASSPORT


def test_lost_characters_are_read_again():
    """Rows that are too short are read again with the length of the longest."""
    page = replace(page_of((PASSPORT[0][:37], PASSPORT[1])), pixels=PIXELS)
    engine = ScriptedEngine(*map(steps, PASSPORT))
    zone = find_zone(page, engine)
    assert zone.decision.rows == PASSPORT
    (_, first, *_), (_, second, *_) = engine.quads
    assert first[0] == pytest.approx(second[0])
    assert first[0] > 50 + 44 * LETTER_WIDTH


def test_a_row_that_was_not_read_is_read_again():
    """A text place that was not read is tried as a row of the zone."""
    page = page_of(PASSPORT)
    upper, lower = page.lines
    page = replace(page, lines=(lower,), unread=(upper.box,), pixels=PIXELS)
    assert find_zone(page, ScriptedEngine(*map(steps, PASSPORT))).decision.rows == PASSPORT


def test_rows_of_another_format_are_refused():
    """Two rows of 44 characters are not a 36-character zone, even with valid check digits."""
    engine = ScriptedEngine(*map(steps, PASSPORT))
    quads = extend_rows([line.corners for line in page_of(PASSPORT).lines])
    assert read_strips(TD2, quads, PIXELS, engine, never_cancel) is None
    assert read_strips(TD3, quads, PIXELS, engine, never_cancel) is not None


def test_work_on_nonsense_is_bounded():
    """On a page full of fillers only a few places are read again."""

    class Counting(ScriptedEngine):
        calls = 0

        def score_crops(self, pixels, quads, letters, check):
            """Count and return nonsense."""
            self.calls += 1
            return tuple(steps("<" * 44) for _ in quads)

    engine = Counting()
    page = replace(page_of(["<" * 44] * 500), pixels=PIXELS)
    assert find_zone(page, engine) is None
    assert 0 < engine.calls <= 4


def test_lines_without_letters_are_no_zone():
    """Empty lines, and points instead of boxes, are skipped."""
    page = page_of(PASSPORT)
    point = replace(page.lines[0].box, max_x=page.lines[0].box.min_x)
    empty = [TextLine("", 0.0, line.box) for line in page.lines]
    flat = [TextLine("<<", 0.5, point)] * 3
    assert find_zone(replace(page, lines=(*empty, *flat), pixels=PIXELS), ScriptedEngine()) is None
