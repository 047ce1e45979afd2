"""Finds totals below a table, such as `Total,60`, which would become examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL
from chalicelib.formats.texts.columns.names import TOTAL_NAMES, fold_name
from chalicelib.formats.texts.language_file import TextRow

MAX_TOTALS = 10
_LEAST_ABOVE = 10
_MOST_WORDS = 4


def find_totals(
    last: Sequence[TextRow], counts: Mapping[str, int], known: Collection[str]
) -> frozenset[int]:
    """Find total rows at the end of a table, in which the label is a number or a date.

    Such rows are totals if no label above them is a number or date, or if their texts have a word
    for totals and one of their labels does not occur above.

    Args:
        last: The last accepted rows of the table.
        counts: Number of rows by label in the whole table.
        known: Labels of the dataset to which the table is added.

    Returns:
        The numbers of the total rows; empty if there are too many to be totals.
    """
    # Most tables end with a label that is a word, or one of many equal ones.
    rows = list(takewhile(lambda row: _is_number(row.label), reversed(last)))
    if not rows:
        return frozenset()
    found = _find_below_words(rows, counts, known) or _named_totals(rows, counts, known)
    is_few = len(found) <= MAX_TOTALS and sum(counts.values()) >= len(found) + _LEAST_ABOVE
    return found if is_few else frozenset()


def _find_below_words(
    rows: list[TextRow], counts: Mapping[str, int], known: Collection[str]
) -> frozenset[int]:
    found = {label: count for label, count in counts.items() if _is_number(label)}
    is_new = found.keys().isdisjoint(known) and max(found.values()) < MIN_EXAMPLES_PER_LABEL
    return _numbers(rows) if is_new and found == Counter(row.label for row in rows) else frozenset()


def _named_totals(
    rows: list[TextRow], counts: Mapping[str, int], known: Collection[str]
) -> frozenset[int]:
    named = list(takewhile(_names_total, rows))
    own = Counter(row.label for row in named)
    is_new = any(
        counts[label] == count < MIN_EXAMPLES_PER_LABEL and label not in known
        for label, count in own.items()
    )
    return _numbers(named) if is_new else frozenset()


def _names_total(row: TextRow) -> bool:
    words = fold_name(row.text).split()
    return len(words) <= _MOST_WORDS and not TOTAL_NAMES.isdisjoint(words)


def _is_number(label: str) -> bool:
    """Return whether a label is a number, a fraction or a date without a letter."""
    return any(map(str.isdigit, label)) and not any(map(str.isalpha, label))


def _numbers(rows: Iterable[TextRow]) -> frozenset[int]:
    return frozenset(row.number for row in rows)
