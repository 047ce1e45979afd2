"""Normalises and compares the texts of keys and headers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz import fuzz

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.kinds.span import without_accents

_TOKEN = re.compile(r"[^\W_]+|[#%]")
# Positions at which an engine may have missed a space, for example between key and value.
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z]{3})(?=[A-Z][a-z])|(?<=[A-Za-z]{3})(?=\d)")
_CONFUSED = str.maketrans({"0": "o", "1": "l", "i": "l"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text."""

    folded: str
    """The word in lower case, without accents; 0 is written as o, and both 1 and i as l."""
    start: int
    """Index of the first character in the text."""
    end: int
    """Index after the last character."""


def tokens(text: str) -> list[Token]:
    """Split a text into runs of letters and digits, and the tokens # and %; drop the rest."""
    found = []
    for each in _TOKEN.finditer(text):
        start = each.start()
        for word in _JOINT.split(each.group()):
            plain = word.casefold()
            if not plain.isascii():
                # Engines miss or invent accents on small letters.
                plain = without_accents(plain)
            found.append(Token(plain.translate(_CONFUSED), start, start + len(word)))
            start += len(word)
    return found


def fold(text: str) -> str:
    """Return the normalised words of a text, joined without separators."""
    return "".join(token.folded for token in tokens(text))


def is_short(text: str) -> bool:
    """Return whether a key is so short that no misread letter is allowed."""
    return len(fold(text)) <= settings.EXACT_KEY_CHARACTERS


def numbers(text: str) -> frozenset[str]:
    """Return the normalised words with digits, which distinguish "Line 12" from "Line 13"."""
    return frozenset(
        token.folded
        for token in tokens(text)
        if any(character.isdecimal() for character in text[token.start : token.end])
    )


def least_ratio(folded: str, legibility: float = 1.0) -> float:
    """Return the lowest similarity, 0 to 100, at which a text counts as a given key.

    Keys of up to EXACT_KEY_CHARACTERS letters must be equal, because one wrong letter makes another
    word. Longer keys may have about one wrong letter, and very long keys 5 % of wrong letters. For
    a badly read text, the limit is lowered by the percentage of letters that are probably misread;
    the first EXACT_KEY_CHARACTERS letters of the key count as correct.

    `legibility` is the probability that a letter of the text was read correctly, 0 to 1.
    """
    if len(folded) <= settings.EXACT_KEY_CHARACTERS:
        return 100.0
    one_error = 100.0 - settings.ONE_ERROR_RATIO / len(folded)
    least = min(settings.LONG_RATIO, max(settings.LEAST_RATIO, one_error))
    inexact = 1.0 - settings.EXACT_KEY_CHARACTERS / len(folded)
    return least - 100.0 * inexact * (1.0 - legibility)


def similarity(first: str, second: str) -> float:
    """Return how similar a normalised key and text are, 0 to 1; 0 if below `least_ratio`."""
    if not first or not second:
        return 0.0
    return fuzz.ratio(first, second, score_cutoff=least_ratio(first)) / 100.0
