"""Provides rows and statistics of a table while its layout is being decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, islice, takewhile
from typing import BinaryIO

from chalicelib.domain.datasets.upload_format import CSV, DELIMITERS, TSV, ReadingOptions
from chalicelib.formats.texts.columns.facts import MAX_ROWS, ColumnFacts, count_columns
from chalicelib.formats.texts.columns.names import (
    Columns,
    find_documented_columns,
    find_named_columns,
    find_other_column,
    split_columns,
)
from chalicelib.formats.texts.columns.ranking import ColumnProfile, profile_columns
from chalicelib.formats.texts.delimited import Record, drop_empty_end, read_records
from chalicelib.formats.texts.encoding import open_text
from chalicelib.formats.texts.layout import TextLayout

SAMPLE_RECORDS = 500
_NEARLY_ALL = 0.95
_MOST_AROUND = 0.2


@dataclass(frozen=True)
class Survey:
    """Statistics that describe how a delimiter splits the first records of a table into cells."""

    delimiter: str
    rows: int
    """Number of records that are not blank."""
    width: int
    """Most frequent number of cells in those records that have more than one cell."""
    share: float
    """Fraction of the records that have `width` cells."""
    labels: list[str]
    """Second cells of the rows with two cells."""
    wide: float
    """Fraction of the records that have more than two cells."""
    is_named: bool
    """Whether the first row has known names of a text column and a label column."""
    is_documented: bool
    """Whether the first row has the documented names."""

    first_width: int
    """Number of cells in the first row."""
    body: float
    """Like `share`, but titles above the table and notes below it are not counted."""

    @property
    def is_regular(self) -> bool:
        """Return whether nearly all rows are split into the same number of cells, at least two."""
        return self.width > 1 and self.body >= _NEARLY_ALL and not self.ends_cells

    @property
    def ends_cells(self) -> bool:
        """Return whether nearly all second cells are empty or begin with another delimiter."""
        if self.width != 2:
            return False
        ends = sum(label.strip(" ")[:1] in ("", *DELIMITERS) for label in self.labels)
        return ends >= len(self.labels) * _NEARLY_ALL

    def holding(self, delimiter: str) -> float:
        """Return the fraction of labels that contain `delimiter`, except at their end."""
        found = sum(delimiter in label.rstrip().rstrip(delimiter) for label in self.labels)
        return found / max(1, len(self.labels))


class TextTable:
    """Reads a table with the layout decided so far. Each step of the decision sets a new layout."""

    def __init__(self, file: BinaryIO, layout: TextLayout) -> None:
        self.file = file
        self.layout = layout
        self._surveys: dict[str, Survey] = {}
        self._counted: dict[Columns, list[ColumnFacts]] = {}
        self._profiled: dict[tuple[str, ...], list[ColumnProfile]] = {}

    def split_at(self, delimiter: str) -> None:
        """Set `delimiter` as the delimiter of the layout."""
        kind = TSV if delimiter == "\t" else CSV
        self.layout = replace(self.layout, kind=kind, delimiter=delimiter)

    def _records(self, limit: int) -> Iterator[Record]:
        """Yield up to `limit` records, without skipped records and blank records at the start."""
        layout = self.layout
        with open_text(self.file, layout.encoding) as stream:
            # Blank rows above the header do not show what the other rows are like.
            records = islice(read_records(stream, layout.delimiter), MAX_ROWS)
            for record in islice(dropwhile(_is_blank, records), limit):
                if record.number not in layout.skipped:
                    yield record

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the cells of each row, except blank, broken and skipped rows."""
        for record in self._records(MAX_ROWS):
            cells = drop_empty_end(record.cells)
            if cells:  # files that were joined have byte order marks inside
                cells[0] = cells[0].removeprefix("\ufeff")
            if not record.fault and not _is_blank(record):
                yield record.number, cells

    def has_rows_below(self) -> bool:
        """Return whether there are records after the MAX_ROWS records that decide the layout."""
        with open_text(self.file, self.layout.encoding) as stream:
            records = read_records(stream, self.layout.delimiter)
            return next(islice(records, MAX_ROWS, None), None) is not None

    def count_cells(self, number: int) -> int:
        """Return the number of cells in the record `number`, including empty cells at its end."""
        with open_text(self.file, self.layout.encoding) as stream:
            for record in islice(read_records(stream, self.layout.delimiter), number - 1, number):
                return len(record.cells)
        return 0

    def survey(self, delimiter: str) -> Survey:
        """Return statistics that describe how `delimiter` splits the first records into cells."""
        if delimiter not in self._surveys:
            self._surveys[delimiter] = self._make_survey(delimiter)
        return self._surveys[delimiter]

    def _make_survey(self, delimiter: str) -> Survey:
        self.layout = replace(self.layout, delimiter=delimiter)
        sample, full = [], Counter[int]()
        for record in self._records(SAMPLE_RECORDS):
            if not _is_blank(record):
                full[len(record.cells)] += len(record.cells) > 1
                sample.append(drop_empty_end(record.cells))
        widths = Counter(len(cells) for cells in sample if len(cells) > 1)
        # Empty cells at the ends of rows make wide rows differ in length.
        width, count = max(
            (counts.most_common(1)[0] for counts in (widths, full) if counts),
            key=lambda found: found[1],
            default=(0, 0),
        )
        return Survey(
            delimiter,
            len(sample),
            width,
            count / len(sample) if sample else 0.0,
            [cells[1] for cells in sample if len(cells) == 2],
            sum(len(cells) > 2 for cells in sample) / max(1, len(sample)),
            bool(sample) and find_named_columns(sample[0]).columns is not None,
            bool(sample) and find_documented_columns(sample[0]) is not None,
            len(sample[0]) if sample else 0,
            count / max(len(sample) - _count_around(sample), 1),
        )

    def facts(self, columns: Columns) -> list[ColumnFacts]:
        """Return the statistics of the text column and of the label column."""
        if columns not in self._counted:
            self._counted[columns] = count_columns((cells for _, cells in self.rows()), *columns)
        return self._counted[columns]

    def profiles(self, names: Sequence[str]) -> list[ColumnProfile]:
        """Return statistics of all columns; `names` are the cells of the first row."""
        first = tuple(names)
        if first not in self._profiled:
            self._profiled[first] = profile_columns((cells for _, cells in self.rows()), names)
        return self._profiled[first]

    def find_names(self, names: list[str], options: ReadingOptions) -> list[str]:
        """Return the cells of the first row, to be used as column names.

        If the first row is data, a cell that equals a requested column position becomes "". So a
        request for column 1 means the first column, and not a column with "1" in the first row.
        """
        columns = (*split_columns(names, options.text_column), options.label_column)
        asked = {column for column in columns if column}
        numbers = set(filter(str.isdecimal, asked))
        if options.header or not numbers:
            return names
        if options.header is None and not self._is_data(names, asked):
            return names
        return ["" if name in numbers else name for name in names]

    def _is_data(self, names: list[str], columns: set[str]) -> bool:
        """Return whether the first row is data rather than names.

        The row is data if one of its cells occurs again in the same column, except in these cases:

        - All cells are numbers, because columns are often named 0, 1, 2.
        - A cell is a known column name, and does not occur again.
        - A requested column in `columns` is a name, or a number above the number of columns.
        """
        are_positions = all(one.isdecimal() and int(one) <= len(names) for one in columns)
        if not are_positions or all(map(str.isdecimal, names)):
            return False
        cells = list(zip(names, self.profiles(names), strict=True))
        # A known name shows a header, in which numbers may be names, too.
        if any(find_other_column([name, ""]) and name not in found.values for name, found in cells):
            return False
        return any(name in found.values for name, found in cells)


def _count_around(sample: list[list[str]]) -> int:
    """Return the number of one-cell rows at a table's start and end; 0 if there are too many."""
    ends = (takewhile(lambda cells: len(cells) < 2, rows) for rows in (sample, reversed(sample)))
    count = sum(len(list(found)) for found in ends)
    return count if count <= len(sample) * _MOST_AROUND else 0


def _is_blank(record: Record) -> bool:
    return not record.fault and not any(map(str.strip, record.cells))
