"""Finds the column whose values the texts predict best.

The category of a text shows in its words, in any language. Its agent, city or state does not.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

# Rows that are compared, and characters of each text.
MAX_COMPARED = 400
_MAX_CHARACTERS = 300
_FEWEST_ROWS = 20
# Least gain over always guessing the most frequent value, as a fraction of the possible gain; and
# the largest gain of any other column, as a fraction of the winner's.
_LEAST_GAIN, _CLEAR = 0.12, 0.5
_SMOOTHING = 0.1
_PART = 3
_Row = tuple[set[str], str]
_NO_LETTERS = re.compile(r"[\W\d_]+")


def find_predicted(texts: Sequence[str], columns: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the column that texts predict clearly better than all others, or None.

    Args:
        texts: Texts of the table's first rows.
        columns: For each candidate its values in the same rows.
    """
    parts = [_parts_of(text) for text in texts]
    gains = [_gain(parts, values) for values in columns]
    best = max(gains, default=0.0)
    winners = [at for at, gain in enumerate(gains) if gain >= max(best * _CLEAR, _LEAST_GAIN)]
    return winners[0] if len(winners) == 1 and len(texts) >= _FEWEST_ROWS else None


def _parts_of(text: str) -> set[str]:
    """Return the groups of three letters in a text, which serve scripts without spaces, too."""
    letters = _NO_LETTERS.sub(" ", text[:_MAX_CHARACTERS].casefold())
    return {letters[at : at + _PART] for at in range(len(letters) - _PART + 1)}


def _gain(parts: Sequence[set[str]], values: Sequence[str]) -> float:
    """Return how much better each half's values are predicted by the other half than by chance."""
    rows = [row for row in zip(parts, values, strict=True) if row[1]]
    if not rows:
        return 0.0
    right = _count_right(rows[::2], rows[1::2]) + _count_right(rows[1::2], rows[::2])
    by_chance = Counter(value for _, value in rows).most_common(1)[0][1]
    return (right - by_chance) / max(1, len(rows) - by_chance)


def _count_right(known: Sequence[_Row], rows: Sequence[_Row]) -> int:
    """Count the rows whose value naive Bayes predicts from the known rows."""
    sizes = Counter[str]()
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for parts, value in known:
        sizes[value] += 1
        for part in parts:
            seen[part][value] += 1
    right = 0
    for parts, value in rows:
        scores = {one: math.log(size) for one, size in sizes.items()}
        for part in parts & seen.keys():
            rate = sum(seen[part].values()) / len(known)
            for one in sizes:
                share = (seen[part][one] + _SMOOTHING) / (sizes[one] + _SMOOTHING / rate)
                scores[one] += math.log(share)
        right += max(scores, key=scores.__getitem__, default="") == value
    return right
