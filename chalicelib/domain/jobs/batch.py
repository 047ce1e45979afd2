"""Batches: many texts answered by one model, with one line of the result for each line sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from chalicelib.domain.models.prediction import Probability
from chalicelib.errors import InvalidParameter

QUEUED, RUNNING, SUCCEEDED = "QUEUED", "RUNNING", "SUCCEEDED"
FAILED, CANCELLED = "FAILED", "CANCELLED"
BATCH_STATUSES = (QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED)
CSV, JSONL = "csv", "jsonl"
BATCH_FORMATS = (JSONL, CSV)
"""Formats of results, the default first."""
TEXT_KINDS = {"intent": "text-intent", "sentiment": "text-sentiment"}
"""What is asked of each text, and the type of the models that answer it."""
PART_LINES = 1_000
"""Lines of a part, a few seconds of work."""
PARTS_AT_ONCE = 10
"""Parts of one account that wait or are worked on at a time, so that accounts take turns."""
MAX_BATCH_LINES = 1_000_000
"""Lines of a batch. Beyond, section 4."""
MAX_BATCH_BYTES = 200 * 1024 * 1024
"""Bytes of a file of texts that is read from a `path`. Beyond, section 4."""
MAX_OPEN_BATCHES = 20
"""Batches of an account that have not ended."""
MAX_KEPT_BATCHES = 100
"""Batches of an account in all."""
BATCHES_PAGE = 100
"""Page size of lists of batches."""
BATCH_KEPT = timedelta(days=30)
"""How long a batch and its result are there, from the call that asks for it."""
MAX_STALLS = 24
"""How often parts are announced again, four times an hour, while none of them is answered."""
MAX_ID_CHARACTERS = 1_000
"""Longest `id` of a line that comes back."""


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
    """What is asked."""
    error: LineError | None = None
    """Why it cannot be asked."""

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
    items: Sequence[Probability]
    """Labels, most probable first; none where there is an error, or no label fits."""
    error: LineError | None = None
    """Why there is no answer."""


@dataclass(frozen=True)
class Batch:
    """A batch and how far it is."""

    batch_id: str
    """String id."""
    account_id: str
    """Owner."""
    family: str
    """`language`."""
    name: str
    """As the caller calls it."""
    model_id: str
    """What answers."""
    model_version: str
    """Version of the model when the batch was asked for; it answers to the end."""
    kind: str
    """What is asked: one of TEXT_KINDS."""
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
    count: int | None = None
    """Most labels of an answer."""
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
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.total // PART_LINES)

    @cached_property
    def numbers_done(self) -> frozenset[int]:
        """Numbers of the parts that are answered."""
        return frozenset(int(entry.partition(":")[0]) for entry in self.parts_done)

    @property
    def lines_done(self) -> int:
        """Lines of the parts that are answered."""
        missing = self.parts * PART_LINES - self.total
        is_last_done = bool(self.parts) and self.parts - 1 in self.numbers_done
        return len(self.numbers_done) * PART_LINES - (missing if is_last_done else 0)

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
        """Predictions that stay counted when it is over: the answers that its result holds."""
        return 0 if self.status == FAILED else self.lines_done - self.lines_failed

    @property
    def file_name(self) -> str:
        """Name under which a browser keeps the result."""
        return f"batch-{self.batch_id}.{self.format}"


def part_entry(number: int, failed: int) -> str:
    """Return what `parts_done` holds of a part."""
    return f"{number}:{failed}" if failed else str(number)


def checked_kind(sent: str | None, model_type: str) -> str:
    """Return what a batch asks of each text; the model's type decides where nothing is sent.

    Raises:
        InvalidParameter: models of this type answer no texts.
    """
    kinds = {dataset_type: kind for kind, dataset_type in TEXT_KINDS.items()}
    if sent is not None:
        return sent
    if model_type not in kinds:
        raise InvalidParameter(
            "modelId",
            f"the model is of type {model_type}; a batch of texts takes one of type "
            f"{' or '.join(kinds)}.",
        )
    return kinds[model_type]
