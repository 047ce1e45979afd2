"""The columns of the input, for batch results that repeat them (`columns=input`).

See beyond.md, section 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chalicelib.domain.datasets.upload_format import UploadWarning
from chalicelib.domain.jobs.batch import INPUT, XLSX, Batch
from chalicelib.errors import InvalidUpload

# Limits of a worksheet.
MAX_SHEET_COLUMNS = 16_384
MAX_SHEET_CELL = 32_767
# Limit of the cells of a table, rows times columns: one wide row makes all others as wide.
MAX_TABLE_CELLS = 100_000_000
# Maximum number of labels of a row: each has two columns in every row.
MAX_TABLE_LABELS = 1_000
_PREFIX = "presage_"
_REMEDY = "Send format=csv."

# A cell as it was read. In a workbook it may also be a number or a truth value.
Cell = str | float | bool


@dataclass
class InputTable:
    """The columns of the input, collected while the lines are read."""

    answer_columns: int = 0
    """Number of columns that the result has in addition to those of the input."""
    is_sheet: bool = False
    """Whether the result is a worksheet, with its limits of rows, columns and cells."""
    names: list[str] = field(default_factory=list)
    """Names of the columns; empty for a column without name."""
    sheet: str = ""
    """Name of the worksheet that was read; empty if the input is not a workbook."""
    rows: int = 0
    bytes: int = 0
    """Size of all cells in UTF-8, in bytes."""
    cells: int = 0
    """Number of cells that are not empty."""
    warnings: list[UploadWarning] = field(default_factory=list)
    """Warnings about properties of the input that had to be guessed."""

    def name_columns(self, row: int, names: Sequence[str]) -> None:
        """Add named columns; raise InvalidUpload if a name is too long for a worksheet."""
        for at, name in enumerate(names, len(self.names) + 1):
            self._count(row, at, name)
        self.names += names

    def add(self, row: int, cells: Sequence[Cell]) -> None:
        """Count a row. If it has more cells than there are columns, add columns without names.

        Raises:
            InvalidUpload: the result would exceed a limit.
        """
        self.rows += 1
        self.names += [""] * (len(cells) - len(self.names))
        self.check(row)
        for at, cell in enumerate(cells, 1):
            self._count(row, at, str(cell))

    def _count(self, row: int, column: int, text: str) -> None:
        self.cells += bool(text)
        self.bytes += len(text.encode("utf-8", "replace"))
        if self.is_sheet and len(text) * 2 > MAX_SHEET_CELL:
            _check_length(row, column, text)

    def check(self, row: int) -> None:
        """Raise InvalidUpload if the result would have too many columns or cells."""
        width = len(self.names) + self.answer_columns
        if self.is_sheet and width > MAX_SHEET_COLUMNS:
            raise InvalidUpload(
                f"Up to row {row}, the result has {width:,} columns; a worksheet has at most "
                f"{MAX_SHEET_COLUMNS:,}. {_REMEDY}"
            )
        if width * self.rows > MAX_TABLE_CELLS:
            raise InvalidUpload(
                f"Up to row {row}, the result has {self.rows:,} rows of {width:,} columns; at most "
                f"{MAX_TABLE_CELLS:,} cells are allowed. Remove columns, or split the file, and "
                "send each part as a separate batch."
            )


def own_columns(batch: Batch, names: Sequence[str] = ()) -> list[str]:
    """Return the names of the columns that the result adds.

    An added name gets a prefix if it is also in `names`, the names of the input's columns.
    """
    count = (batch.count or 1) if batch.columns == INPUT else 1
    found = ["label", "probability"]
    for number in range(2, count + 1):
        found += [f"label_{number}", f"probability_{number}"]
    if batch.review_below is not None:
        found.append("review")
    found += ["error"] if batch.columns == INPUT else ["code", "message"]
    taken = {name.strip() for name in names}
    return [_free_name(name, taken) for name in found]


def count_own(batch: Batch) -> int:
    """Return how many columns the result adds, without creating the names of the columns."""
    labels, errors = ((batch.count or 1), 1) if batch.columns == INPUT else (1, 2)
    return 2 * labels + errors + (batch.review_below is not None)


def new_table(batch: Batch) -> InputTable:
    """Return an `InputTable` for a batch, without columns yet."""
    if not batch.is_table:
        return InputTable()
    table = InputTable(count_own(batch), batch.format == XLSX)
    table.check(0)
    return table


def _free_name(name: str, used_names: set[str]) -> str:
    while name in used_names:
        name = _PREFIX + name
    return name


def _check_length(row: int, column: int, text: str) -> None:
    # Spreadsheets count UTF-16 units.
    length = len(text.encode("utf-16-le", "replace")) // 2
    if length > MAX_SHEET_CELL:
        raise InvalidUpload(
            f"Row {row}, column {column}: the cell has {length:,} characters; a cell of a "
            f"worksheet has at most {MAX_SHEET_CELL:,}. {_REMEDY}"
        )
