"""Answers batches: prepares them, does their parts, puts the result together, settles the count.

A batch runs as a few chains of parts through the queue: a worker that has answered a part sends
the message of the next part of its chain. So an account never has more than those waiting,
however much it asked for, and accounts take turns as the queue serves them. Every step may be
repeated: parts write the same bytes again, and the row counts each of them once.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Protocol

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.domain.accounts.batch_allowances import BatchAllowances
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import DELETION_PENDING
from chalicelib.domain.datasets.upload import UploadedFile, claimed_file
from chalicelib.domain.jobs.batch import (
    CANCELLED,
    CSV,
    FAILED,
    MAX_STALLS,
    PARTS_AT_ONCE,
    QUEUED,
    RANK,
    RUNNING,
    AnsweredLine,
    Batch,
    BatchLine,
    LineError,
)
from chalicelib.domain.jobs.batch_work import BatchWork
from chalicelib.domain.jobs.lease import is_owned
from chalicelib.domain.jobs.messages import BatchJob, batch_job
from chalicelib.errors import (
    Conflict,
    DownloadFailed,
    InvalidUpload,
    LeaseLost,
    ModelNotFound,
    NotFound,
    PredictionQuotaExceeded,
    ServiceError,
    StorageUnavailable,
    TooLarge,
)
from chalicelib.stores.jobs.batch_files import result_name
from chalicelib.stores.jobs.heartbeats import Heartbeat
from chalicelib.stores.jobs.queues import EMBED

if TYPE_CHECKING:
    from chalicelib.stores.accounts.accounts import AccountStore
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.batch_files import BatchFiles
    from chalicelib.stores.jobs.batches import BatchStore
    from chalicelib.stores.jobs.events import Events
    from chalicelib.stores.jobs.queues import Queues
    from chalicelib.stores.models.served import ServedModels

WriteLines = Callable[[str, Iterable[AnsweredLine]], bytes]
"""Writes lines of a result in its format, as single calls are answered."""
NOT_COVERED = LineError(
    PredictionQuotaExceeded.code, "No prediction of this month was left for this line."
)
"""What is said of lines beyond those that a partial batch has predictions for."""
# Header of a result in CSV.
CSV_HEAD = b"row,id,label,probability,code,message\r\n"
# Header of a ranking in CSV.
RANKING_HEAD = b"rank,row,id,text,label,confidence,score,reason\r\n"
_DOWNLOAD_SECONDS = 600.0
_REFUSALS = (DownloadFailed, InvalidUpload, PredictionQuotaExceeded, TooLarge)


@dataclass(frozen=True, kw_only=True)
class BatchRunServiceStores:
    """The stores that `BatchRunService` uses."""

    accounts: AccountStore
    batch_files: BatchFiles
    batches: BatchStore
    datasets: DatasetStore
    downloads: Downloader
    events: Events
    queues: Queues
    served_models: ServedModels
    uploaded_files: UploadedFileStore


class Ranker(Protocol):
    """Selects the lines of a ranking."""

    def content(self, lines: Iterable[AnsweredLine]) -> bytes:
        """Return the stored form of a part."""

    def chosen(self, batch: Batch, check: Callable[[], None]) -> list[AnsweredLine]:
        """Select the lines that are most worth labelling, the best one first."""


@dataclass(frozen=True)
class BatchWriters:
    """What `BatchRunService` writes results with."""

    write_lines: WriteLines
    """Writes answered lines in the format of the result."""
    ranker: Ranker
    """Selects the lines of a ranking."""


class BatchRunService:
    """Runs the jobs of batches."""

    def __init__(
        self,
        stores: BatchRunServiceStores,
        allowances: BatchAllowances,
        works: Mapping[str, BatchWork],
        writers: BatchWriters,
        clock: Clock,
        settings: Settings,
    ) -> None:
        """Store the dependencies.

        Args:
            stores: rows, files and queues.
            allowances: counts lines.
            works: the work that is specific to a family, by family.
            writers: write the results of parts and whole batches.
            clock: returns the current time.
            settings: leases and attempts.
        """
        self._stores = stores
        self._batches = stores.batches
        self._files = stores.batch_files
        self._allowances = allowances
        self._works = works
        self._ranker = writers.ranker
        self._write_lines = writers.write_lines
        self._clock = clock
        self._settings = settings

    def run(self, job: BatchJob, delivery: int = 1) -> None:
        """Do a part of a batch, or the step that is next.

        Args:
            job: as made by `batch_job`.
            delivery: how often the queue has brought this message.
        """
        batch = self._batches.find(job.account_id, job.batch_id)
        if batch is None:
            return
        if not batch.is_over and batch.expires_at <= self._clock():
            self._fail(batch, "It was not answered before it expired.")
        elif job.part is not None:
            self._run_part(batch, job.part, delivery)
        else:
            self._take_next_step(batch)

    def prepare(self, batch: Batch) -> None:
        """Write the parts of a batch, reserve its predictions, and let it begin in its turn.

        Raises:
            InvalidUpload, DownloadFailed, TooLarge: the input cannot be read, or holds nothing.
            PredictionQuotaExceeded: not enough predictions are left.
            LeaseLost: another worker has it, or it is over.
        """
        with self._owned(batch) as (owned, check):
            total = self._write_parts(owned, check)
            month = owned.month or (self._allowances.month() if owned.is_metered else "")
            self._batches.count(owned, total, month)
            self._reserve(replace(owned, total=total, month=month))
        self._start_next(batch.account_id)

    def settle(self, batch: Batch) -> None:
        """Settle a finished batch: release predictions, delete files, start the next batch."""
        now = to_milliseconds(self._clock())
        if is_owned(batch.lease_until, now):
            # A worker that prepares it may be about to reserve predictions, so settle it later.
            seconds = (batch.lease_until - now) / 1000
            self._send(batch, delay_seconds=min(900, math.ceil(seconds)))
            return
        result, size = batch.result, batch.size_bytes
        has_lines = batch.parts_done and batch.kind != RANK
        if batch.status == CANCELLED and has_lines and batch.is_open:
            result = result_name(batch, "cancelled")
            size = self._put_result(batch, result, lambda: None)
        self._allowances.settle(batch, batch.counted)
        self._files.delete_work(batch, result)
        self._delete_upload(batch)
        # Before the last write: after a crash in between, the retry emits the event again.
        self._tell(batch)
        self._batches.close(batch, result, size)
        failed = batch.total - batch.counted
        journal.batch_done(batch.batch_id, batch.status, batch.counted, failed)
        self._start_next(batch.account_id)

    def _tell(self, batch: Batch) -> None:
        """Tell webhooks how a batch has ended."""
        event = "batch.failed" if batch.status == FAILED else "batch.done"
        data = {"id": batch.batch_id, "modelId": batch.model_id, "status": batch.status}
        self._stores.events.emit(batch.account_id, event, family=batch.family, **data)

    def _take_next_step(self, batch: Batch) -> None:
        """Take the next step."""
        if batch.is_over:
            if batch.is_open:
                self.settle(batch)
        elif not batch.is_prepared:
            self._attempt(batch, self.prepare)
        elif batch.status == QUEUED:
            self._start_next(batch.account_id)
        elif batch.is_answered:
            self._attempt(batch, self._finish)
        else:
            self._resume(batch)

    def _attempt(self, batch: Batch, step: Callable[[Batch], None]) -> None:
        """Take a step; what refuses it ends the batch, and so does one attempt too many."""
        if batch.attempts >= self._settings.max_attempts:
            self._give_up(batch, f"was broken off {self._settings.max_attempts} times")
            return
        try:
            step(batch)
        except LeaseLost:
            log.warning("batch_lease_lost", batch=batch.batch_id)
        except _REFUSALS as refusal:
            self._fail(batch, str(refusal))

    @contextmanager
    def _owned(self, batch: Batch) -> Iterator[tuple[Batch, Callable[[], None]]]:
        """Own a step while the block runs; when it fails, another may take it up at once.

        Yields:
            The batch, and what raises once the step is lost.

        Raises:
            LeaseLost: another worker has it, or it is over.
        """
        found = self._batches.find(batch.account_id, batch.batch_id)
        owned = None if found is None else self._batches.acquire(found)
        if owned is None:
            raise LeaseLost
        try:
            lease = Heartbeat(lambda: self._batches.renew(owned), self._settings.lease_seconds)
            with lease:
                yield owned, lease.check
        except ServiceError:
            with suppress(LeaseLost, StorageUnavailable):
                self._batches.release(owned)
            raise

    def _reserve(self, owned: Batch) -> None:
        """Reserve predictions, and note it; what is reserved for a batch that is over goes back.

        Raises:
            PredictionQuotaExceeded: not enough are left.
            LeaseLost: another worker has it, or it is over.
        """
        account = self._stores.accounts.get(owned.account_id)
        if account is None:
            raise LeaseLost
        covered = self._allowances.reserve(account, owned) if owned.is_metered else owned.total
        try:
            self._batches.prepared(owned, covered)
        except LeaseLost:
            found = self._batches.find(owned.account_id, owned.batch_id)
            if found is None or found.is_over:
                self._allowances.settle(owned, 0)
            raise

    def _write_parts(self, batch: Batch, check: Callable[[], None]) -> int:
        """Cut the input into parts; return how many lines it has."""
        total = 0
        with tempfile.TemporaryFile() as file:
            lines = self._lines(batch, file, check)
            for number in range(10**9):
                check()
                count = self._files.put_part(batch, number, islice(lines, batch.part_lines))
                if not count:
                    break
                total += count
        if not total:
            raise InvalidUpload("The input holds no line to answer.")
        return total

    def _lines(
        self, batch: Batch, file: BinaryIO, check: Callable[[], None]
    ) -> Iterator[BatchLine]:
        """Read the input, wherever it is.

        Raises:
            InvalidUpload, DownloadFailed, TooLarge: it cannot be read, or holds nothing.
        """
        source = batch.source
        if "dataset" in source:
            return self._dataset_lines(batch, int(str(source["dataset"])))
        if "raw" in source:
            if not self._files.read_input(batch, file):
                raise StorageUnavailable
        elif uploaded := self._uploaded(batch):
            self._stores.uploaded_files.read(uploaded, file, check=check)
        else:
            url, most = str(source["path"]), self._works[batch.family].max_bytes
            self._stores.downloads.fetch(url, file, most, _DOWNLOAD_SECONDS, "the file", check)
        return self._works[batch.family].read(batch, file, check)

    def _dataset_lines(self, batch: Batch, dataset_id: int) -> Iterator[BatchLine]:
        """Read what was uploaded to a dataset in the order of lists; its ids come back."""
        dataset = self._stores.datasets.find(batch.account_id, batch.family, dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            raise InvalidUpload(f"Dataset {dataset_id} was deleted before the batch began.")
        return self._works[batch.family].of_dataset(batch, dataset)

    def _start_next(self, account_id: str) -> None:
        """Let the account's next batch begin, unless one of them runs."""
        waiting = [b for b in self._batches.of_account(account_id) if not b.is_over]
        if any(batch.status == RUNNING for batch in waiting):
            return
        for batch in reversed(waiting):
            started = self._batches.start(batch) if batch.is_prepared else None
            if started is not None:
                with suppress(StorageUnavailable):  # The sweep announces it again.
                    self._send_heads(started)
                return

    def _resume(self, batch: Batch) -> None:
        """Announce the parts again: a message of theirs was lost, or they fail each time."""
        if batch.stalls >= MAX_STALLS:
            self._give_up(batch, f"was announced {MAX_STALLS} times, and no part was answered")
            return
        stalled = self._batches.stall(batch)
        if stalled is not None:
            self._send_heads(stalled)

    def _send_heads(self, batch: Batch) -> None:
        """Announce the first part of each chain that is not answered."""
        for first in range(min(PARTS_AT_ONCE, batch.parts)):
            chain = range(first, batch.parts, PARTS_AT_ONCE)
            head = next((number for number in chain if number not in batch.numbers_done), None)
            if head is not None:
                self._send(batch, head)

    def _run_part(self, batch: Batch, number: int, delivery: int) -> None:
        """Answer a part, and send the next one of its chain."""
        if batch.status != RUNNING:
            return
        if number in batch.numbers_done:
            self._pass_on(batch, number, delivery)
            return
        failed = 0

        def counted() -> Iterator[AnsweredLine]:
            nonlocal failed
            for line in self._answer(batch, number):
                failed += line.error is not None
                yield line

        try:
            content = self._written(batch, counted())
        except (NotFound, Conflict) as refusal:
            self._fail(batch, _cause(batch, refusal))
            return
        self._files.put_answers(batch, number, content)
        after = self._batches.done(batch, number, failed)
        if after is None:
            self._drop_or_pass_on(batch, number, delivery)
        elif after.is_answered:
            self._attempt(after, self._finish)
        else:
            self._send_after(after, number)

    def _written(self, batch: Batch, lines: Iterable[AnsweredLine]) -> bytes:
        """Write what is kept of a part's answers: its piece of the result, or what to choose by."""
        if batch.kind == RANK:
            return self._ranker.content(lines)
        return self._write_lines(batch.format, lines)

    def _answer(self, batch: Batch, number: int) -> Iterator[AnsweredLine]:
        """Answer the lines of a part with the version of the batch's start."""
        lines = self._files.part(batch, number)
        if lines is None:
            raise StorageUnavailable
        found = self._stores.served_models.find(batch.account_id, batch.model_id)
        model = replace(found, version=batch.model_version)
        covered = lines[: max(0, batch.covered - number * batch.part_lines)]
        asked = [line for line in covered if line.error is None]
        answers: Iterator[AnsweredLine] = iter(())
        if asked:
            answers = self._works[batch.family].answer(batch, number, model, asked)
        for line in covered:
            yield next(answers) if line.error is None else AnsweredLine(line, error=line.error)
        for line in lines[len(covered) :]:
            yield AnsweredLine(line, error=line.error or NOT_COVERED)

    def _drop_or_pass_on(self, batch: Batch, number: int, delivery: int) -> None:
        """Look why a part does not count: another was quicker, or the batch is over."""
        found = self._batches.find(batch.account_id, batch.batch_id)
        if found is None or found.status != RUNNING:
            if found is None or not found.is_open:
                self._files.delete_answers(batch, number)
        else:
            self._pass_on(found, number, delivery)

    def _pass_on(self, batch: Batch, number: int, delivery: int) -> None:
        """Continue the chain after an answered part whose worker may have died.

        A first delivery is a duplicate message: another worker continues its chain.
        """
        if delivery > 1:
            if batch.is_answered:
                self._attempt(batch, self._finish)
            else:
                self._send_after(batch, number)

    def _send_after(self, batch: Batch, number: int) -> None:
        following = number + PARTS_AT_ONCE
        if following < batch.parts and following not in batch.numbers_done:
            self._send(batch, following)

    def _finish(self, batch: Batch) -> None:
        """Put the result together, show it, and settle.

        Raises:
            LeaseLost: another worker has it, or it is over.
        """
        with self._owned(batch) as (owned, check):
            name = result_name(owned, owned.fence)
            try:
                if owned.kind == RANK:
                    size = self._put_ranking(owned, name, check)
                else:
                    size = self._put_result(owned, name, check)
                check()
                ended = self._batches.succeed(owned, name, size)
            except LeaseLost:
                self._files.delete_result(owned, name)
                raise
        self.settle(ended)

    def _put_result(self, batch: Batch, name: str, check: Callable[[], None]) -> int:
        head = CSV_HEAD if batch.format == CSV else b""
        return self._files.put_result(batch, name, head, check)

    def _put_ranking(self, batch: Batch, name: str, check: Callable[[], None]) -> int:
        content = self._write_lines(batch.format, self._ranker.chosen(batch, check))
        head = RANKING_HEAD if batch.format == CSV else b""
        return self._files.put_lines(batch, name, head + content, check)

    def _fail(self, batch: Batch, message: str) -> None:
        """End a batch as FAILED, unless it is over."""
        failed = self._batches.fail(batch, message)
        if failed is not None:
            self.settle(failed)

    def _give_up(self, batch: Batch, what: str) -> None:
        self._fail(batch, f"The batch {what}. Send it again later.")
        journal.job_given_up("batch", batch.batch_id)

    def _send(self, batch: Batch, part: int | None = None, delay_seconds: int = 0) -> None:
        job = batch_job(batch.account_id, batch.batch_id, part)
        self._stores.queues.send(EMBED, job, delay_seconds)

    def _uploaded(self, batch: Batch) -> UploadedFile | None:
        path, etag = str(batch.source.get("path", "")), str(batch.source.get("etag", ""))
        return claimed_file(batch.account_id, path, etag)

    def _delete_upload(self, batch: Batch) -> None:
        """Delete an uploaded file that was the input."""
        if uploaded := self._uploaded(batch):
            self._stores.uploaded_files.delete(uploaded)


def _cause(batch: Batch, refusal: ServiceError) -> str:
    """Say why no part can be answered any more."""
    if isinstance(refusal, ModelNotFound):
        return f"Model {batch.model_id} was deleted before the batch was answered."
    return str(refusal)
