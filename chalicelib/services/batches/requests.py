"""Creates batches, returns their progress, cancels and deletes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock, date_text
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.fields import checked_name
from chalicelib.domain.datasets.upload import (
    UploadSource,
    claimed_file,
    is_upload_path,
)
from chalicelib.domain.datasets.upload_format import RECOGNISED, ReadingOptions
from chalicelib.domain.jobs.batch import (
    ANSWER,
    BATCH_KEPT,
    CANCELLED,
    FAMILY_NOUNS,
    MAX_KEPT_BATCHES,
    MAX_OPEN_BATCHES,
    Batch,
    checked_kind,
)
from chalicelib.domain.jobs.batch_work import BatchWork
from chalicelib.domain.jobs.messages import BatchJob
from chalicelib.domain.models.model import ServedModel
from chalicelib.errors import (
    BadRequest,
    BatchNotFound,
    LeaseLost,
    ServiceError,
    StorageUnavailable,
    TooLarge,
    TooManyOpen,
)
from chalicelib.stores.jobs.queues import EMBED, Queues, retried_by_sweep

if TYPE_CHECKING:
    from chalicelib.stores.accounts.in_flight import InFlight
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.batch_files import BatchFiles
    from chalicelib.stores.jobs.batches import BatchStore
    from chalicelib.stores.models.served import ServedModels


@dataclass(frozen=True, kw_only=True)
class BatchServiceStores:
    """Stores used by `BatchService`."""

    batch_files: BatchFiles
    batches: BatchStore
    downloads: Downloader
    in_flight: InFlight
    queues: Queues
    served_models: ServedModels
    uploaded_files: UploadedFileStore


@dataclass(frozen=True)
class BatchOptions:
    """Options of a batch in addition to its model and input."""

    kind: str | None = None
    """What to predict for each line; None to let the model's type decide."""
    count: int | None = None
    """Maximum number of labels per line; None for the default."""
    name: str | None = None
    """Name of the batch; None for the name of the input."""
    format: str = "jsonl"
    """Format of the result."""
    is_partial: bool = False
    """Whether to predict only the first lines if the monthly predictions are too few for all."""
    columns: str = ANSWER
    """Columns of the result."""
    review_below: float | None = None
    """Probability below which a column marks lines for review; None leaves out the column."""
    file: ReadingOptions = RECOGNISED
    """Options for reading a file of texts."""
    reading: Mapping[str, object] = field(default_factory=dict)
    """Options of document reading; empty unless the batch reads documents."""
    template: bytes | None = None
    """A validated form template; None if none was sent."""


class BatchService:
    """Creates, lists, cancels and deletes the batches of an account."""

    def __init__(
        self,
        stores: BatchServiceStores,
        clock: Clock,
        works: Mapping[str, BatchWork],
        prepare: Callable[[Batch], None],
        settle: Callable[[Batch], None],
    ) -> None:
        """Store the dependencies.

        Args:
            stores: rows, files and queues.
            clock: returns the current time.
            works: for each family, the object that reads inputs of batches and answers lines.
            prepare: prepares a small batch while the caller waits; may raise an error to refuse it.
            settle: releases the reserved predictions of an ended batch, and deletes the batch's
                files.
        """
        self._stores = stores
        self._batches = stores.batches
        self._clock = clock
        self._works = works
        self._prepare = prepare
        self._settle = settle

    def create(
        self,
        account: Account,
        family: str,
        model: ServedModel,
        source: UploadSource | DatasetView,
        options: BatchOptions,
    ) -> Batch:
        """Create a batch. If a small file was sent in the call, prepare the batch at once.

        The source is a file, the URL of a file, or a dataset. Each uploaded example of a dataset
        becomes one line of the batch.

        Raises:
            InvalidParameter: a model of this type cannot answer the batch.
            Conflict: the version of the model was removed during the call.
            ModelNotReady, EncoderMissing, ModelUnreadable: the model cannot predict.
            BadRequest: the input cannot be read, or is empty.
            TooLarge: the input is over its limit.
            TooManyOpen: the account has the maximum number of batches.
            PredictionQuotaExceeded: not enough predictions are left this month.
        """
        model.require_known_type()
        kind = checked_kind(options.kind, family, model.type)
        self._works[family].check_model(model, kind)
        self._check_open_limit(account)
        batch = self._described(account, family, model, source, options, kind)
        if uploaded := claimed_file(batch.account_id, batch.source):
            # An uploaded file can be used once, so that two calls never share or delete it. If this
            # is refused, another attempt at the call has made the batch, which must stay.
            self._stores.uploaded_files.claim(uploaded, batch.batch_id)
        try:
            self._write(batch, source, options.template)
        except ServiceError:
            self._revert(batch, source)
            raise
        return self._batches.find(batch.account_id, batch.batch_id) or batch

    def _described(
        self,
        account: Account,
        family: str,
        model: ServedModel,
        source: UploadSource | DatasetView,
        options: BatchOptions,
        kind: str,
    ) -> Batch:
        """Check the input of a request, and return the batch to create."""
        derived = source.dataset.name if isinstance(source, DatasetView) else source.derived_name
        now = self._clock()
        return Batch(
            batch_id=object_id(),
            account_id=account.account_id,
            family=family,
            name=checked_name(options.name or derived),
            model_id=model.model_id,
            model_version=model.version,
            model_type=model.type,
            kind=kind,
            format=options.format,
            source={
                **self._place(account, family, source, options.file.encoding),
                **_reading(options.file),
            },
            created_at=now,
            updated_at=now,
            expires_at=now + BATCH_KEPT,
            count=options.count,
            reading=options.reading,
            columns=options.columns,
            review_below=options.review_below,
            is_partial=options.is_partial,
        )

    def get(self, account: Account, family: str, batch_id: str) -> Batch:
        """Return a batch of the account.

        Raises:
            BatchNotFound: the account has no batch with this id, or the batch has expired.
        """
        is_id = STRING_ID.fullmatch(batch_id) is not None
        found = self._batches.find(account.account_id, batch_id) if is_id else None
        if found is None or found.family != family or found.expires_at <= self._clock():
            raise BatchNotFound(batch_id[:100])
        return found

    def list(self, account: Account, family: str, offset: int, count: int) -> ListPage[Batch]:
        """List the batches of a family, newest first."""
        mine = [b for b in self._batches.of_account(account.account_id) if b.family == family]
        has_more = len(mine) > offset + count
        return ListPage(tuple(mine[offset : offset + count]), offset, has_more)

    def url(self, batch: Batch) -> str | None:
        """Return a URL of the result, valid for 30 minutes; None if there is no result."""
        return self._stores.batch_files.url(batch) if batch.result else None

    def delete(self, batch: Batch) -> Batch:
        """Cancel a running batch. Delete a finished batch together with its result."""
        cancelled = self._batches.cancel(batch)
        if cancelled is not None:
            self._send(cancelled)
            return cancelled
        over = self._batches.find(batch.account_id, batch.batch_id)
        if over is None:
            raise BatchNotFound(batch.batch_id)
        if over.is_open:
            if over.status == CANCELLED:
                # A repeated DELETE right after the cancellation must not delete the partial result.
                return over
            self._settle(over)
        self._remove(over)
        return over

    def _remove(self, batch: Batch) -> None:
        # The row last: if the call dies before it, the batch is still listed and can be deleted.
        self._stores.batch_files.delete(batch.batch_id)
        self._batches.delete(batch)

    def _place(
        self, account: Account, family: str, source: UploadSource | DatasetView, encoding: str
    ) -> dict[str, object]:
        """Check the input of a batch; return its location in the form that `Batch.source` has."""
        work, noun = self._works[family], FAMILY_NOUNS[family]
        if isinstance(source, DatasetView):
            if not any(counts.count("upload") for counts in source.dataset.counts):
                raise BadRequest(
                    f"Dataset {source.dataset.dataset_id} has no uploaded {noun}. Upload some, or "
                    "send a file.",
                    code="nothing_to_answer",
                )
            return {"dataset": source.dataset.dataset_id}
        if source.path is None:
            work.check_sent(source.content or b"", encoding)
            return {"raw": True}
        if is_upload_path(source.path):
            found, size = self._stores.uploaded_files.find(account.account_id, source.path)
            if size > work.max_bytes:
                raise TooLarge(
                    f"The file has {size} bytes; at most {work.max_bytes} "
                    f"({work.max_bytes // 1024**2} MB) are allowed. Split it, and send each part "
                    "as a separate batch."
                )
            return {"path": found.path, "etag": found.etag}
        with self._stores.in_flight.downloading(account.account_id):
            self._stores.downloads.check(source.path, work.max_bytes, "the file")
        return {"path": source.path}

    def _write(
        self, batch: Batch, source: UploadSource | DatasetView, template: bytes | None
    ) -> None:
        """Store the input and the row of a batch, then prepare the batch at once or queue it."""
        is_ready_now = False
        if isinstance(source, UploadSource) and source.path is None:
            content = source.content or b""
            is_ready_now = self._works[batch.family].fits_call(batch.kind, content)
            self._stores.batch_files.put_input(batch, content)
        if template is not None:
            self._stores.batch_files.put_template(batch, template)
        self._batches.create(batch)
        # From now on the row protects the version from removal, but it may have been removed
        # before.
        self._stores.served_models.check_kept(batch.account_id, batch.model_id, batch.model_version)
        if is_ready_now:
            # If the lease is lost, another attempt at the call or a worker prepares the batch.
            with suppress(LeaseLost):
                self._prepare(batch)
        else:
            self._send(batch)

    def _revert(self, batch: Batch, source: UploadSource | DatasetView) -> None:
        """Delete what a failed request stored, unless another attempt created the batch."""
        with suppress(StorageUnavailable):
            found = self._batches.find(batch.account_id, batch.batch_id)
            if found is not None and date_text(found.created_at) != date_text(batch.created_at):
                return  # Another attempt at the call has created it.
            if found is not None:
                self._settle(self._batches.cancel(found) or found)
                found = self._batches.find(batch.account_id, batch.batch_id)
            if found is not None and found.is_open:
                return  # The sweep settles what is still reserved.
            self._remove(batch)
            if uploaded := claimed_file(batch.account_id, batch.source):
                self._stores.uploaded_files.release(uploaded, batch.batch_id)

    def _send(self, batch: Batch) -> None:
        with retried_by_sweep("batch", batch=batch.batch_id):
            self._stores.queues.send(EMBED, BatchJob.of(batch))

    def _check_open_limit(self, account: Account) -> None:
        kept = self._batches.of_account(account.account_id)
        unfinished = sum(not batch.is_over for batch in kept)
        if unfinished >= MAX_OPEN_BATCHES:
            raise TooManyOpen(
                f"The account has {unfinished} batches that have not ended; at most "
                f"{MAX_OPEN_BATCHES} are allowed. Wait for one, or cancel one with DELETE.",
                30,
            )
        if len(kept) >= MAX_KEPT_BATCHES:
            raise TooManyOpen(
                f"The account has {len(kept)} batches; at most {MAX_KEPT_BATCHES} are kept, each "
                f"for {BATCH_KEPT.days} days. Remove one with DELETE.",
                30,
            )


def _reading(options: ReadingOptions) -> dict[str, object]:
    """Convert reading options to the form that `Batch.source` stores."""
    found = {
        "delimiter": options.delimiter,
        "sheet": options.sheet,
        "header": options.header,
        "encoding": options.encoding,
    }
    named = {name: value for name, value in found.items() if value not in (None, "")}
    return {"column": options.text_column, **named}
