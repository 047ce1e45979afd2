"""How long texts are split into windows."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from chalicelib.domain.datasets.windows import (
    READ_WORDS,
    find_windows,
    is_cut,
    read_end,
    split_texts,
)

SENTENCE = "The parcel that I ordered on Monday has not arrived at my office yet. "
LAST = "With kind regards from all of the team in Bern"


def test_a_short_text_is_one_window_unchanged() -> None:
    """Texts of up to about 90 words are read as they are, with the space around them."""
    for text in ("", " ", " when will my card arrive? ", SENTENCE * 6):
        assert split_texts([text]).windows == [text]


def test_sentences_of_a_long_text_become_windows() -> None:
    """Sentences and lines end windows; short sentences are joined to the next one."""
    text = SENTENCE * 10 + "Hi. Ok. Please cancel it and send the money back\n" + LAST

    windows = split_texts([text]).windows

    assert windows[:10] == [SENTENCE.strip()] * 10
    assert windows[10] == "Hi. Ok. Please cancel it and send the money back"
    assert windows[-1].endswith("With kind regards from all of the team in Bern")


@pytest.mark.parametrize(
    "text",
    ["word " * 4_000, "x" * 20_000, "漢字" * 10_000, "a " * 10_000, "Hi. " * 5_000, "é\n" * 9_000],
)
def test_windows_of_odd_texts_are_short_and_few(text: str) -> None:
    """No window is longer than an encoder reads, no text has more than some hundred windows."""
    start = time.process_time()
    windows = find_windows(text)

    assert time.process_time() - start < 2.0
    assert all(0 < window.end - window.start <= 250 for window in windows)
    assert len(windows) <= 320
    assert windows[-1].end == read_end(text)
    for before, after in pairwise(windows):
        assert before.end <= after.start


def test_every_word_up_to_the_limit_is_in_a_window() -> None:
    """The first 1,200 words are read, and a longer text counts as cut."""
    words = [f"w{number}" for number in range(READ_WORDS)]
    text, longer = " ".join(words), " ".join([*words, "more"])

    read = [text[window.start : window.end] for window in find_windows(text)]

    assert " ".join(read).split() == words
    assert (is_cut(text), is_cut(longer)) == (False, True)
    assert longer[: read_end(longer)] == text


def test_removing_a_word_changes_one_window() -> None:
    """An explanation removes words, and only the window of the word is encoded again."""
    text = SENTENCE * 20
    shorter = text.replace("Monday ", "", 1)

    assert set(split_texts([shorter]).windows) - set(split_texts([text]).windows) == {
        SENTENCE.strip().replace("Monday ", "")
    }
