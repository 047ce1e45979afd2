"""Compares the text that was read with the true text, by words and by characters in order.

Word F1 ignores case and the order of words, which are separated by white space. For the character
error rate (CER), boxes are grouped into rows and joined from left to right; then edits are counted
without spaces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import fmean, median

from rapidfuzz.distance import Levenshtein

from chalicelib.domain.documents.page import Rect

Piece = tuple[str, Rect]
"""A text and its place in pixels."""
ROW_SHARE = 0.5
"""Largest distance between the middles of a box and its row, in median heights of all boxes."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of true, found and correct items of one document, or sums over several documents."""

    hits: int = 0
    """Number of true items that were found."""
    found: int = 0
    """Number of items found."""
    truth: int = 0
    """Number of true items."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.hits + other.hits, self.found + other.found, self.truth + other.truth)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall; 1 if there was nothing to find."""
        return 2 * self.hits / (self.found + self.truth) if self.found + self.truth else 1.0

    @property
    def recall(self) -> float:
        """Return the fraction of true items that were found."""
        return self.hits / self.truth if self.truth else 1.0

    @property
    def precision(self) -> float:
        """Return the fraction of found items that are correct."""
        return self.hits / self.found if self.found else 1.0


@dataclass(frozen=True, slots=True)
class Edits:
    """Numbers of edits and characters of one document, or sums over several documents."""

    edits: int = 0
    """Characters inserted, deleted or replaced."""
    truth: int = 0
    """Number of characters of the true text."""

    def __add__(self, other: Edits) -> Edits:
        return Edits(self.edits + other.edits, self.truth + other.truth)

    @property
    def rate(self) -> float:
        """Return the number of edits divided by the number of characters of the true text."""
        return self.edits / self.truth if self.truth else float(self.edits > 0)


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies."""
    return reduce(Tally.__add__, tallies, Tally())


def total_edits(edits: Iterable[Edits]) -> Edits:
    """Return the sum of edits."""
    return reduce(Edits.__add__, edits, Edits())


def count_words(truth: Iterable[str], found: Iterable[str]) -> Tally:
    """Count the true words, the found words and the correct words of two lists of texts."""
    expected, given = _words(truth), _words(found)
    return Tally((expected & given).total(), given.total(), expected.total())


def count_edits(truth: Sequence[Piece], found: Sequence[Piece]) -> Edits:
    """Count the edits between two lists of pieces after joining each list in reading order."""
    return compare_texts(reading_text(truth), reading_text(found))


def compare_texts(truth: str, found: str) -> Edits:
    """Count the edits between two texts, ignoring case and white space."""
    expected, given = _bare(truth), _bare(found)
    return Edits(Levenshtein.distance(expected, given), len(expected))


def reading_text(pieces: Sequence[Piece]) -> str:
    """Join pieces to a text with one line per row. Each row is read from left to right."""
    rows = group_rows(pieces)
    return "\n".join(" ".join(text for text, _ in row) for row in rows)


def group_rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Group pieces into rows from top to bottom; sort the pieces of a row from left to right."""
    if not pieces:
        return []
    reach = ROW_SHARE * median(box.height for _, box in pieces)
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda item: item[1].center[1]):
        if rows and piece[1].center[1] - _middle(rows[-1]) < reach:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda item: item[1].min_x) for row in rows]


def _middle(row: Sequence[Piece]) -> float:
    return fmean(box.center[1] for _, box in row)


def _words(texts: Iterable[str]) -> Counter[str]:
    """Count how often each word occurs in texts. Words are converted to upper case."""
    return Counter(word for text in texts for word in text.upper().split())


def _bare(text: str) -> str:
    return "".join(text.upper().split())
