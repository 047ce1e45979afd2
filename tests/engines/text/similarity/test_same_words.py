"""Texts that differ only in capitals, spaces and punctuation."""

from __future__ import annotations

import time

import pytest

from chalicelib.engines.text.similarity.same_words import same_words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Where is my parcel?", " where is  my parcel"),
        ("Cancel it, please!", "cancel it please"),
        ("caf\u00e9", "cafe\u0301"),
        ("GRÖSSE", "größe"),
        ("返品したい。", "返品したい"),
        ("ｆｕｌｌ", "full"),
        ("«bonjour»", "bonjour"),
        ("¿dónde está?", "Dónde está"),
        ("zero\u200b width", "zero width"),
    ],
)
def test_marks_and_capitals_do_not_count(left: str, right: str) -> None:
    """Punctuation and capitals are ignored."""
    assert same_words(left) == same_words(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ok :)", "ok :("),
        ("ok 😀", "ok 😡"),
        ("+1", "-1"),
        ("3.5", "35"),
        ("c", "c++"),
        ("!!!", "???"),
        ("कि", "की"),
        ("resume", "résumé"),
        ("turn it on", "turn iton"),
    ],
)
def test_what_means_something_counts(left: str, right: str) -> None:
    """Smileys, signs, accents, vowel signs and word boundaries make texts different."""
    assert same_words(left) != same_words(right)


@pytest.mark.parametrize("piece", ["a. ", "漢、", "\u0301", "ﷺ", "\ud800", "😀"])
def test_long_texts_cost_little(piece: str) -> None:
    """Fifty texts of maximum length take well below a second."""
    text = piece * (20_000 // len(piece))
    started = time.process_time()

    for number in range(50):
        assert same_words(f"{number} {text}").startswith(str(number))

    assert time.process_time() - started < 2.0
