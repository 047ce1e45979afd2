"""Finds rows of totals at the end of a table, such as `Total,60`. They are not examples."""

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
# Maximum number of words of a figure, such as `60 tickets`.
_MOST_FIGURE_WORDS = 2


def find_totals(
    last: Sequence[TextRow], counts: Mapping[str, int], labels: Collection[str]
) -> frozenset[int]:
    """Return the numbers of rows at the end of a table that are totals and not examples.

    Rows are totals if their labels are numbers or dates, unlike all labels above these rows. Rows
    are also totals if each of them has a figure and a name such as `Total`. Then at least one label
    of these rows must not occur above them.

    Args:
        last: The last accepted rows of the table.
        counts: Number of rows by label in the whole table.
        labels: Labels of the dataset to which the table is added.

    Returns:
        The numbers of the total rows; none if there are too many rows to be totals.
    """
    # The last rows whose labels are numbers. Most tables have none, because their labels are words.
    rows = list(takewhile(lambda row: _is_number(row.label), reversed(last)))
    found = _find_below_words(rows, counts, labels) or _named_totals(last, counts, labels)
    is_few = len(found) <= MAX_TOTALS and sum(counts.values()) >= len(found) + _LEAST_ABOVE
    return found if is_few else frozenset()


def _find_below_words(
    rows: list[TextRow], counts: Mapping[str, int], labels: Collection[str]
) -> frozenset[int]:
    found = {label: count for label, count in counts.items() if _is_number(label)}
    few = max(found.values(), default=0) < MIN_EXAMPLES_PER_LABEL
    is_new = found.keys().isdisjoint(labels) and few
    return _numbers(rows) if is_new and found == Counter(row.label for row in rows) else frozenset()


def _named_totals(
    last: Sequence[TextRow], counts: Mapping[str, int], labels: Collection[str]
) -> frozenset[int]:
    named = list(takewhile(_is_total, reversed(last)))
    own = Counter(row.label for row in named)
    is_new = any(
        counts[label] == count < MIN_EXAMPLES_PER_LABEL and label not in labels
        for label, count in own.items()
    )
    return _numbers(named) if is_new else frozenset()


def _is_total(row: TextRow) -> bool:
    """Return whether a row has a name such as `Total` and a figure, in either order."""
    text, label = row.text, row.label
    return (_names_total(text) and _is_figure(label)) or (_names_total(label) and _is_figure(text))


def _names_total(cell: str) -> bool:
    words = fold_name(cell).split()
    return len(words) <= _MOST_WORDS and not TOTAL_NAMES.isdisjoint(words)


def _is_figure(cell: str) -> bool:
    return cell[:1].isdigit() and len(cell.split()) <= _MOST_FIGURE_WORDS


def _is_number(label: str) -> bool:
    """Return whether a label has digits but no letters, like a number, a fraction or a date."""
    return any(map(str.isdigit, label)) and not any(map(str.isalpha, label))


def _numbers(rows: Iterable[TextRow]) -> frozenset[int]:
    return frozenset(row.number for row in rows)
