"""CTC decoding: from steps to text."""

import numpy as np
import pytest

from chalicelib.engines.ocr.ppocr.ctc import NOTHING, decode

ALPHABET = ["", "a", "B", "5", "×", " "]


def steps(indexes, certain=0.9):
    """Return the probabilities of steps."""
    table = np.full((len(indexes), len(ALPHABET)), (1 - certain) / 5, np.float32)
    table[np.arange(len(indexes)), indexes] = certain
    return table


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        ([1, 1, 0, 1, 2], "aaB"),
        ([0, 0, 0], ""),
        ([5, 1, 5, 0, 5, 2, 5], "a B"),
        ([5, 0, 5], ""),
        ([3, 0, 4, 0, 3], "5×5"),
        ([1, 0, 4], "ax"),
        ([4, 0, 2], "XB"),
        ([3, 5, 4, 5, 3], "5 × 5"),
    ],
)
def test_steps_become_text(indexes, text):
    """Repetitions count once, blanks separate, spaces are merged, and a cross in a word is an x."""
    assert decode(steps(indexes), ALPHABET, 1.0).text == text


def test_places_are_the_middles_of_the_steps():
    """A character's position is the centre of its steps, as a fraction of the unpadded crop."""
    reading = decode(steps([0, 1, 1, 0, 2, 0, 0, 0, 0, 0]), ALPHABET, 0.5)

    assert reading.places == pytest.approx((0.4, 0.9))


def test_the_probability_is_the_mean_of_the_characters():
    """Probability is the mean over characters, without blanks and dropped spaces."""
    table = steps([1, 0, 2, 5])
    table[0, 1], table[2, 2], table[3, 5] = 0.8, 0.6, 0.4

    assert decode(table, ALPHABET, 1.0).probability == pytest.approx(0.7)


def test_no_text_has_no_probability():
    """A crop of blanks has no text and no probability."""
    assert decode(steps([0, 0]), ALPHABET, 1.0) == NOTHING


@pytest.mark.parametrize(
    ("read", "text"), [("9 Ib", "9 lb"), ("9Ibs", "9lbs"), ("9 Ibex", "9 Ibex")]
)
def test_the_unit_of_a_weight_is_in_small_letters(read, text):
    """A capital I in the place of the small l of "lb", which looks the same, is replaced."""
    letters = ["", *sorted(set(read))]
    table = np.full((2 * len(read), len(letters)), 0.01, dtype=np.float32)
    for place, letter in enumerate(read):
        table[2 * place, letters.index(letter)] = table[2 * place + 1, 0] = 0.9

    assert decode(table, letters, 1.0).text == text
