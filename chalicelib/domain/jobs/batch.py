"""Batches: many samples answered by one model, with a line of the result for each one sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.domain.datasets.dataset import DETECTION, IMAGE, LANGUAGE, MULTI_LABEL, VISION
from chalicelib.domain.documents.ocr import DocumentFindings
from chalicelib.domain.models.model import OCR
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.errors import InvalidParameter

if TYPE_CHECKING:
    from chalicelib.domain.models.judgement import Judgement, Placing

QUEUED, RUNNING, SUCCEEDED = "QUEUED", "RUNNING", "SUCCEEDED"
FAILED, CANCELLED = "FAILED", "CANCELLED"
BATCH_STATUSES = (QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED)
CSV, JSONL = "csv", "jsonl"
# Formats of results, the default first.
BATCH_FORMATS = (JSONL, CSV)
INTENT, SENTIMENT = "intent", "sentiment"
PREDICT, DETECT, READ = "predict", "detect", "ocr"
RANK = "rank"
# What is asked of each line, and the types of the models that answer it.
KIND_TYPES: Mapping[str, tuple[str, ...]] = {
    INTENT: ("text-intent",),
    SENTIMENT: ("text-sentiment",),
    PREDICT: (IMAGE, MULTI_LABEL),
    DETECT: (DETECTION,),
    READ: (OCR,),
    RANK: ("text-intent", "text-sentiment", IMAGE, MULTI_LABEL),
}
# What may be asked in each family.
FAMILY_KINDS = {LANGUAGE: (INTENT, SENTIMENT), VISION: (PREDICT, DETECT, READ)}
# What the lines of each family are.
FAMILY_NOUNS = {LANGUAGE: "texts", VISION: "pictures"}
# Lines of a part by what is asked: seconds of work, or minutes where documents have many pages.
PART_LINES = {INTENT: 1_000, SENTIMENT: 1_000, PREDICT: 64, DETECT: 64, READ: 8}
# Parts of one account that wait or are worked on at a time, so that accounts take turns.
PARTS_AT_ONCE = 10
# Lines of a batch. Beyond, section 4.
MAX_BATCH_LINES = 1_000_000
# Pictures or documents of a batch: as many as an archive may have.
MAX_BATCH_FILES = 100_000
# Bytes of a file of texts that is read from a `path`. Beyond, section 4.
MAX_BATCH_BYTES = 200 * 1024 * 1024
# Batches of an account that have not ended.
MAX_OPEN_BATCHES = 20
# Batches of an account in all.
MAX_KEPT_BATCHES = 100
# Page size of lists of batches.
BATCHES_PAGE = 100
# How long a batch and its result are there, from the call that asks for it.
BATCH_KEPT = timedelta(days=30)
# How often parts are announced again, four times an hour, while none of them is answered.
MAX_STALLS = 24
# Longest `id` of a line that comes back.
MAX_ID_CHARACTERS = 1_000


@dataclass(frozen=True)
class LineError:
    """Why a line has no answer, as the single call would say it."""

    code: str
    """For programs."""
    message: str
    """For people."""


@dataclass(frozen=True)
class BatchLine:
    """One line of the input."""

    row: int
    """Number of its row, from 1, as a spreadsheet counts; of its object in JSON."""
    line_id: str | None
    """Its `id`, where it has one."""
    text: str = ""
    """What is asked: a text, the digest of a dataset's picture, or where the file's bytes stand."""
    error: LineError | None = None
    """Why it cannot be asked."""
    content: bytes | None = None
    """Bytes of a file, until they are written beside the lines of its part."""

    def to_json(self) -> list[object]:
        """Return what a part keeps of it."""
        kept: list[object] = [self.row, self.line_id, self.text]
        return kept if self.error is None else [*kept, self.error.code, self.error.message]


def line_of(kept: Sequence[object]) -> BatchLine:
    """Return the line that a part has kept."""
    row, line_id, text, *error = kept
    told = LineError(*map(str, error)) if error else None
    return BatchLine(int(str(row)), None if line_id is None else str(line_id), str(text), told)


@dataclass(frozen=True)
class AnsweredLine:
    """One line of the result."""

    line: BatchLine
    """What was asked."""
    items: Sequence[Probability | Detection] = ()
    """Labels or objects, most probable first; none where there is an error, or none was found."""
    error: LineError | None = None
    """Why there is no answer."""
    document: DocumentFindings | None = None
    """What was read in a document."""
    task: str = ""
    """What was looked for in it."""
    judgement: Judgement | None = None
    """What the model makes of it, where lines are to be ranked."""
    placing: Placing | None = None
    """Its place in a ranking."""


@dataclass(frozen=True)
class Batch:
    """A batch and how far it is."""

    batch_id: str
    """String id."""
    account_id: str
    """Owner."""
    family: str
    """`language` or `vision`."""
    name: str
    """As the caller calls it."""
    model_id: str
    """What answers."""
    model_version: str
    """Version of the model when the batch was asked for; it answers to the end."""
    kind: str
    """What is asked: one of KIND_TYPES."""
    format: str
    """One of BATCH_FORMATS."""
    source: Mapping[str, object]
    """Where the input is: `raw`, `path` with its `etag`, or `dataset`; and its `column`."""
    created_at: datetime
    """When it was asked for."""
    updated_at: datetime
    """When it last got further."""
    expires_at: datetime
    """When it is gone."""
    model_type: str = ""
    count: int | None = None
    """Most labels of an answer."""
    reading: Mapping[str, object] = field(default_factory=dict)
    """The fields of a call that reads a document, where that is asked for."""
    is_partial: bool = False
    """Whether it takes what the allowance still covers."""
    status: str = QUEUED
    """One of BATCH_STATUSES."""
    is_prepared: bool = False
    """Whether its parts are written and its predictions reserved."""
    is_open: bool = True
    """Whether something is left to do: work, or to clear away and give back."""
    total: int = 0
    """Lines, once they are counted."""
    covered: int = 0
    """Lines, from the first on, that predictions are reserved for."""
    month: str = ""
    """Month in which they are reserved; empty before."""
    parts_done: frozenset[str] = field(default_factory=frozenset)
    """Numbers of the parts that are answered, `12:3` where 3 lines of part 12 have failed."""
    size_bytes: int = 0
    """Bytes of the result, once it is written."""
    result: str = ""
    """Name of the result's object; empty while there is none."""
    message: str = ""
    """Why it FAILED."""
    fence: int = 0
    """Grows with every owner; what an older one writes is refused."""
    attempts: int = 0
    """How often the step before or after the parts was taken."""
    stalls: int = 0
    """How often it had to be announced again since a part was answered."""
    lease_until: int = 0
    """Until when a worker owns such a step, in milliseconds since 1970."""

    @property
    def part_lines(self) -> int:
        """Lines of a part; the last one may have fewer."""
        return part_lines(self.family, self.kind)

    @property
    def is_metered(self) -> bool:
        """Whether its lines are counted as predictions."""
        return self.kind != READ

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.total // self.part_lines)

    @cached_property
    def numbers_done(self) -> frozenset[int]:
        """Numbers of the parts that are answered."""
        return frozenset(int(entry.partition(":")[0]) for entry in self.parts_done)

    @property
    def lines_done(self) -> int:
        """Lines of the parts that are answered."""
        missing = self.parts * self.part_lines - self.total
        is_last_done = bool(self.parts) and self.parts - 1 in self.numbers_done
        return len(self.numbers_done) * self.part_lines - (missing if is_last_done else 0)

    @property
    def lines_failed(self) -> int:
        """Lines that were answered with an error."""
        return sum(int(entry.partition(":")[2] or 0) for entry in self.parts_done)

    @property
    def is_answered(self) -> bool:
        """Whether every part is answered."""
        return self.is_prepared and len(self.parts_done) == self.parts

    @property
    def is_over(self) -> bool:
        """Whether its status stays as it is."""
        return self.status in (SUCCEEDED, FAILED, CANCELLED)

    @property
    def counted(self) -> int:
        """Predictions that stay counted when it is over: the answers that its result holds.

        Lines are ranked when all of them are answered, so a ranking that is cancelled has nothing.
        """
        has_none = self.status == FAILED or (self.status == CANCELLED and self.kind == RANK)
        return 0 if has_none else self.lines_done - self.lines_failed

    @property
    def file_name(self) -> str:
        """Name under which a browser keeps the result."""
        return f"batch-{self.batch_id}.{self.format}"


def part_lines(family: str, kind: str) -> int:
    """Return how many lines a part has; those of a ranking are as large as of predictions."""
    if kind == RANK:
        kind = PREDICT if family == VISION else INTENT
    return PART_LINES[kind]


def part_entry(number: int, failed: int) -> str:
    """Return what `parts_done` holds of a part."""
    return f"{number}:{failed}" if failed else str(number)


def checked_kind(sent: str | None, family: str, model_type: str) -> str:
    """Return what a batch asks of each line; the model's type decides where nothing is sent.

    Raises:
        InvalidParameter: models of this type answer nothing of the family.
    """
    if sent is not None:
        return sent
    kinds = {one: kind for kind in FAMILY_KINDS[family] for one in KIND_TYPES[kind]}
    if model_type not in kinds:
        raise InvalidParameter(
            "modelId",
            f"the model is of type {model_type}; a batch of {FAMILY_NOUNS[family]} takes one of "
            f"type {' or '.join(kinds)}.",
        )
    return kinds[model_type]
