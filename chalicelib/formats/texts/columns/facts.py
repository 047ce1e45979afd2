"""Computes statistics of the columns of a delimited text file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from chalicelib.domain.datasets.upload_warnings import split_labels
from chalicelib.formats.texts.columns.names import find_other_column, has_known_word

# Rows that are counted; more do not change the decision.
MAX_ROWS = 100_000
_MIN_ROWS_WITHOUT_NAMES = 10
_MIN_SWAPPED_ROWS = 3
_LONGEST_NAME = 40
_MOST_WORDS = 4
# Greatest length of a text column's name, as a fraction of the texts' mean length.
_LONGEST_SHARE = 2 / 3


@dataclass
class ColumnFacts:
    """Statistics of a column. The first row is not counted, because it may be a header."""

    first: str = ""
    """Cell of the first row, trimmed."""
    rows: int = 0
    """Number of rows that differ from the first row."""
    characters: int = 0
    """Number of characters of the column in the rows that differ from the first row."""
    repeats: int = 0
    """Number of later rows that are equal to the first row."""
    counts: Counter[int] = field(default_factory=Counter)
    """How often each value occurs, by hash of the value."""
    lists: Counter[int] = field(default_factory=Counter)
    """Counts of those values that look like a list of labels, by hash of the value."""
    parts: Counter[int] = field(default_factory=Counter)
    """For the lists of labels in `lists`: how often each label occurs, by hash of the label."""
    not_longer: int = 0
    """Number of cells that are not longer than the first row's cell."""
    own_words: set[str] = field(default_factory=set)
    """Words of the first row's cell that occur in no other cell of the column."""

    def begin(self, cell: str) -> None:
        """Store the cell of the first row."""
        self.first = cell.strip()
        self.own_words = set(self.first.casefold().split())

    def add(self, cell: str) -> None:
        """Count one cell below the first row."""
        value = cell.strip()
        self.rows += 1
        self.characters += len(value)
        self._count(value)
        self.not_longer += len(value) <= len(self.first)
        if self.own_words:
            self.own_words.difference_update(value.casefold().split())

    def _count(self, value: str, times: int = 1) -> None:
        """Count a value `times` times. If it is a list of labels, also count each of its labels."""
        self.counts[hash(value)] += times
        if "|" in value or ";" in value:
            parts = split_labels(value)
            if len(parts) > 1:
                self.lists[hash(value)] += times
                self.parts.update({hash(part): times for part in parts})

    def with_first(self) -> ColumnFacts:
        """Return a copy of the statistics that also counts the first row and rows equal to it."""
        facts = replace(
            self, counts=self.counts.copy(), lists=self.lists.copy(), parts=self.parts.copy()
        )
        facts.rows += 1 + self.repeats
        facts._count(self.first, 1 + self.repeats)
        return facts

    @property
    def are_names(self) -> bool:
        """Return whether the values repeat as labels do. Lists of labels are split into labels."""
        if self.all_repeat and self.distinct * 2 <= self.rows:
            return True
        names = self.counts - self.lists + self.parts
        return bool(self.lists) and 1 < len(names) <= names.total() / 2

    @property
    def mostly_repeat(self) -> bool:
        """Return whether the column has few different values, and most of them occur repeatedly."""
        once = sum(count == 1 for count in self.counts.values())
        return once * 2 < self.distinct > 1 and self.distinct * 2 <= self.rows

    @property
    def distinct(self) -> int:
        """Return the number of different values."""
        return len(self.counts)

    @property
    def first_is_unlike(self) -> bool:
        """Return whether the first row's cell is not empty and occurs in no other row."""
        return bool(self.first) and hash(self.first) not in self.counts

    @property
    def first_is_short(self) -> bool:
        """Return whether the first row's cell is shorter than nearly all other cells."""
        return self.not_longer * 20 <= self.rows

    @property
    def all_repeat(self) -> bool:
        """Return whether the column has several values, and each value occurs more than once."""
        return len(self.counts) > 1 and min(self.counts.values()) > 1

    @property
    def looks_like_a_name(self) -> bool:
        """Return whether the first row's cell looks like the name of a column."""
        return (
            0 < len(self.first) <= _LONGEST_NAME
            and len(self.first.split()) <= _MOST_WORDS
            and self.first[-1] not in ".!?…。！？"
            and not self.first[0].isdigit()
        )


def count_columns(rows: Iterable[Sequence[str]], text_at: int, label_at: int) -> list[ColumnFacts]:
    """Count the cells of the text column and the label column. Skip rows that lack one of them.

    Returns:
        The statistics of the text column and of the label column.
    """
    facts = [ColumnFacts(), ColumnFacts()]
    first: Sequence[str] | None = None
    for cells in rows:
        if len(cells) <= max(text_at, label_at):
            continue
        for fact, at in zip(facts, (text_at, label_at), strict=True):
            if first is None:
                fact.begin(cells[at])
            elif cells == first:
                fact.repeats += 1
            else:
                fact.add(cells[at])
        first = cells if first is None else first
    return facts


def has_unnamed_header(
    texts: ColumnFacts, labels: ColumnFacts, least_rows: int = _MIN_ROWS_WITHOUT_NAMES
) -> bool:
    """Return whether the first row seems to be a header, although its names are unknown.

    The conditions are strict, because an example that is mistaken for a header is lost. For
    example, each name must have a word that no other cell of its column has. The name of the text
    column must be much shorter than the average text.
    """
    return (
        texts.rows >= least_rows
        and not texts.repeats
        and (texts.looks_like_a_name or (texts.first.endswith("?") and texts.first_is_short))
        and labels.looks_like_a_name
        and all(fact.first_is_unlike and fact.own_words for fact in (texts, labels))
        and len(texts.first) * texts.rows <= _LONGEST_SHARE * texts.characters
        and (labels.all_repeat or texts.first_is_short)
        and labels.distinct * 2 <= labels.rows
        and texts.distinct * 5 >= texts.rows * 4
    )


def has_known_header(names: Sequence[str], texts: ColumnFacts, labels: ColumnFacts) -> bool:
    """Return whether the first row seems to be a header, because a name contains a known word.

    The cells of the first row must also look like names, and occur in no other row. One of the two
    cells may be a question, as in tables from forms, if there is more evidence for a header. For
    example, every label occurs more than once.
    """
    short = sum(fact.looks_like_a_name for fact in (texts, labels))
    is_clear = labels.all_repeat or texts.first_is_short or bool(find_other_column(names))
    return (
        texts.rows >= _MIN_ROWS_WITHOUT_NAMES
        and labels.distinct * 2 <= labels.rows
        and has_known_word(names)
        and texts.first_is_unlike
        and labels.first_is_unlike
        and (short == 2 or (short == 1 and is_clear))
    )


def are_swapped(texts: ColumnFacts, labels: ColumnFacts, *, has_header: bool) -> bool:
    """Return whether the assumed text column has the labels, and the other column the texts.

    This is likely if the values of the assumed text column are short and repeat, and the values of
    the other column are longer and nearly all different. If the longer values are more than twice
    as long, some of the short values may occur only once.

    Args:
        texts: Statistics of the column that is assumed to have the texts.
        labels: Statistics of the other column.
        has_header: Whether the first row is a header.
    """
    names = texts if has_header else texts.with_first()
    return (
        labels.rows >= _MIN_SWAPPED_ROWS
        and labels.distinct * 5 >= labels.rows * 4
        and labels.characters > texts.characters
        and (names.are_names or (names.mostly_repeat and labels.characters > 2 * texts.characters))
    )
