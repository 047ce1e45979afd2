"""Preview of an upload: sheets, columns, and the first rows as the upload would read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Rows that a preview shows.
PREVIEW_ROWS = 20
# Columns that a preview shows; the answer of a call has a size limit.
PREVIEW_COLUMNS = 1_000
_CELL_CHARACTERS = 500
_ROW_CHARACTERS = 20_000
_SAMPLE_CHARACTERS = 100


@dataclass(frozen=True)
class PreviewRow:
    """One row of a text file, or one image of an archive."""

    row: int
    """Number of the row, from 1, as in receipts; for archives the position of the file."""
    cells: tuple[str, ...]
    """Cells of the row from left to right.

    For a JSON object, the cells are its values in the order of the columns. For an image, they are
    the folders in its path, and its file name.
    """
    text: str | None = None
    """The text of the example, or the path of the image; None if it cannot be read."""
    label: str | None = None
    reason: str | None = None
    """Why the row is rejected; None for a valid row."""


@dataclass(frozen=True)
class ColumnRank:
    """The ranks of a column as a text column and as a label column. Rank 1 is the best."""

    text: int
    label: int


@dataclass(frozen=True)
class ColumnSummary:
    """A column of a file, described from its first rows."""

    position: int
    """Position of the column, from 1."""
    name: str | None
    """Name of the column; None if the file has no header."""
    samples: tuple[str, ...]
    """The most frequent values."""
    distinct: int
    """Number of different values."""
    rank: ColumnRank


@dataclass(frozen=True)
class SheetSummary:
    """A visible sheet of a workbook."""

    name: str
    rows: int
    """Number of the last row that has a cell."""


@dataclass(frozen=True)
class Preview:
    """The preview of a file that the console shows before the upload."""

    rows: tuple[PreviewRow, ...] = ()
    sheets: tuple[SheetSummary, ...] = ()
    columns: tuple[ColumnSummary, ...] = ()


def cut_row(
    row: int,
    cells: Sequence[str],
    pair: tuple[str, str] | None = None,
    reason: str | None = None,
) -> PreviewRow:
    """Return a row of the preview with long cells shortened.

    `row` is the row number. `pair` is the text and the label of the row; None if they cannot be
    read. `reason` says why the row is rejected; None for a valid row.
    """
    shown = cells[:PREVIEW_COLUMNS]
    most = min(_CELL_CHARACTERS, _ROW_CHARACTERS // max(1, len(shown)))
    text, label = (None, None) if pair is None else (_cut(part, _CELL_CHARACTERS) for part in pair)
    return PreviewRow(row, tuple(_cut(cell, most) for cell in shown), text, label, reason)


def cut_samples(values: Sequence[str]) -> tuple[str, ...]:
    """Return the sample values of a column; long values are shortened."""
    return tuple(_cut(value, _SAMPLE_CHARACTERS) for value in values)


def _cut(value: str, length: int) -> str:
    shown = value if len(value) <= length else f"{value[: length - 1]}…"
    # Half of a surrogate pair cannot be sent; its row is rejected with that reason.
    return shown if shown.isascii() else shown.encode("utf-8", "replace").decode()
