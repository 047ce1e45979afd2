"""The lines of a batch's result: what single calls answer, one a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.jobs.batch import CSV, AnsweredLine
from chalicelib.web.records import describe
from chalicelib.web.records.model_records import ProbabilityRecord


class LineErrorRecord(msgspec.Struct):
    """Why a line has no answer, as an answer to a single call says it."""

    code: str
    message: str


class BatchLineRecord(msgspec.Struct):
    """A line of a result: its `id`, or its row where it has none, and the answer."""

    id: str | UnsetType
    row: int | UnsetType
    probabilities: list[ProbabilityRecord] | UnsetType
    error: LineErrorRecord | UnsetType


def write_lines(kind: str, lines: Iterable[AnsweredLine]) -> bytes:
    """Write lines of a result.

    Args:
        kind: `jsonl`, or `csv` with the most probable label alone.
        lines: in the order of the input.
    """
    if kind == CSV:
        return _csv(lines)
    return b"".join(msgspec.json.encode(_record(line)) + b"\n" for line in lines)


def _record(answered: AnsweredLine) -> BatchLineRecord:
    line, error = answered.line, answered.error
    return BatchLineRecord(
        id=UNSET if line.line_id is None else line.line_id,
        row=line.row if line.line_id is None else UNSET,
        probabilities=UNSET if error else describe.prediction(answered.items, UNSET).probabilities,
        error=LineErrorRecord(error.code, error.message) if error else UNSET,
    )


def _csv(lines: Iterable[AnsweredLine]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    for answered in lines:
        line, error = answered.line, answered.error
        best = answered.items[0] if answered.items else None
        writer.writerow(
            (
                line.row,
                line.line_id or "",
                best.label if best else "",
                repr(best.probability) if best else "",
                error.code if error else "",
                error.message if error else "",
            )
        )
    return text.getvalue().encode()
