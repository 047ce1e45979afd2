"""Writes batch results as tables. A row has the cells or the number of a line, then its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.jobs.batch import CSV, INPUT, XLSX, AnsweredLine, Batch, BatchLine
from chalicelib.domain.jobs.batch_table import Cell, InputTable, own_columns
from chalicelib.formats.exports.tables import (
    estimate,
    hide_formula,
    stream_csv,
    stream_workbook,
)

if TYPE_CHECKING:
    from chalicelib.stores.jobs.batch_files import BatchFiles

# Names of the input's columns where it is not a table.
_FILE, _DATASET, _ANSWER = ("file",), ("id", "text"), ("row", "id")
_REVIEW = "yes"
# Bytes of the longest label in XML, of a probability and of an error.
_PAIR_BYTES, _ERROR_BYTES = 1_200, 500
_CHECK_ROWS = 1_000


class TableWork:
    """Stores input cells and answers by part, and joins all parts to one table at the end."""

    def __init__(self, files: BatchFiles) -> None:
        self._files = files

    def with_cells(
        self, batch: Batch, table: InputTable, lines: Iterable[BatchLine]
    ) -> Iterator[BatchLine]:
        """Yield each line with its input cells, which the result shows before the answer."""
        if not batch.is_table:
            yield from lines
            return
        if not batch.reads_cells:
            table.names += _names(batch)
        for line in lines:
            if line.cells is None:
                cells = _cells(batch, line)
                table.add(line.row, cells)
                line = replace(line, cells=cells)
            yield line

    def put_columns(self, batch: Batch, table: InputTable) -> None:
        """Store the input columns, after all lines of the input were read."""
        if batch.is_table:
            self._files.put_columns(
                batch,
                {
                    "names": table.names,
                    "sheet": table.sheet,
                    "cells": table.cells,
                    "bytes": table.bytes,
                },
            )

    def content(self, batch: Batch, lines: Iterable[AnsweredLine]) -> bytes:
        """Encode a part's answers for storage: one JSON array of answer cells per line."""
        width = len(own_columns(batch))
        return b"".join(
            msgspec.json.encode(_answer_cells(batch, line, width)) + b"\n" for line in lines
        )

    def chunks(self, batch: Batch, check: Callable[[], None]) -> Iterator[bytes]:
        """Yield the bytes of the result, made from all answered parts.

        `check` is called often, and may raise an error to stop.

        Raises:
            StorageUnavailable: a part is missing because another worker has finished the batch.
        """
        found = self._files.columns(batch)
        names: list[str] = found["names"]
        own = own_columns(batch, names)
        if batch.reads_cells and not any(names):
            names = [f"column_{number}" for number in range(1, len(names) + 1)]
        rows = self._rows(batch, len(names), check)
        if batch.format == CSV:
            return stream_csv([*names, *own], rows)
        # Counted before the first byte, because the form of a large zip member differs.
        size = estimate(found["cells"] + batch.total * (len(own) + 1), found["bytes"])
        size += batch.total * (len(own) // 2 * _PAIR_BYTES + _ERROR_BYTES)
        return stream_workbook(found["sheet"], [*names, *own], rows, size)

    def _rows(self, batch: Batch, width: int, check: Callable[[], None]) -> Iterator[list[Cell]]:
        for number in sorted(batch.numbers_done):
            check()
            answers = self._files.answers(batch, number).splitlines()
            for at, cells in enumerate(self._files.cells(batch, number)):
                if at % _CHECK_ROWS == 0:
                    check()
                yield [*cells, *[""] * (width - len(cells)), *msgspec.json.decode(answers[at])]


def _names(batch: Batch) -> tuple[str, ...]:
    if batch.columns != INPUT:
        return _ANSWER
    return _FILE if batch.family == VISION else _DATASET


def _cells(batch: Batch, line: BatchLine) -> list[Cell]:
    line_id = line.line_id or ""
    if batch.columns != INPUT:
        return [line.row, line_id]
    return [line_id] if batch.family == VISION else [line_id, line.text]


def _answer_cells(batch: Batch, line: AnsweredLine, width: int) -> list[Cell]:
    """Return the `width` answer cells that follow a line's input cells; "" for missing values."""
    error, is_input = line.error, batch.columns == INPUT
    ends: list[Cell] = [error.message if error else ""]
    if not is_input:
        ends.insert(0, error.code if error else "")
    best = line.items[0].probability if line.items else None
    if batch.review_below is not None:
        ends.insert(0, _REVIEW if best is not None and best < batch.review_below else "")
    cells: list[Cell] = []
    for item in line.items[: (batch.count or 1) if is_input else 1]:
        cells += [item.label, item.probability]
    cells += [""] * (width - len(ends) - len(cells))
    cells += ends
    if batch.format == XLSX:
        return cells
    return [hide_formula(cell) if isinstance(cell, str) else cell for cell in cells]
