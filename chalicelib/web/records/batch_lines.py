"""Writes the result lines of batches. Each has the answer that a single call would get."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.jobs.batch import CSV, AnsweredLine, BatchLine
from chalicelib.domain.models.judgement import Placing
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.web.records import describe
from chalicelib.web.records.describe_ocr import ocr_answer
from chalicelib.web.records.ocr_records import (
    FormFieldRecord,
    OcrRecord,
    PageNoteRecord,
    PageRecord,
    UnreadRecord,
)


class LineErrorRecord(msgspec.Struct):
    """The error of a line, as the answer to a single call would have it."""

    code: str
    message: str


class BatchLineRecord(msgspec.Struct, rename="camel"):
    """A line of a batch result: the answer, and the line's `id`; without an id, the line's row."""

    id: str | UnsetType
    row: int | UnsetType
    task: str | UnsetType = UNSET
    probabilities: list[Any] | UnsetType = UNSET
    pages: list[PageRecord] | UnsetType = UNSET
    form_fields: list[FormFieldRecord] | UnsetType = UNSET
    page_notes: list[PageNoteRecord] | UnsetType = UNSET
    unread: list[UnreadRecord] | UnsetType = UNSET
    document: str | UnsetType = UNSET
    error: LineErrorRecord | UnsetType = UNSET


class RankedLineRecord(msgspec.Struct):
    """A line of a ranking: a sample to label, why, and the prediction of the model."""

    rank: int
    id: str | UnsetType
    row: int | UnsetType
    score: float
    reason: str
    text: str | UnsetType
    suggestion: str | UnsetType
    confidence: float | UnsetType


def write_lines(kind: str, lines: Iterable[AnsweredLine]) -> bytes:
    """Return result lines in a format: `jsonl`, or `csv` with only the most probable label."""
    if kind == CSV:
        return _csv(lines)
    return b"".join(msgspec.json.encode(_record(line)) + b"\n" for line in lines)


def _record(answer: AnsweredLine) -> BatchLineRecord | RankedLineRecord:
    line, error = answer.line, answer.error
    if answer.placing is not None:
        return _ranked(line, answer.placing, _best(answer))
    record = BatchLineRecord(
        id=UNSET if line.line_id is None else line.line_id,
        row=line.row if line.line_id is None else UNSET,
    )
    if error is not None:
        record.error = LineErrorRecord(error.code, error.message)
        return record
    found = _answer(answer)
    # The members of an answer without its `object` and `sampleId`.
    for member in BatchLineRecord.__struct_fields__[2:-1]:
        setattr(record, member, getattr(found, member, UNSET))
    return record


def _best(answer: AnsweredLine) -> Probability | Detection | None:
    return answer.items[0] if answer.items else None


def _ranked(
    line: BatchLine, placing: Placing, best: Probability | Detection | None
) -> RankedLineRecord:
    return RankedLineRecord(
        rank=placing.rank,
        id=UNSET if line.line_id is None else line.line_id,
        row=line.row if line.line_id is None else UNSET,
        score=round(placing.score, 6),
        reason=placing.reason,
        text=UNSET if placing.text is None else placing.text,
        suggestion=UNSET if best is None else best.label,
        confidence=UNSET if best is None else best.probability,
    )


def _ranked_cells(
    line: BatchLine, placing: Placing, best: Probability | Detection | None
) -> tuple[object, ...]:
    """Return the CSV cells of one line of a ranking."""
    # Text and label are columns of an upload, so a corrected ranking can be uploaded.
    return (
        placing.rank,
        line.row,
        line.line_id or "",
        placing.text or "",
        best.label if best else "",
        # All digits, so that CSV and JSON have the same number.
        repr(best.probability) if best else "",
        repr(round(placing.score, 6)),
        placing.reason,
    )


def _answer(answer: AnsweredLine) -> Any:
    """Return the record of a line's answer, the same as in the answer to a single call."""
    if answer.document is not None:
        return _read(answer)
    detections = [item for item in answer.items if isinstance(item, Detection)]
    if detections:
        return describe.detection(detections, UNSET)
    labels = [item for item in answer.items if isinstance(item, Probability)]
    return describe.prediction(labels, UNSET)


def _read(answer: AnsweredLine) -> OcrRecord:
    """Return the record of the document that was read for a line of the batch."""
    line, document = answer.line, answer.document
    if document is None:
        raise TypeError("The line has no document.")

    def table_id(number: int) -> UUID:
        # Not random, because a repeated part must write the same bytes.
        return uuid5(NAMESPACE_OID, f"{line.row} {line.line_id} {number}")

    return ocr_answer(answer.task, document, table_id=table_id)


def _csv(lines: Iterable[AnsweredLine]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    for answered in lines:
        line, error, best = answered.line, answered.error, _best(answered)
        if answered.placing is not None:
            writer.writerow(_ranked_cells(line, answered.placing, best))
            continue
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
