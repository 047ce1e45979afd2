"""A first row of unknown names is a header only if it cannot be an example."""

from __future__ import annotations

import random

import pytest

from chalicelib.formats.texts.columns.facts import count_columns, has_unnamed_header

WORDS = ("rain", "sun", "wind", "fog", "storm", "hail", "snow", "cloud")
Row = tuple[str, str]


def reports(count: int, seed: int = 1) -> list[Row]:
    """Return short texts of few words, with two repeating labels."""
    draw = random.Random(seed)
    texts = [(f"{a} and {b} today", "hot" if a < b else "cold") for a in WORDS for b in WORDS]
    return draw.sample(texts, count)


def is_header(first: Row, rows: list[Row]) -> bool:
    """Return whether a first row counts as a header."""
    return has_unnamed_header(*count_columns([first, *rows], 0, 1))


@pytest.mark.parametrize(
    "first",
    [
        ("rain and sun today", "mild"),
        ("Hail and Snow", "mild"),
        ("sleet with thunder", "mild"),
        ("sleet", "hot and cold"),
    ],
)
def test_row_like_those_below_is_an_example(first: Row) -> None:
    """A first row whose text is like those below is an example, even with a unique label."""
    assert not is_header(first, [*reports(30), *[("fog at noon", "very hot and very cold")] * 2])


@pytest.mark.parametrize("first", [("observed", "felt as"), ("col_1", "col_2"), ("q", "a")])
def test_short_names_are_a_header(first: Row) -> None:
    """Short unknown names above longer texts and repeating labels are a header."""
    assert is_header(first, reports(30))
    assert not is_header(first, reports(9))
