"""Parts of a text, and how what they change is shared among them."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from chalicelib.domain.models.explanation import (
    MAX_VARIANTS,
    TextSpan,
    part_shares,
    without,
    word_spans,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Where's my well-made parcel, Ms. O’Neil?", "Where's my well-made parcel Ms O’Neil"),
        ("  42 €  caf\u00e9 ", "42 caf\u00e9"),
        ("私のid は 7", "私 の id は 7"),
        ("\U0001f600 !", "\U0001f600|!"),
    ],
)
def test_words_of_a_text(text: str, words: str) -> None:
    """Words keep what joins them, signs of scripts without spaces stand alone; none: one part."""
    expected = [text] if "|" in words else words.split()

    assert [text[span.start : span.end] for span in word_spans(text)] == expected


def test_long_text_has_few_parts() -> None:
    """Neighbouring words of a long text are one part, in order and with none left out."""
    spans = word_spans(" ".join(f"w{place}" for place in range(20_000 // 3)))

    assert len(spans) <= MAX_VARIANTS
    assert spans[0].start == 0
    assert all(later.start == earlier.end + 1 for earlier, later in pairwise(spans))


def test_text_without_a_part() -> None:
    """Spaces around a removed part are not doubled; removing all leaves nothing."""
    assert without("is it hot?", TextSpan(3, 5)) == "is hot?"
    assert without("hot", TextSpan(0, 3)) == ""


def test_shares_of_the_change() -> None:
    """A part that doubles the odds and one that halves them share equally, with their signs."""
    half, third, two_thirds = 0.5, 1 / 3, 2 / 3

    assert part_shares(half, [third, two_thirds]) == [0.5, -0.5]
    assert part_shares(half, [half, half]) == [0, 0]
    assert math.fsum(map(abs, part_shares(1.0, [0.0, 1.0, 0.5]))) == pytest.approx(1)
