"""Ranks the columns of a table as text columns and as label columns, by content and name.

Texts are long, consist of words, and differ from row to row. Labels are short and few, and each
label occurs several times. If the content of several columns is equally suitable, their names
decide, because a column of states or agents looks like a column of labels.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from chalicelib.domain.datasets.preview import ColumnRank, ColumnSummary, cut_samples
from chalicelib.formats.texts.columns.names import (
    LABEL_HINTS,
    LABEL_NAMES,
    OTHER_NAMES,
    TEXT_HINTS,
    TEXT_NAMES,
    fold_name,
)

# Rows that are read; more do not change the ranking.
MAX_ROWS = 1_000
SAMPLES = 3
_SAMPLE_CHARACTERS = 30
_LONGEST_NAME = 40
# A winner is clear if the next column scores at most this fraction of it.
_CLEAR = 0.75
_NAMED, _HOLDING = 2.0, 1.5  # factors of a column whose name is known, or has a known word
_OTHER = 0.4  # factor of a name that means neither, such as "status"
_MOST_LABEL_CHARACTERS = 60
_LABEL_WORDS = 2  # labels with more words on average are less likely
_MOST_LABELS = 200
_NEARLY_ALL = 0.9
_CONSTANT_ROWS = 20
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+")


@dataclass
class ColumnProfile:
    """Statistics of the cells of a column, without the first row."""

    name: str
    """Cell of the first row, trimmed."""
    rows: int = 0
    """Number of cells that are not empty."""
    characters: int = 0
    words: int = 0
    """Number of words. Two characters of Chinese, Japanese or Korean count as one word."""
    codes: int = 0
    """Number of cells that are numbers, dates, identifiers or addresses."""
    values: Counter[str] = field(default_factory=Counter)
    """How often each value occurs."""

    def add(self, cell: str) -> None:
        """Count one cell."""
        value = cell.strip()
        if not value:
            return
        self.rows += 1
        self.characters += len(value)
        self.words += _count_words(value)
        self.codes += is_code(value)
        self.values[value] += 1

    @property
    def samples(self) -> list[str]:
        """Return the most frequent values."""
        return [value for value, _ in self.values.most_common(SAMPLES)]

    def score_text(self, rows: int) -> float:
        """Return how much the column looks like a text column, at least 0."""
        if not self.rows:
            return 0.0
        content = math.log1p(self.words / self.rows) * len(self.values) / self.rows
        filled = math.sqrt(self.rows / rows)
        return (
            content
            * filled
            * (1 - self.codes / self.rows)
            * self._factor(TEXT_NAMES, LABEL_NAMES, TEXT_HINTS)
        )

    def score_label(self, rows: int) -> float:
        """Return a score of 0 or more: how much the column looks like a label column."""
        distinct = len(self.values)
        if not 2 <= distinct <= min(_MOST_LABELS, self.rows / 2):
            return 0.0
        if self.characters > _MOST_LABEL_CHARACTERS * self.rows:
            return 0.0
        most = self.values.most_common(1)[0][1] / self.rows
        # A column with one value nearly everywhere, or with only two values, is rarely the label.
        # More than four values do not raise the score, because columns of persons have many, too.
        content = min(1.0, 2 * (1 - most)) * min(1.0, math.log2(distinct) / 2)
        content /= max(1.0, self.words / self.rows - _LABEL_WORDS)
        filled = self.rows / rows * (1 - self.codes / self.rows)
        return content * filled * self._factor(LABEL_NAMES, TEXT_NAMES, LABEL_HINTS)

    def _factor(
        self, names: frozenset[str], opposite_names: frozenset[str], hints: frozenset[str]
    ) -> float:
        """Return the factor by which the column's name changes the text score or label score."""
        name = fold_name(self.name)
        words = name.split()
        if name in names:
            return _NAMED
        fitting = names | hints
        # The last word of a name counts most: "contact reason" is not a contact.
        if name in opposite_names or not (OTHER_NAMES.isdisjoint(words) or words[-1] in fitting):
            return _OTHER
        return 1.0 if fitting.isdisjoint(words) else _HOLDING

    @property
    def has_codes(self) -> bool:
        """Return whether most cells are numbers, dates, identifiers or addresses."""
        return 2 * self.codes > self.rows

    @property
    def is_constant(self) -> bool:
        """Return whether the column has very few different values for its number of rows."""
        return len(self.values) * _CONSTANT_ROWS <= self.rows

    def are_codes(self, rows: int) -> bool:
        """Return whether the column has codes in nearly all rows. `rows` is the number of rows."""
        return self.codes >= _NEARLY_ALL * rows

    def holds_code(self, cell: str) -> bool:
        """Return whether `cell` is a code that fits the cells of this column.

        A code with letters, such as `Q1`, fits only if most cells of the column have letters.
        """
        if not is_code(cell) or not any(map(str.isalpha, cell)):
            return is_code(cell)
        plain = sum(n for value, n in self.values.items() if not any(map(str.isalpha, value)))
        return 2 * plain < self.rows


def profile_columns(rows: Iterable[Sequence[str]], names: Sequence[str]) -> list[ColumnProfile]:
    """Return statistics of all columns, without the first row and the rows equal to it.

    Args:
        rows: rows of the table, beginning with the first row.
        names: cells of the first row.
    """
    profiles = [ColumnProfile(name.strip()) for name in names]
    first: Sequence[str] | None = None
    for cells in islice(rows, MAX_ROWS + 1):
        first = cells if first is None else first
        if cells != first:
            for profile, cell in zip(profiles, cells, strict=False):
                profile.add(cell)
    return profiles


def find_likely(scores: Sequence[float], used_at: int | None = None) -> list[int]:
    """Return the positions of the highest and similar scores. Ignore the position `used_at`."""
    others = [at for at, score in enumerate(scores) if at != used_at and score > 0]
    best = max((scores[at] for at in others), default=0.0)
    return [at for at in others if scores[at] > _CLEAR * best]


def looks_like_names(profiles: Sequence[ColumnProfile], text_at: int, *others_at: int) -> bool:
    """Return whether the first row contains the column names, judged by all columns.

    Column names are short and do not occur in the rows below. A few exceptions are allowed, because
    issue trackers repeat column names, and surveys number their columns. In the columns `text_at`
    and `others_at`, no exception is allowed.
    """
    named = [profile for profile in profiles if profile.name]
    coded = [profile for profile in named if profile.has_codes]
    text = profiles[text_at]
    return (
        len(named) >= len(profiles) / 2
        and sum(profile.name in profile.values for profile in named) * 10 <= len(named)
        and sum(profile.holds_code(profile.name) for profile in coded) * 2 <= len(coded)
        and all(
            profile.name and profile.name not in profile.values
            for profile in (text, *(profiles[at] for at in others_at))
        )
        and len(text.name) * text.rows <= text.characters
    )


def is_group_row(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the row `names` names groups of columns, and the next row names columns.

    The cells of group names are merged, so some are empty or repeat. Column names are short, are
    all different, and do not occur in later rows.
    """
    columns = below[0] if len(below) > 1 else ()
    groups = [name for name in names if name]
    # Of two cells, one alone is a title, or a text without a label.
    if len(columns) < 3 and len(groups) < 2:
        return False
    is_merged = len(set(groups)) < len(columns)
    are_names = len(set(columns)) == len(columns) and not any(
        not name or len(name) > _LONGEST_NAME or is_code(name) for name in columns
    )
    return (
        is_merged
        and are_names
        and not any(
            name in cells[at : at + 1] for cells in below[1:] for at, name in enumerate(columns)
        )
    )


def describe_columns(profiles: Sequence[ColumnProfile]) -> str:
    """Return sentences, one per column: position, name, number of values, samples and ranks."""
    lines = []
    for column in summarize_columns(profiles):
        samples = ", ".join(repr(value[:_SAMPLE_CHARACTERS]) for value in column.samples)
        lines.append(
            f"{column.position} '{(column.name or '')[:40]}': {column.distinct:,} values, such as "
            f"{samples}; rank {column.rank.text} as text, {column.rank.label} as label."
        )
    return " ".join(lines)


def summarize_columns(profiles: Sequence[ColumnProfile]) -> tuple[ColumnSummary, ...]:
    """Summarize each column, with its rank as text column and its rank as label column."""
    rows = max((profile.rows for profile in profiles), default=0)
    texts = _ranks([profile.score_text(rows) for profile in profiles])
    labels = _ranks([profile.score_label(rows) for profile in profiles])
    return tuple(
        ColumnSummary(
            at,
            profile.name or None,
            cut_samples(profile.samples),
            len(profile.values),
            ColumnRank(text, label),
        )
        for at, (profile, text, label) in enumerate(zip(profiles, texts, labels, strict=True), 1)
    )


def _ranks(scores: Sequence[float]) -> list[int]:
    """Return the rank of each score. The highest score has rank 1."""
    ranked = sorted(scores, reverse=True)
    # Looked up by score, so that thousands of columns do not take quadratic time.
    first = {score: at for at, score in reversed(list(enumerate(ranked, start=1)))}
    return [first[score] for score in scores]


def is_code(value: str) -> bool:
    """Return whether a cell is a number, a date, an identifier or an address."""
    if _ADDRESS.fullmatch(value):
        return True
    letters = sum(map(str.isalpha, value)) + len(_WIDE.findall(value))
    digits = sum(map(str.isdigit, value))
    return digits > 0 and (letters == 0 or _count_words(value) < 2 or digits >= letters / 2)


def are_numbered(*cells: str) -> bool:
    """Return whether cells are identifiers with the same beginning, such as QID1 and QID2."""
    starts = {re.split(r"\d", cell, maxsplit=1)[0] for cell in cells}
    return len(starts) == 1 and any(map(str.isalpha, starts.pop())) and all(map(is_code, cells))


def _count_words(value: str) -> int:
    """Return the number of words. Two characters of Chinese, Japanese or Korean count as a word."""
    return len(value.split()) + len(_WIDE.findall(value)) // 2
