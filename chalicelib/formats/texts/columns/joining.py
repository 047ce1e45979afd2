"""Decides how to read rows of three or more cells if the header has only two names.

Texts with commas but without quotes are split into several cells. If the rows show which cell is
the label, the other cells of each row are joined to a text. If unnamed columns follow a label
column, these columns are ignored with a warning. Otherwise, rows of three or more cells are
rejected, because parts of texts would become labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

from chalicelib.domain.datasets.upload_format import (
    CELLS_JOINED,
    COLUMNS_GUESSED,
    MAX_PLACES,
    XLSX,
    UploadWarning,
)
from chalicelib.formats.texts.layout import DELIMITER_NAMES, TextLayout
from chalicelib.formats.texts.text_table import TextTable

# Rows that are judged; more do not change the decision.
_MAX_ROWS = 10_000
_HALF, _FEW, _MOST = 0.5, 0.2, 0.8
_SENTENCE_ENDS = frozenset(".!?…。！？")


def join_cells(table: TextTable) -> TextLayout:
    """Return the layout for a table with two names in its header, and more cells in some rows.

    If empty cells follow the two names, the layout does not change, because these cells are unnamed
    columns of a spreadsheet. If most rows have two cells, rows of more cells are rejected.
    """
    layout = table.layout
    rows = [(number, cells) for number, cells in islice(table.rows(), _MAX_ROWS)]
    wide = [(number, cells) for number, cells in rows if len(cells) > 2]
    if layout.kind == XLSX or not wide or _has_empty_names(table):
        return layout
    judged = [cells for _, cells in rows]
    has_parts = _has_texts_behind if layout.label_at == 0 else _has_labels_last
    if len(wide) > len(rows) * _HALF and has_parts(judged):
        taken = "first" if layout.label_at == 0 else "last"
        message = f"the {taken} cell was taken for the label, and the others joined to the text"
        joined = replace(layout, width=2, joins_cells=True)
        return _warn(joined, CELLS_JOINED, message, [number for number, _ in wide])
    if layout.width == 2 or (layout.label_at and not _are_labels(_seconds(judged), judged)):
        return replace(layout, width=2)
    message = (
        "text and label were taken from the first two, and the others left out. Send the right "
        "positions as 'textColumn' and 'labelColumn' if they differ; textColumn=1,2 joins two"
    )
    return _warn(layout, COLUMNS_GUESSED, message, [number for number, _ in wide])


def _warn(layout: TextLayout, code: str, message: str, numbers: list[int]) -> TextLayout:
    """Return the layout with a warning about rows that have more cells than the header."""
    warning = UploadWarning(
        code,
        f"{len(numbers):,} of the first rows have more cells than the header has names; {message}. "
        f"Put texts that hold a {DELIMITER_NAMES[layout.delimiter]} in double quotes, or name all "
        "columns in the header.",
        len(numbers),
        tuple(f"row {number}" for number in numbers[:MAX_PLACES]),
    )
    return replace(layout, warnings=(*layout.warnings, warning))


def _has_empty_names(table: TextTable) -> bool:
    """Return whether empty cells follow the names in the header."""
    number = max(table.layout.skipped)
    return table.count_cells(number) > 2


def _has_labels_last(rows: list[list[str]]) -> bool:
    """Return whether last cells seem to be labels, and second cells seem to be parts of texts."""
    wide = [cells for cells in rows if len(cells) > 2]
    if _count_spaced(wide, 1) >= _MOST and _count_spaced(wide, -1) <= _FEW:
        return True  # a comma with a space after it belongs to a sentence
    lasts = {cells[-1].strip() for cells in rows}
    if not _are_labels(lasts, rows):
        return False
    if not _are_labels(_seconds(rows), rows):
        return True
    return _labels_move(rows) or _have_decimals(wide, lasts) or _end_sentences(wide)


def _labels_move(rows: list[list[str]]) -> bool:
    """Return whether the label is the last cell in both shorter and longer rows."""
    counts = Counter(map(len, rows))
    del counts[max(counts)]
    if not counts:
        return False
    width = counts.most_common(1)[0][0]
    labels = {cells[-1].strip() for cells in rows if len(cells) == width}
    wider = [cells for cells in rows if len(cells) > width]
    moved = sum(cells[-1].strip() in labels for cells in wider)
    stayed = sum(cells[width - 1].strip() in labels for cells in wider)
    return moved >= len(wider) * _MOST and stayed <= len(wider) * _FEW


def _have_decimals(wide: list[list[str]], labels: set[str]) -> bool:
    """Return whether rows were split at decimal commas, as in 4,50, and no label has a digit."""
    cut = sum(cells[0][-1:].isdigit() and cells[1][:1].isdigit() for cells in wide)
    return cut >= len(wide) * _MOST and not any(map(str.isdigit, "".join(labels)))


def _end_sentences(wide: list[list[str]]) -> bool:
    """Return whether the second cells of rows end like sentences and the first cells do not."""
    ends = [[cells[at].strip()[-1:] in _SENTENCE_ENDS for cells in wide] for at in (0, 1)]
    return sum(ends[1]) >= len(wide) * _MOST and sum(ends[0]) <= len(wide) * _FEW


def _seconds(rows: list[list[str]]) -> set[str]:
    return {cells[1].strip() for cells in rows}


def _are_labels(values: set[str], rows: list[list[str]]) -> bool:
    return 2 <= len(values) <= len(rows) / 2


def _has_texts_behind(rows: list[list[str]]) -> bool:
    """Return whether the cells after the label are parts of a text that was split at commas.

    The evidence is that third cells begin with a space, or rows have different numbers of cells.
    """
    wide = [cells for cells in rows if len(cells) > 2]
    _, equal = Counter(map(len, wide)).most_common(1)[0]
    return _count_spaced(wide, 2) >= _MOST or equal < len(wide) * _MOST


def _count_spaced(rows: list[list[str]], at: int) -> float:
    return sum(cells[at].startswith(" ") for cells in rows) / len(rows)
