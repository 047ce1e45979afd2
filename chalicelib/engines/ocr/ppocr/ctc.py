"""Converts the recognition network's output to text (connectionist temporal classification)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles

_BLANK = 0
_SPACE = " "
_TIMES = "×"
# A capital I in the place of the small l of "lb", the unit of a weight: both look the same.
_POUNDS = re.compile(r"(?<=\d)( ?)I(?=bs?\b)")


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """Text that was recognised in one crop, with its probability."""

    text: str
    """Words separated by single spaces; empty if nothing was recognised."""
    probability: float
    """Mean probability of the characters; 0 for an empty text."""
    places: tuple[float, ...]
    """Middle of each character: 0 at the left edge of the crop, 1 at the right edge."""


# A crop without text.
NOTHING = RecognisedText("", 0.0, ())


def decode(probabilities: Singles, alphabet: Sequence[str], share: float) -> RecognisedText:
    """Convert the network's output for one crop to text.

    Repetitions of a character without a blank between them count once.

    Args:
        probabilities: probability of each character at each step from left to right, float32,
            shape (steps, characters).
        alphabet: the characters; the first is the blank.
        share: fraction of the steps that the crop covers; the rest is padding.

    Returns:
        The text, without outer and repeated spaces.
    """
    best = probabilities.argmax(axis=1)
    firsts = np.flatnonzero(np.r_[True, best[1:] != best[:-1]])
    lasts = np.r_[firsts[1:], len(best)] - 1
    kept = best[firsts] != _BLANK
    firsts, lasts = firsts[kept], lasts[kept]
    middles = (firsts + lasts + 1) / (2 * len(best) * share)
    certain = probabilities[firsts, best[firsts]]
    characters = _without_false_signs([alphabet[index] for index in best[firsts]])
    return _without_extra_spaces(characters, certain.tolist(), middles.tolist())


def _without_false_signs(characters: list[str]) -> list[str]:
    """Replace multiplication signs next to letters by the letter x."""
    if _TIMES not in characters:
        return characters
    around = ["", *characters, ""]
    return [
        _letter_x(left + right) if own == _TIMES else own
        for left, own, right in zip(around, around[1:], around[2:], strict=False)
    ]


def _letter_x(neighbours: str) -> str:
    """Return x or X for a multiplication sign next to letters, otherwise the sign."""
    if not any(neighbour.isalpha() for neighbour in neighbours):
        return _TIMES
    return "x" if any(neighbour.islower() for neighbour in neighbours) else "X"


def _without_extra_spaces(
    characters: list[str], certain: list[float], middles: list[float]
) -> RecognisedText:
    """Remove outer and repeated spaces, and correct the unit lb if it was read with a capital I."""
    kept: list[int] = []
    for index, character in enumerate(characters):
        if character != _SPACE or (kept and characters[kept[-1]] != _SPACE):
            kept.append(index)
    if kept and characters[kept[-1]] == _SPACE:
        kept.pop()
    if not kept:
        return NOTHING
    return RecognisedText(
        _POUNDS.sub(r"\1l", "".join(characters[index] for index in kept)),
        min(1.0, sum(certain[index] for index in kept) / len(kept)),
        tuple(min(1.0, middles[index]) for index in kept),
    )
