"""Distinguishes tables from similar text: prose, letters, charts, lists of keys and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, text_of
from chalicelib.engines.ocr.tables.heading import are_numeric, is_numeric, is_value, is_wordy
from chalicelib.engines.ocr.tables.rows import group_rows, row_box, white_below


def is_ruled_table(filled: FilledGrid) -> bool:
    """Return whether a table of ruled lines has enough cells with text."""
    return (
        filled.grid.row_count > 1
        and len({slot.column for slot in filled.grid.slots}) > 1
        and filled.filled >= 4
        and _filled_share(filled) >= settings.FILLED_SHARE
    )


def is_table(filled: FilledGrid, *, is_ruled: bool) -> bool:
    """Return whether text that is aligned in columns is a table."""
    rows, columns = filled.grid.row_count, filled.grid.column_count
    evidence = _row_evidence(filled)
    # One full row of values below the names of many columns is a table, too.
    is_full = columns > settings.FEWEST_EVIDENCE and filled.filled == rows * columns
    fewest = rows if is_full and _has_values(filled) else settings.FEWEST_EVIDENCE
    is_long = columns > 2 and evidence >= 2 * settings.FEWEST_EVIDENCE
    return (
        evidence >= max(fewest, rows / 2)
        and _wordy_share(filled) <= settings.OTHER_TEXT_SHARE
        and _is_dense(filled)
        and _filled_share(filled) >= settings.FILLED_SHARE
        and _entry_share(filled) <= settings.OTHER_TEXT_SHARE
        and (is_ruled or is_long or _has_values(filled))
        and (columns > 2 or _is_pair_table(filled, is_ruled=is_ruled))
    )


def _has_values(filled: FilledGrid) -> bool:
    """Return whether a text has columns of values, as short tables do.

    Most columns after the first must contain numbers. In a text with a header, a single column of
    numbers is enough if its first text is not a number.
    """
    columns = [_column_texts(filled, column) for column in range(1, filled.grid.column_count)]
    numeric = [texts for texts in columns if texts and are_numeric(texts)]
    named = any(not is_value(texts[0]) for texts in numeric)
    return (named and _has_header(filled)) or 2 * len(numeric) > len(columns)


def _has_header(filled: FilledGrid) -> bool:
    places = list(filled.cells())
    numbers = (slot.row for slot, lines in places if is_numeric(text_of(lines)))
    rows = min(numbers, default=1)
    most = min(settings.MOST_HEADER_ROWS, settings.HEADER_ROWS_SHARE * filled.grid.row_count)
    rows = rows if 1 < rows <= most else 1
    named = {
        column for slot, lines in places if lines and slot.row < rows for column in slot.columns
    }
    return named.issuperset(range(1, filled.grid.column_count))


def _is_dense(filled: FilledGrid) -> bool:
    """Return whether rows of text are close together, unlike the labels of a chart."""
    lines = list(filled.lines())
    most = settings.CHART_WHITE_EMS * median(line.box.height for line in lines)
    return all(white_below(above, row) <= most for above, row in pairwise(group_rows(lines)))


def _is_pair_table(filled: FilledGrid, *, is_ruled: bool) -> bool:
    """Return whether a text with two columns is a table, not a list or two addresses.

    Without ruled lines, the second column needs four texts, and must not begin with a number.
    """
    first, second = _column_texts(filled, 0), _column_texts(filled, 1)
    if is_ruled:
        return min(len(first), len(second)) > 1
    return len(second) > 3 and not is_numeric(second[0])


def _entry_share(filled: FilledGrid) -> float:
    """Return the fraction of rows that contain a field name, with or without its value."""
    rows = {slot.row for slot, lines in filled.cells() if lines}
    entries = {slot.row for slot, lines in filled.cells() if ": " in f"{text_of(lines)} "}
    return len(entries) / max(1, len(rows))


def _column_texts(filled: FilledGrid, column: int) -> list[str]:
    return [text_of(lines) for slot, lines in filled.cells() if lines and slot.column == column]


def _row_evidence(filled: FilledGrid) -> int:
    counts = Counter(slot.row for slot, lines in filled.cells() if lines)
    return sum(count > 1 for count in counts.values())


def _filled_share(filled: FilledGrid) -> float:
    slots = [slot for slot, lines in filled.cells() if lines]
    rows = {row for slot in slots for row in slot.rows}
    columns = {column for slot in slots for column in slot.columns}
    if len(rows) < 2 or len(columns) < 2:
        return 0.0
    seen = [
        slot
        for slot in filled.grid.slots
        if rows.intersection(slot.rows) and columns.intersection(slot.columns)
    ]
    return filled.filled / len(seen)


def _is_wrapped(rows: Sequence[Sequence[TextLine]], right: float) -> bool:
    """Return whether rows of text are one text that is wrapped before the x position `right`.

    In most rows, the first word would not have fitted into the row above. Single words and numbers
    below each other are not a wrapped text.
    """
    wrapped = 0
    for row, following in pairwise(rows):
        first = following[0]
        if is_numeric(first.text) or " " not in text_of(row):
            continue
        word = first.box.width * len(first.text.split()[0]) / len(first.text)
        room = right - row_box(row).max_x
        wrapped += room < word + settings.CELL_GAP_HEIGHTS * first.box.height
    return wrapped >= settings.WRAPPED_TEXT_SHARE * (len(rows) - 1)


def _wordy_share(filled: FilledGrid) -> float:
    texts = [line.text for line in filled.lines()]
    return sum(map(is_wordy, texts)) / max(1, len(texts))


def agreement(first: FilledGrid, second: FilledGrid) -> float:
    """Return how much two structures of the same pieces agree on rows and columns, 0 to 1.

    For each piece, the pieces in the same row of either structure are compared by intersection over
    union. The same is done for columns. The result is the mean over all pieces.
    """
    return (_shared_lanes(first, second, True) + _shared_lanes(first, second, False)) / 2


def _shared_lanes(first: FilledGrid, second: FilledGrid, is_row: bool) -> float:
    """Return the mean agreement of two structures in their rows, or in their columns."""
    ones, others = _lanes(first, is_row), _lanes(second, is_row)
    both = Counter((one, others[piece]) for piece, one in ones.items() if piece in others)
    sizes, other_sizes = Counter(ones.values()), Counter(others.values())
    shared = sum(
        count * count / (sizes[one] + other_sizes[other] - count)
        for (one, other), count in both.items()
    )
    return shared / max(1, len(ones))


def _lanes(filled: FilledGrid, is_row: bool) -> dict[int, range]:
    """Return the range of rows, or of columns, of each piece, by the id of the piece."""
    return {
        id(line): slot.rows if is_row else slot.columns
        for slot, lines in filled.cells()
        for line in lines
    }


def crammed(filled: FilledGrid) -> int:
    """Estimate how many pieces would move to new rows if crammed table rows were split.

    A row is crammed if it has two or more cells with text, each of these cells has several lines,
    and fewer than half of them are wrapped text.
    """
    ends: dict[int, float] = {}
    by_row: dict[int, list[tuple[Slot, list[list[TextLine]]]]] = {}
    for slot, lines in filled.cells():
        if lines:
            last = slot.columns.stop - 1
            ends[last] = max(ends.get(last, 0.0), *(line.box.max_x for line in lines))
            if slot.row_span == 1:
                by_row.setdefault(slot.row, []).append((slot, group_rows(lines)))
    count = 0
    for places in by_row.values():
        depths = [len(rows) for _, rows in places]
        if len(depths) < 2 or min(depths) < 2:
            continue
        wrapped = sum(_is_wrapped(rows, ends[slot.columns.stop - 1]) for slot, rows in places)
        if 2 * wrapped < len(places):
            count += (int(median(depths)) - 1) * len(depths)
    return count
