"""Decides how rows with more cells than a header of two names are read.

Texts with commas that are not quoted fall into several cells. They are joined again where the cells
show where the label is; otherwise the rows are rejected, since parts of texts would become labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

from chalicelib.domain.datasets.upload_format import (
    CELLS_JOINED,
    MAX_PLACES,
    XLSX,
    UploadWarning,
)
from chalicelib.formats.texts.layout import DELIMITER_NAMES, TextLayout
from chalicelib.formats.texts.text_table import TextTable

# Rows that are judged; more do not change the decision.
_MAX_ROWS = 10_000
_HALF, _FEW, _MOST = 0.5, 0.2, 0.8


def join_cells(table: TextTable) -> TextLayout:
    """Return the layout of a table whose header has two names, with its wide rows joined.

    They are rejected instead if most rows have two cells, or if the cells show no label. A table
    whose header has empty names stays as it is: so spreadsheets write columns without a name.
    """
    layout = table.layout
    rows = [(number, cells) for number, cells in islice(table.rows(), _MAX_ROWS)]
    wide = [(number, cells) for number, cells in rows if len(cells) > 2]
    if layout.kind == XLSX or not wide or _has_empty_names(table):
        return layout
    layout = replace(layout, width=2)
    shows_label = _has_texts_behind if layout.label_at == 0 else _has_labels_last
    if len(wide) <= len(rows) * _HALF or not shows_label([cells for _, cells in rows]):
        return layout
    name = DELIMITER_NAMES[layout.delimiter]
    warning = UploadWarning(
        CELLS_JOINED,
        f"Of the first {len(rows):,} rows, {len(wide):,} have more cells than the header has "
        f"names; the {'first' if layout.label_at == 0 else 'last'} cell was taken for the label, "
        f"and the others were joined to the text. Put texts that hold a {name} in double quotes.",
        len(wide),
        tuple(f"row {number}" for number, _ in wide[:MAX_PLACES]),
    )
    return replace(layout, joins_cells=True, warnings=(*layout.warnings, warning))


def _has_empty_names(table: TextTable) -> bool:
    """Return whether the header has more cells than names."""
    number = max(table.layout.skipped)
    return table.count_cells(number) > 2


def _has_labels_last(rows: list[list[str]]) -> bool:
    """Return whether the last cells are labels: few that repeat, unlike the second cells."""
    wide = [cells for cells in rows if len(cells) > 2]
    if _count_spaced(wide, 1) >= _MOST and _count_spaced(wide, -1) <= _FEW:
        return True  # a comma with a space after it belongs to a sentence
    lasts = Counter(cells[-1].strip() for cells in rows)
    seconds = Counter(cells[1].strip() for cells in rows)
    # A single second cell cannot be the label of all texts.
    others = len(seconds) if len(seconds) > 1 else len(rows)
    return 2 <= len(lasts) <= min(len(rows), others) / 2


def _has_texts_behind(rows: list[list[str]]) -> bool:
    """Return whether the cells after the first are parts of one text: spaced, or of any number."""
    wide = [cells for cells in rows if len(cells) > 2]
    _, equal = Counter(map(len, wide)).most_common(1)[0]
    return _count_spaced(wide, 2) >= _MOST or equal < len(wide) * _MOST


def _count_spaced(rows: list[list[str]], at: int) -> float:
    """Return the fraction of rows whose cell begins with a space."""
    return sum(cells[at].startswith(" ") for cells in rows) / len(rows)
