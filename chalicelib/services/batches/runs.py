"""Runs batches: prepares them, computes the answers, writes the result, releases predictions.

A batch is divided into parts (lists of lines), and the parts form a few chains. A worker that has
stored the answers of a part sends the message of the next part in the same chain. So an account has
only a few queued messages, however large its batches are, and a new batch of another account waits
only for the parts that are running. Every step may be repeated, because a repeated part writes the
same bytes and is counted once.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.domain.accounts.batch_allowances import BatchAllowances
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import DELETION_PENDING
from chalicelib.domain.datasets.upload import claimed_file
from chalicelib.domain.jobs.batch import (
    CANCELLED,
    CSV,
    FAILED,
    MAX_STALLS,
    QUEUED,
    RANK,
    RUNNING,
    AnsweredLine,
    Batch,
    BatchLine,
    LineError,
    lines_of_part,
)
from chalicelib.domain.jobs.batch_table import InputTable, new_table
from chalicelib.domain.jobs.batch_work import BatchWork, Ranker, Tables
from chalicelib.domain.jobs.lease import is_owned
from chalicelib.domain.jobs.messages import BatchJob
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
from chalicelib.stores.jobs.batch_files import BatchFiles, result_name
from chalicelib.stores.jobs.heartbeats import Heartbeat
from chalicelib.stores.jobs.queues import EMBED, Queues

if TYPE_CHECKING:
    from chalicelib.stores.accounts.accounts import AccountStore
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.batches import BatchStore
    from chalicelib.stores.jobs.events import Events
    from chalicelib.stores.models.served import ServedModels

# Writes lines of a result in its format, as single calls are answered.
WriteLines = Callable[[str, Iterable[AnsweredLine]], bytes]
# The answer of lines for which a partial batch has no predictions left.
NOT_COVERED = LineError(
    PredictionQuotaExceeded.code, "No prediction of this month was left for this line."
)
# Header of a result in CSV.
CSV_HEAD = b"row,id,label,probability,code,message\r\n"
# Header of a ranking in CSV.
RANKING_HEAD = b"rank,row,id,text,label,confidence,score,reason\r\n"
# Time limit of a download. The rest of a function's 15 minutes is for writing the parts.
_DOWNLOAD_SECONDS = 600.0
# These end the batch: another attempt would fail in the same way.
_REFUSALS = (DownloadFailed, InvalidUpload, PredictionQuotaExceeded, TooLarge)


@dataclass(frozen=True, kw_only=True)
class BatchRunServiceStores:
    """Stores used by `BatchRunService`."""

    accounts: AccountStore
    batch_files: BatchFiles
    batches: BatchStore
    datasets: DatasetStore
    downloads: Downloader
    events: Events
    queues: Queues
    served_models: ServedModels
    uploaded_files: UploadedFileStore


@dataclass(frozen=True)
class BatchWriters:
    """The objects that write the results of batches, one for each kind of result."""

    write_lines: WriteLines
    """Writes answered lines in the format of the result (JSON lines or CSV)."""
    ranker: Ranker
    """Selects the lines of a ranking."""
    tables: Tables
    """Writes results that are tables."""


class BatchRunService:
    """Runs the batch jobs that the queue delivers."""

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

        `works` maps each family to the object that reads the input of a batch and answers its
        lines.
        """
        self._stores = stores
        self._batches = stores.batches
        self._files = stores.batch_files
        self._allowances = allowances
        self._works = works
        self._ranker = writers.ranker
        self._write_lines = writers.write_lines
        self._tables = writers.tables
        self._clock = clock
        self._settings = settings

    def run(self, job: BatchJob, delivery: int = 1) -> None:
        """Answer the lines of a part. If the job names no part, perform the batch's next step.

        `delivery` is how many times the queue has delivered the message.
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
        """Store the parts of a batch, reserve its predictions, and start the account's next batch.

        Raises:
            InvalidUpload, DownloadFailed, TooLarge: the input cannot be read, or is empty.
            PredictionQuotaExceeded: not enough predictions are left.
            LeaseLost: another worker owns the batch, or the batch has ended.
        """
        with self._owned(batch) as (owned, check):
            table = new_table(owned)
            ends = self._write_parts(owned, check, table)
            # A repeated step keeps the month of the first, so that nothing is reserved in two
            # months.
            month = owned.month or (self._allowances.month() if owned.is_metered else "")
            self._batches.count(owned, ends, month, table.warnings)
            self._reserve(replace(owned, total=ends[-1], month=month))
        self._start_next(batch.account_id)

    def settle(self, batch: Batch) -> None:
        """Settle an ended batch: release unused predictions, delete files, start the next batch."""
        now = to_milliseconds(self._clock())
        if is_owned(batch.lease_until, now):
            # A worker that prepares the batch may be about to reserve predictions, so wait.
            seconds = (batch.lease_until - now) / 1000
            self._send(batch, delay_seconds=min(900, math.ceil(seconds)))
            return
        result, size = batch.result, batch.size_bytes
        # A cancelled ranking has no result, because the selection needs all parts.
        has_lines = batch.parts_done and batch.kind != RANK
        if batch.status == CANCELLED and has_lines and batch.is_open:
            result = result_name(batch, "cancelled")
            size = self._put_result(batch, result, lambda: None)
        self._allowances.settle(batch, batch.cost)
        self._files.delete_work(batch, result)
        self._delete_upload(batch)
        # Before the last write: after a crash in between, the retry emits the event again.
        self._emit(batch)
        self._batches.close(batch, result, size)
        failed = batch.total - batch.cost
        journal.batch_done(batch.batch_id, batch.status, batch.cost, failed)
        self._start_next(batch.account_id)

    def _emit(self, batch: Batch) -> None:
        event = "batch.failed" if batch.status == FAILED else "batch.done"
        data = {"id": batch.batch_id, "modelId": batch.model_id, "status": batch.status}
        self._stores.events.emit(batch.account_id, event, family=batch.family, **data)

    def _take_next_step(self, batch: Batch) -> None:
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
        """Perform a step of a batch. End the batch if the step is refused or no attempt is left."""
        if batch.attempts >= self._settings.max_attempts:
            self._give_up(batch, f"was interrupted {self._settings.max_attempts} times")
            return
        try:
            step(batch)
        except LeaseLost:
            log.warning("batch_lease_lost", batch=batch.batch_id)
        except _REFUSALS as refusal:
            self._fail(batch, str(refusal))

    @contextmanager
    def _owned(self, batch: Batch) -> Iterator[tuple[Batch, Callable[[], None]]]:
        """Hold the lease of a batch while the `with` block runs.

        Yields the batch, and a function that checks the lease. This method and the yielded function
        raise LeaseLost if another worker owns the batch, or if the batch has ended.
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
            # So that another worker can retry at once, not only after the lease.
            with suppress(LeaseLost, StorageUnavailable):
                self._batches.release(owned)
            raise

    def _reserve(self, batch: Batch) -> None:
        """Reserve predictions for a batch's lines, and store the number of reserved predictions."""
        account = self._stores.accounts.get(batch.account_id)
        if account is None:
            raise LeaseLost
        covered = self._allowances.reserve(account, batch) if batch.is_metered else batch.total
        try:
            self._batches.prepared(batch, covered)
        except LeaseLost:
            found = self._batches.find(batch.account_id, batch.batch_id)
            if found is None or found.is_over:
                # The batch was cancelled meanwhile, and nothing else would release its predictions.
                self._allowances.settle(batch, 0)
            raise

    def _write_parts(self, batch: Batch, check: Callable[[], None], table: InputTable) -> list[int]:
        """Store the input in parts; return the cumulative number of lines after each part."""
        ends: list[int] = []
        with tempfile.TemporaryFile() as file:
            read = self._lines(batch, file, check, table)
            lines = self._tables.with_cells(batch, table, read)
            for number in range(10**9):
                check()
                count = self._files.put_part(batch, number, lines_of_part(lines, batch))
                if not count:
                    break
                ends.append((ends[-1] if ends else 0) + count)
        if not ends:
            raise InvalidUpload("The input holds no line to answer.")
        self._tables.put_columns(batch, table)
        return ends

    def _lines(
        self, batch: Batch, file: BinaryIO, check: Callable[[], None], table: InputTable
    ) -> Iterator[BatchLine]:
        """Yield the lines of a batch's input. An input file is first copied to the empty `file`."""
        source = batch.source
        if "dataset" in source:
            return self._dataset_lines(batch, int(str(source["dataset"])))
        if "raw" in source:
            # The input is missing if another worker has finished the batch, or only for a moment. A
            # retry shows which.
            if not self._files.read_input(batch, file):
                raise StorageUnavailable
        elif uploaded := claimed_file(batch.account_id, batch.source):
            self._stores.uploaded_files.read(uploaded, file, check=check)
        else:
            url, most = str(source["path"]), self._works[batch.family].max_bytes
            self._stores.downloads.fetch(url, file, most, _DOWNLOAD_SECONDS, "the file", check)
        return self._works[batch.family].read(batch, file, check, table)

    def _dataset_lines(self, batch: Batch, dataset_id: int) -> Iterator[BatchLine]:
        """Yield one line for each uploaded example of a dataset, in the order of example lists."""
        dataset = self._stores.datasets.find(batch.account_id, batch.family, dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            raise InvalidUpload(f"Dataset {dataset_id} was deleted before the batch began.")
        return self._works[batch.family].of_dataset(batch, dataset)

    def _start_next(self, account_id: str) -> None:
        """Start the next batch of an account, unless another batch of the account is running."""
        waiting = [b for b in self._batches.of_account(account_id) if not b.is_over]
        if any(batch.status == RUNNING for batch in waiting):
            return
        # The batches are listed newest first, and the oldest starts next.
        for batch in reversed(waiting):
            started = self._batches.start(batch) if batch.is_prepared else None
            if started is not None:
                # If a message is lost, the sweep sends it again.
                with suppress(StorageUnavailable):
                    self._send_heads(started)
                return

    def _resume(self, batch: Batch) -> None:
        """Resend the messages of unanswered parts, because messages were lost or workers failed.

        The batch ends as FAILED if it was resumed too often while no part was answered.
        """
        if batch.stalls >= MAX_STALLS:
            self._give_up(
                batch, f"was sent to workers {MAX_STALLS} times, and no part was answered"
            )
            return
        stalled = self._batches.stall(batch)
        if stalled is not None:
            self._send_heads(stalled)

    def _send_heads(self, batch: Batch) -> None:
        """Send the message of the first unanswered part of each chain.

        With n chains, a chain consists of every n-th part of the batch.
        """
        chains = self._settings.batch_chains
        for first in range(min(chains, batch.parts)):
            chain = range(first, batch.parts, chains)
            head = next((number for number in chain if number not in batch.numbers_done), None)
            if head is not None:
                self._send(batch, head)

    def _run_part(self, batch: Batch, number: int, delivery: int) -> None:
        """Store the answers of a part. Then start the next unanswered part, or end the batch."""
        if batch.status != RUNNING:
            return
        if number in batch.numbers_done:
            self._continue_chain(batch, number, delivery)
            return
        failed = 0

        def counted() -> Iterator[AnsweredLine]:
            nonlocal failed
            for line in self._answer(batch, number):
                failed += line.error is not None
                yield line

        try:
            content = self._encode_part(batch, counted())
        except (NotFound, Conflict) as refusal:
            self._fail(batch, _cause(batch, refusal))
            return
        self._files.put_answers(batch, number, content)
        after = self._batches.mark_answered(batch, number, failed)
        if after is None:
            self._handle_uncounted_part(batch, number, delivery)
        elif after.is_answered:
            self._attempt(after, self._finish)
        else:
            self._send_next(after, number)

    def _encode_part(self, batch: Batch, lines: Iterable[AnsweredLine]) -> bytes:
        """Encode a part's answers for storage as result lines, table cells or judgements."""
        if batch.kind == RANK:
            return self._ranker.content(lines)
        if batch.is_table:
            return self._tables.content(batch, lines)
        return self._write_lines(batch.format, lines)

    def _answer(self, batch: Batch, number: int) -> Iterator[AnsweredLine]:
        """Yield the lines of a part, answered by the model version that the batch names."""
        lines = self._files.part(batch, number)
        if lines is None:
            raise StorageUnavailable
        found = self._stores.served_models.find(batch.account_id, batch.model_id)
        # A retraining during the batch must not mix answers of two versions.
        model = replace(found, version=batch.model_version)
        # By line number, so that a repeated part covers the same lines.
        covered = lines[: max(0, batch.covered - batch.part_range(number).start)]
        asked = [line for line in covered if line.error is None]
        answers: Iterator[AnsweredLine] = iter(())
        if asked:
            answers = self._works[batch.family].answer(batch, number, model, asked)
        for line in covered:
            yield next(answers) if line.error is None else AnsweredLine(line, error=line.error)
        for line in lines[len(covered) :]:
            yield AnsweredLine(line, error=line.error or NOT_COVERED)

    def _handle_uncounted_part(self, batch: Batch, number: int, delivery: int) -> None:
        """Finish a part that was not counted, because it was counted before or the batch ended.

        If the batch is running, the chain of the part continues. If the batch needs no more work,
        the answers of the part are deleted.
        """
        found = self._batches.find(batch.account_id, batch.batch_id)
        if found is None or found.status != RUNNING:
            if found is None or not found.is_open:
                self._files.delete_answers(batch, number)
        else:
            self._continue_chain(found, number, delivery)

    def _continue_chain(self, batch: Batch, number: int, delivery: int) -> None:
        """After a redelivery, send the message of the next part, or end an answered batch.

        The worker that answered the part may have died before it took this step.
        """
        if delivery > 1:
            if batch.is_answered:
                self._attempt(batch, self._finish)
            else:
                self._send_next(batch, number)

    def _send_next(self, batch: Batch, number: int) -> None:
        following = number + self._settings.batch_chains
        if following < batch.parts and following not in batch.numbers_done:
            self._send(batch, following)

    def _finish(self, batch: Batch) -> None:
        """Write the result of a batch, publish it, and clean up with `settle`."""
        with self._owned(batch) as (owned, check):
            # The fence is in the name, so a stalled worker cannot overwrite the published result.
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
        if batch.is_table:
            return self._files.put_stream(batch, name, self._tables.chunks(batch, check), check)
        head = CSV_HEAD if batch.format == CSV else b""
        return self._files.put_result(batch, name, head, check)

    def _put_ranking(self, batch: Batch, name: str, check: Callable[[], None]) -> int:
        content = self._write_lines(batch.format, self._ranker.select_lines(batch, check))
        head = RANKING_HEAD if batch.format == CSV else b""
        return self._files.put_lines(batch, name, head + content, check)

    def _fail(self, batch: Batch, message: str) -> None:
        """End a batch as FAILED, unless it has already ended."""
        failed = self._batches.fail(batch, message)
        if failed is not None:
            self.settle(failed)

    def _give_up(self, batch: Batch, failure: str) -> None:
        self._fail(batch, f"The batch {failure}. Send it again later.")
        journal.job_given_up("batch", batch.batch_id)

    def _send(self, batch: Batch, part: int | None = None, delay_seconds: int = 0) -> None:
        job = BatchJob.of(batch, part=part)
        self._stores.queues.send(EMBED, job, delay_seconds)

    def _delete_upload(self, batch: Batch) -> None:
        """Delete the input file if it was sent with a presigned form."""
        if uploaded := claimed_file(batch.account_id, batch.source):
            self._stores.uploaded_files.delete(uploaded)


def _cause(batch: Batch, refusal: ServiceError) -> str:
    """Return a message that says why the answers of a batch cannot be computed."""
    if isinstance(refusal, ModelNotFound):
        return f"Model {batch.model_id} was deleted before the batch was answered."
    return str(refusal)
