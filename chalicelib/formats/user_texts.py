"""Reads texts that users sent, with labels if the file contains them. See beyond.md, section 15."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import BinaryIO

from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.domain.models.user_texts import MOST_TEXTS, OUT_OF_DOMAIN_LABEL
from chalicelib.errors import InvalidParameter
from chalicelib.formats.texts.batch_file import read_lines

# Column of the labels, unless the call names another one.
LABEL_COLUMNS = ("label", "labels", "intent", "category", "class")
# Rows in which the column of labels is looked for, if the columns have no names.
_HEAD_LINES = 100


def read_user_texts(
    file: BinaryIO, options: ReadingOptions, labels: Sequence[str], check: Callable[[], None]
) -> Iterator[tuple[str, str]]:
    """Yield each text of a file and the label in its row; the label is "" without a label column.

    Args:
        file: an open file with the texts.
        options: the reading options of the request.
        labels: labels of the model, which show which column is the label column.
        check: called while the file is read; may raise an error to stop.

    Raises:
        BadRequest: the file cannot be read, or has too many texts.
    """
    table = InputTable()
    options = _options(file, options, labels)
    lines = read_lines(file, options, check, table, keeps_cells=True)
    for count, line in enumerate(lines):
        if count > MOST_TEXTS:
            raise InvalidParameter(
                "data",
                f"it has more than {MOST_TEXTS:,} texts. Send a random sample.",
            )
        # Rows without a text say nothing about the wording of users.
        if line.error is None:
            at = _label_at(table.names, options.label_column)
            cells = line.cells or ()
            label = str(cells[at]) if at is not None and at < len(cells) else ""
            yield line.text, label.strip()


def _options(file: BinaryIO, options: ReadingOptions, labels: Sequence[str]) -> ReadingOptions:
    """Return `options`, completed for a file with two columns that have no names.

    The column with more cells that are labels of the model is the label column.
    """
    if options.header is not None or options.text_column:
        return options
    table = InputTable()
    lines = list(islice(read_lines(file, options, table=table, keeps_cells=True), _HEAD_LINES))
    cells = [line.cells or () for line in lines]
    known = {*labels, OUT_OF_DOMAIN_LABEL}
    # A first row with a label was taken for a header.
    first = [table.names] if any(table.names) else cells
    if len(table.names) != 2 or not any(str(one).strip() in known for row in first for one in row):
        return options
    rows = [table.names, *cells]
    counts = [sum(str(row[at]).strip() in known for row in rows if at < len(row)) for at in (0, 1)]
    # A text may be equal to a label, so the column with more labels holds them.
    if counts[0] == counts[1]:
        return options
    at = int(counts[1] > counts[0])
    return replace(options, header=False, text_column=str(2 - at), label_column=str(at + 1))


def _label_at(names: Sequence[str], column: str) -> int | None:
    """Return the index of the requested or recognised label column; None if there is none."""
    lowered = [name.strip().lower() for name in names]
    if column.isdecimal() and 1 <= int(column) <= max(len(names), 2):
        return int(column) - 1
    if column:
        if column.lower() not in lowered:
            shown = ", ".join(f"'{name}'" for name in names[:10])
            raise InvalidParameter("labelColumn", f"the file has no such column, but {shown}.")
        return lowered.index(column.lower())
    return next((lowered.index(name) for name in LABEL_COLUMNS if name in lowered), None)
