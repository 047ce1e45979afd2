"""Batches: one model predicts or reads many samples; the result has one line per sample.

A batch is divided into parts. A part is a list of lines that one worker processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, cast

from chalicelib.domain.datasets.dataset import DETECTION, IMAGE, LANGUAGE, MULTI_LABEL, VISION
from chalicelib.domain.datasets.upload_format import ReadingOptions, UploadWarning
from chalicelib.domain.datasets.windows import read_cost
from chalicelib.domain.documents.ocr import DocumentFindings
from chalicelib.domain.models.model import OCR
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.errors import InvalidParameter

if TYPE_CHECKING:
    from chalicelib.domain.models.judgement import Judgement, Placing

QUEUED, RUNNING, SUCCEEDED = "QUEUED", "RUNNING", "SUCCEEDED"
FAILED, CANCELLED = "FAILED", "CANCELLED"
BATCH_STATUSES = (QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED)
CSV, JSONL, XLSX = "csv", "jsonl", "xlsx"
# Formats of results, the default first.
BATCH_FORMATS = (JSONL, CSV, XLSX)
# Columns of a result: only the answers, or all columns of the input before them.
ANSWER, INPUT = "answer", "input"
INTENT, SENTIMENT = "intent", "sentiment"
PREDICT, DETECT, READ = "predict", "detect", "ocr"
RANK = "rank"
# Kinds of batches, and the types of the models that answer them.
KIND_TYPES: Mapping[str, tuple[str, ...]] = {
    INTENT: ("text-intent",),
    SENTIMENT: ("text-sentiment",),
    PREDICT: (IMAGE, MULTI_LABEL),
    DETECT: (DETECTION,),
    READ: (OCR,),
    RANK: ("text-intent", "text-sentiment", IMAGE, MULTI_LABEL),
}
# Ends of the names of result files, by kind; others are `classified`.
_RESULTS = {DETECT: "detected", READ: "read", RANK: "ranked"}
_SUFFIX = re.compile(r"\.(?:csv|tsv|txt|xlsx|jsonl?|zip|pdf|png|jpe?g|webp|heic)$", re.IGNORECASE)
_SLASHES = re.compile(r"[/\\]")
# Kinds of batches that a caller can choose, by family.
FAMILY_KINDS = {LANGUAGE: (INTENT, SENTIMENT), VISION: (PREDICT, DETECT, READ)}
# Names of the lines in messages, by family.
FAMILY_NOUNS = {LANGUAGE: "texts", VISION: "images"}
# Lines of a part by kind, so that a part takes seconds, or minutes for documents with many pages.
PART_LINES = {INTENT: 1_000, SENTIMENT: 1_000, PREDICT: 64, DETECT: 64, READ: 8}
# Maximum number of tokens of a part: as many as 1,000 texts of 128 tokens. Parts of long texts
# therefore have fewer lines, and take no longer.
PART_TOKENS = 128_000
# Maximum number of parts of one account that wait or run at a time, so that accounts take turns.
PARTS_AT_ONCE = 10
# Maximum number of lines of a batch. beyond.md, section 4.
MAX_BATCH_LINES = 1_000_000
# Maximum number of images or documents of a batch; an archive may have as many files.
MAX_BATCH_FILES = 100_000
# Maximum size in bytes of a text file that is read from a `path`. beyond.md, section 4.
MAX_BATCH_BYTES = 200 * 1024 * 1024
# Maximum number of unfinished batches of an account.
MAX_OPEN_BATCHES = 20
# Maximum number of batches of an account in total.
MAX_KEPT_BATCHES = 100
# Page size of lists of batches.
BATCHES_PAGE = 100
# A batch and its result expire 30 days after the call.
BATCH_KEPT = timedelta(days=30)
# The sweep repeats messages four times an hour; a batch fails after six hours without an answered
# part.
MAX_STALLS = 24
# Longest `id` of a line that is returned.
MAX_ID_CHARACTERS = 1_000


@dataclass(frozen=True)
class LineError:
    """The error of a line, with code and message as in the answer to a single call."""

    code: str
    message: str


@dataclass(frozen=True)
class BatchLine:
    """One sample of the input."""

    row: int
    """Row of the input, from 1, as a spreadsheet counts rows; in JSON the object's number."""
    line_id: str | None
    """The caller's `id`, if any."""
    text: str = ""
    """The text. For an image or document: its digest, or its offset and length in the bucket object
    that stores the files of the line's part."""
    error: LineError | None = None
    content: bytes | None = None
    """Bytes of an image or document; None after they were stored with the part's other files."""
    cells: Sequence[str | float | bool] | None = None
    """Cells of the input row, if the result repeats them; None after a part has stored them."""

    def to_json(self) -> list[object]:
        """Return the line as a list, to be stored as JSON in a part."""
        kept: list[object] = [self.row, self.line_id, self.text]
        return kept if self.error is None else [*kept, self.error.code, self.error.message]


def line_of(members: Sequence[object]) -> BatchLine:
    """Return the line that `BatchLine.to_json` converted to a list."""
    row, line_id, text, *error = members
    stored_error = LineError(*map(str, error)) if error else None
    return BatchLine(
        int(str(row)), None if line_id is None else str(line_id), str(text), stored_error
    )


@dataclass(frozen=True)
class AnsweredLine:
    """One line of the result."""

    line: BatchLine
    items: Sequence[Probability | Detection] = ()
    """Labels or objects, most probable first; empty after an error or if nothing was found."""
    error: LineError | None = None
    document: DocumentFindings | None = None
    task: str = ""
    judgement: Judgement | None = None
    placing: Placing | None = None


@dataclass(frozen=True)
class Batch:
    """A batch and its progress."""

    batch_id: str
    account_id: str
    family: str
    """`language` or `vision`."""
    name: str
    model_id: str
    model_version: str
    """Model version at the time of the call. This version answers all lines."""
    kind: str
    """One of KIND_TYPES."""
    format: str
    """One of BATCH_FORMATS."""
    source: Mapping[str, object]
    """Where the input is, and reading options.

    One of three members is set: `raw` if the call sent the file, `path` (with the `etag` of a file
    sent with a presigned form), or `dataset` (an id).
    """
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    model_type: str = ""
    count: int | None = None
    reading: Mapping[str, object] = field(default_factory=dict)
    """OCR options of a batch of documents."""
    columns: str = ANSWER
    """Columns of the result: ANSWER or INPUT."""
    review_below: float | None = None
    """Probability below which a result column marks lines for review; None for no such column."""
    warnings: Sequence[UploadWarning] = ()
    """Warnings about properties of the input that had to be guessed."""
    is_partial: bool = False
    """Whether to predict only the first lines if too few predictions are left in the month."""
    status: str = QUEUED
    """One of BATCH_STATUSES."""
    is_prepared: bool = False
    """Whether the parts are stored and the predictions reserved."""
    is_open: bool = True
    """Whether anything is left to do: lines, cleanup, or the release of predictions."""
    total: int = 0
    """Number of lines; 0 before they are counted."""
    covered: int = 0
    """Number of lines for which a prediction is reserved; these are the first lines."""
    month: str = ""
    """Month in which the predictions are counted; empty before they are reserved."""
    part_ends: Sequence[int] = ()
    """For each part, the number of lines in this part and all parts before it; empty if every part
    has `part_lines` lines.
    """
    parts_done: frozenset[str] = field(default_factory=frozenset)
    """Numbers of answered parts; `12:3` means that 3 lines of part 12 failed."""
    size_bytes: int = 0
    result: str = ""
    """Name of the result's object in the bucket; empty before there is a result."""
    message: str = ""
    """Why the batch FAILED."""
    fence: int = 0
    """Fence token, increased by each new worker lease. Writes with an older token are refused."""
    attempts: int = 0
    """Number of attempts at the current step, such as writing the result."""
    stalls: int = 0
    """How many times messages were sent again without any part being answered in between."""
    lease_until: int = 0
    """When the worker's lease on the current step ends, in milliseconds since 1970."""

    @property
    def part_lines(self) -> int:
        """Return the maximum number of lines of a part."""
        return part_lines(self.family, self.kind)

    @property
    def is_metered(self) -> bool:
        """Return whether each line counts as a prediction."""
        return self.kind != READ

    @property
    def is_table(self) -> bool:
        """Return whether the result is a table. Tables are written at the end of the batch."""
        is_asked = self.columns == INPUT or self.review_below is not None
        return self.kind != RANK and (self.format == XLSX or is_asked)

    @property
    def reads_cells(self) -> bool:
        """Return whether each text is stored with all cells of its input row."""
        return self.columns == INPUT and self.family == LANGUAGE and "dataset" not in self.source

    @property
    def reading_options(self) -> ReadingOptions:
        """Return the reading options for a batch of texts."""
        source = self.source
        return ReadingOptions(
            text_column=str(source.get("column", "")),
            delimiter=str(source.get("delimiter", "")),
            sheet=str(source.get("sheet", "")),
            encoding=str(source.get("encoding", "")),
            header=cast("bool | int | None", source.get("header")),
        )

    @property
    def parts(self) -> int:
        """Return the number of parts."""
        return len(self.part_ends) or -(-self.total // self.part_lines)

    def part_range(self, number: int) -> range:
        """Return the indexes of the lines in a part, from 0."""
        if self.part_ends:
            return range(self.part_ends[number - 1] if number else 0, self.part_ends[number])
        start = number * self.part_lines
        return range(start, min(start + self.part_lines, self.total))

    @cached_property
    def numbers_done(self) -> frozenset[int]:
        """Return the indexes of the answered parts, from 0."""
        return frozenset(int(entry.partition(":")[0]) for entry in self.parts_done)

    @property
    def lines_done(self) -> int:
        """Return the number of lines in the answered parts."""
        return sum(len(self.part_range(number)) for number in self.numbers_done)

    @property
    def lines_failed(self) -> int:
        """Return the number of lines that were answered with an error."""
        return sum(int(entry.partition(":")[2] or 0) for entry in self.parts_done)

    @property
    def is_answered(self) -> bool:
        """Return whether every part is answered."""
        return self.is_prepared and len(self.parts_done) == self.parts

    @property
    def is_over(self) -> bool:
        """Return whether the status is final."""
        return self.status in (SUCCEEDED, FAILED, CANCELLED)

    @property
    def cost(self) -> int:
        """Return how many predictions the batch costs: one per line answered without an error.

        A FAILED batch and a cancelled ranking have no result, so they cost nothing.
        """
        # Lines are ranked only when all are answered, so a cancelled ranking has no result.
        has_none = self.status == FAILED or (self.status == CANCELLED and self.kind == RANK)
        return 0 if has_none else self.lines_done - self.lines_failed

    @property
    def file_name(self) -> str:
        """Return the name under which a browser saves the result."""
        stem = _SUFFIX.sub("", _SLASHES.sub("-", self.name))
        return f"{stem}-{_RESULTS.get(self.kind, 'classified')}.{self.format}"


def part_lines(family: str, kind: str) -> int:
    """Return the maximum number of lines in a part."""
    if kind == RANK:
        # A ranking computes predictions, so its parts have the same size.
        kind = PREDICT if family == VISION else INTENT
    return PART_LINES[kind]


def lines_of_part(lines: Iterator[BatchLine], batch: Batch) -> Iterator[BatchLine]:
    """Yield the lines of the next part: `part_lines` lines, or fewer if the texts are long."""
    cost = 0
    for line in islice(lines, batch.part_lines):
        yield line
        # The lines of files hold no text, only the place of the bytes.
        cost += read_cost(line.text) if batch.family == LANGUAGE else 0
        if cost >= PART_TOKENS:
            return


def part_entry(number: int, failed: int) -> str:
    """Return the text that `Batch.parts_done` stores for a part with `failed` failed lines."""
    return f"{number}:{failed}" if failed else str(number)


def checked_kind(value: str | None, family: str, model_type: str) -> str:
    """Return the kind of a batch: the requested kind, or by default the kind for the model's type.

    Raises:
        InvalidParameter: no kind of the family fits the model's type.
    """
    if value is not None:
        return value
    kinds = {one: kind for kind in FAMILY_KINDS[family] for one in KIND_TYPES[kind]}
    if model_type not in kinds:
        raise InvalidParameter(
            "modelId",
            f"the model is of type {model_type}; a batch of {FAMILY_NOUNS[family]} takes one of "
            f"type {' or '.join(kinds)}.",
        )
    return kinds[model_type]
