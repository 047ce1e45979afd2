"""Finds the column whose values can be predicted best from the texts.

A text helps to predict the category of its row, but not the agent, the city or the state.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

# Limits of the work: rows, characters of each text, columns, and values of a column.
MAX_COMPARED = 200
_MAX_CHARACTERS, _MAX_COLUMNS, _MAX_VALUES = 150, 6, 30
_FEWEST_ROWS = 20
# Least gain over always guessing the most frequent value, as a fraction of the possible gain; and
# the largest gain of any other column, as a fraction of the winner's.
_LEAST_GAIN, _CLEAR = 0.12, 0.5
# Least gain in standard deviations of guessing; 3 is reached by 1 in 300 random columns.
_SURE = 3.5
_SMOOTHING = 0.1
_PART = 3
_Row = tuple[set[str], str]
_NO_LETTERS = re.compile(r"[\W\d_]+")


def find_predicted(texts: Sequence[str], columns: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the column that can be predicted clearly best from the texts, or None.

    Args:
        texts: Texts of the table's first rows.
        columns: Values of each candidate column in the same rows as the texts.
    """
    if len(texts) < _FEWEST_ROWS or len(columns) > _MAX_COLUMNS:
        return None
    parts = [_parts_of(text) for text in texts]
    gains = [_gain(parts, values)[0] for values in columns]
    least = max(max(gains, default=0.0) * _CLEAR, _LEAST_GAIN)
    winners = [at for at, gain in enumerate(gains) if gain >= least]
    if len(winners) != 1:
        return None
    # A text that quotes its value, such as the person it greets, does not prove a category.
    unquoted = [
        "" if len(value) >= _PART and value in text else value
        for text, value in zip(texts, columns[winners[0]], strict=True)
    ]
    return winners[0] if _gain(parts, unquoted)[1] > _SURE else None


def _parts_of(text: str) -> set[str]:
    """Return the character trigrams of a text. They also work for scripts without spaces."""
    letters = _NO_LETTERS.sub(" ", text[:_MAX_CHARACTERS].casefold())
    return {letters[at : at + _PART] for at in range(len(letters) - _PART + 1)}


def _gain(parts: Sequence[set[str]], values: Sequence[str]) -> tuple[float, float]:
    """Return the gain of a text classifier over always guessing the most frequent value.

    A classifier fitted on one half of the rows predicts the other half, and vice versa. The gain is
    the number of correct predictions, minus the number of rows with the most frequent value.

    Returns:
        The gain as a fraction of the largest possible gain, and the gain in standard deviations of
        random guessing. The second number shows whether the gain is due to chance.
    """
    frequent = dict(Counter(filter(None, values)).most_common(_MAX_VALUES))
    rows = [row for row in zip(parts, values, strict=True) if row[1] in frequent]
    if len(frequent) < 2:
        return 0.0, 0.0
    right = _count_right(rows[::2], rows[1::2]) + _count_right(rows[1::2], rows[::2])
    by_chance = max(frequent.values())
    missed = 1 - by_chance / len(rows)
    gained = right - by_chance
    return gained / (missed * len(rows)), gained / math.sqrt(by_chance * missed)


def _count_right(examples: Sequence[_Row], rows: Sequence[_Row]) -> int:
    """Fit naive Bayes on `examples`; return how many of `rows` it predicts correctly."""
    sizes = Counter[str]()
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for parts, value in examples:
        sizes[value] += 1
        for part in parts:
            seen[part][value] += 1
    right = 0
    for parts, value in rows:
        scores = {one: math.log(size) for one, size in sizes.items()}
        for part in parts & seen.keys():
            rate = sum(seen[part].values()) / len(examples)
            for one in sizes:
                share = (seen[part][one] + _SMOOTHING) / (sizes[one] + _SMOOTHING / rate)
                scores[one] += math.log(share)
        right += max(scores, key=scores.__getitem__, default="") == value
    return right
