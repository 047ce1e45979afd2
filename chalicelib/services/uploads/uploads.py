"""Accepts files that create or extend datasets. IngestService reads the files."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.repeats import began_at, object_id, object_number
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FEEDBACK,
    UPLOAD,
    UPLOADING,
    Dataset,
    DatasetView,
    LabelCounts,
)
from chalicelib.domain.datasets.fields import checked_language, checked_name, checked_type
from chalicelib.domain.datasets.growth import check_takes_file
from chalicelib.domain.datasets.receipt import Receipt, UploadScan
from chalicelib.domain.datasets.upload import (
    Upload,
    UploadFields,
    UploadSource,
    is_upload_path,
)
from chalicelib.domain.datasets.upload_format import FileFormat, check_options
from chalicelib.domain.datasets.validation import Validation, find_reasons
from chalicelib.domain.jobs.lease import Cancellation
from chalicelib.domain.jobs.messages import IngestJob
from chalicelib.domain.models.model import Model
from chalicelib.errors import (
    BadRequest,
    DatasetNotYetAvailable,
    DownloadFailed,
    InvalidParameter,
    MachineBusy,
    RateExceeded,
    ServiceError,
    StorageUnavailable,
    TimedOut,
)
from chalicelib.formats.scanning import DatasetKind, scan_upload
from chalicelib.formats.texts.encoding import HEAD_BYTES
from chalicelib.formats.upload_files import (
    check_content,
    check_path_bytes,
    explain_head,
    max_path_bytes,
)
from chalicelib.stores.aws.objects import ArtifactStore, raw_key
from chalicelib.stores.datasets.labels import LabelStore, owner_key
from chalicelib.stores.datasets.receipts import ReceiptStore, receipt_key
from chalicelib.stores.jobs.queues import retried_by_sweep

if TYPE_CHECKING:
    from chalicelib.stores.accounts.in_flight import InFlight
    from chalicelib.stores.aws.counters import IdStore
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.capacity import CapacityStore
    from chalicelib.stores.jobs.turns import IngestQueue

# Time limit of a validation in seconds; the gateway ends a call after 29 seconds.
VALIDATION_SECONDS = 25.0
# Newest receipts that are searched for the upload of a repeated call.
LOOKED_THROUGH = 100
# Error of an empty file.
EMPTY = "The file has 0 bytes."


@dataclass(frozen=True, kw_only=True)
class UploadServiceStores:
    """Stores used by `UploadService`."""

    artifacts: ArtifactStore
    datasets: DatasetStore
    downloads: Downloader
    ids: IdStore
    in_flight: InFlight
    ingest_queue: IngestQueue
    labels: LabelStore
    receipts: ReceiptStore
    capacity: CapacityStore
    uploaded_files: UploadedFileStore


class UploadService:
    """Accepts uploads. An accepted file is stored before the call is answered.

    Methods raise BadRequest if a field or the URL is not allowed, TooLarge if the file is over its
    limit, UnsupportedType if the family does not accept its type, and TooManyOpen if the account
    has too many uploads in progress, or stores too much.
    """

    def __init__(
        self,
        stores: UploadServiceStores,
        clock: Clock,
        settings: Settings,
        ingest: Callable[[IngestJob, float], None],
    ) -> None:
        self._stores = stores
        self._queue = stores.ingest_queue
        self._clock = clock
        self._settings = settings
        self._ingest = ingest

    def create(
        self, account: Account, family: str, source: UploadSource, fields: UploadFields
    ) -> DatasetView:
        """Accept a file as a new dataset, which is UPLOADING until a worker has read the file."""
        dataset, job = self._accept(account, family, source, fields)
        self._enqueue(job)
        return self._stores.labels.view(dataset)

    def create_sync(
        self,
        account: Account,
        family: str,
        source: UploadSource,
        fields: UploadFields,
        remaining_seconds: float,
    ) -> DatasetView:
        """Accept a file as a new dataset and read it within the call.

        The dataset is still UPLOADING if it was not read in `remaining_seconds`.
        """
        started = time.monotonic()
        dataset, job = self._accept(account, family, source, fields)
        remaining_seconds -= time.monotonic() - started
        downloads = self._stores.in_flight.downloading(account.account_id)
        try:
            # A download that cannot start now is left to the queue, as if the time had run out.
            with suppress(RateExceeded, MachineBusy), downloads if source.path else nullcontext():
                if remaining_seconds > 0:
                    self._ingest(job, remaining_seconds)
        except StorageUnavailable:
            log.warning("sync_ingest_failed", dataset=dataset.dataset_id)
        try:
            current = self._stores.datasets.find(account.account_id, family, dataset.dataset_id)
            view = self._stores.labels.view(current or dataset)
        except StorageUnavailable:
            # The upload was accepted, so an error must not make the caller send it again.
            view = DatasetView(dataset, ())
        if view.dataset.status == UPLOADING:
            self._enqueue(job)
        return view

    def validate(
        self,
        account: Account,
        family: str,
        source: UploadSource,
        fields: UploadFields,
        remaining_seconds: float,
        *,
        shows_rows: bool = False,
    ) -> Validation:
        """Describe the dataset that an upload of a file would create, without storing anything.

        If `shows_rows` is true, the answer or the error contains the first rows of the file.

        Raises:
            BadRequest: a field or the URL is not allowed, or the upload would fail.
            TimedOut: the file was not read in time.
        """
        dataset_type = checked_type(family, fields.type)
        check_options(dataset_type, source.options)
        language = checked_language(family, fields.language)
        source = self._checked_source(account, family, source)
        checked_name(fields.name or source.derived_name)
        _check(family, source)
        seconds = min(remaining_seconds, VALIDATION_SECONDS)
        cancellation = Cancellation(lambda: None, self._clock, max(seconds, 1e-3))
        scans: list[UploadScan] = []
        kind = DatasetKind(dataset_type, language, source.options)
        with tempfile.TemporaryFile() as file:
            try:
                self._fetch(account, family, source, file, cancellation)
                scanned = scan_upload(
                    file, kind, scans.append, cancellation.check, shows_rows=shows_rows
                )
            except TimedOut:
                reached = f"{scans[-1].seen:,} examples" if scans else f"{file.tell():,} bytes"
                raise TimedOut(
                    f"The file was not validated within {seconds:.0f} seconds; {reached} were "
                    "read. Upload it: reading in the background has more time."
                ) from None
        scan = scanned.scan
        reasons = find_reasons(dataset_type, scan.kept_by_label, scan.words)
        return Validation(
            scan.format or FileFormat(""), scan, tuple(reasons), preview=scanned.preview
        )

    def add(
        self,
        account: Account,
        view: DatasetView,
        source: UploadSource,
        prepare: Callable[[], object] = lambda: None,
    ) -> DatasetView:
        """Accept a file whose examples are added to a dataset.

        `prepare` changes the dataset after the file was checked and stored. It may raise an error
        to refuse the call.

        Raises:
            DatasetNotYetAvailable: an upload is running.
            DatasetBeingDeleted: the dataset is being deleted.
            BadRequest: the dataset was not created from a file, or its first upload failed.
            TooLarge: the file is over its limit, or would make the dataset too large.
            UnsupportedType: the family does not accept the type of the file.
            TooManyOpen: the account has too many uploads in progress, or stores too much.
        """
        check_options(view.dataset.type, source.options)
        _check(view.dataset.family, source)
        return self._add(account, view.dataset, source, UPLOAD, prepare)

    def add_feedback(self, account: Account, model: Model, source: UploadSource) -> DatasetView:
        """Accept an archive of images; their boxes become feedback for a detection model's dataset.

        Raises:
            InvalidParameter: the model does not detect objects.
            DatasetNotYetAvailable: an upload is in progress.
            DatasetBeingDeleted: the dataset is being deleted.
            BadRequest: the dataset was deleted.
            TooLarge: the file is over its limit, or would make the dataset too large.
            UnsupportedType: the file is not a zip archive.
            TooManyOpen: the account has too many uploads in progress, or stores too much.
        """
        model.require_dataset("given feedback")
        if model.type != DETECTION:
            raise InvalidParameter(
                "modelId",
                f"model {model.model_id} is of type {model.type}; use a model of type {DETECTION}.",
            )
        _check(model.family, source)
        dataset = self._stores.datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None:
            raise BadRequest(
                f"Dataset {model.dataset_id} of model {model.model_id} was deleted, so it takes "
                "no feedback. Train a model from another dataset.",
                code="dataset_deleted",
            )
        return self._add(account, dataset, source, FEEDBACK)

    def find_accepted(self, dataset: Dataset, receipt_id: str) -> DatasetView | None:
        """Return a dataset if the upload with this receipt was accepted, otherwise None."""
        newest = self._stores.receipts.newest(dataset.dataset_id, LOOKED_THROUGH)
        known = {dataset.receipt_id, *(one.receipt_id for one in newest)}
        return self._stores.labels.view(dataset) if receipt_id in known else None

    def _add(
        self,
        account: Account,
        dataset: Dataset,
        source: UploadSource,
        becomes: str,
        prepare: Callable[[], object] = lambda: None,
    ) -> DatasetView:
        """Accept a file whose examples are added to a dataset as uploads or as feedback."""
        check_takes_file(dataset)
        source = self._checked_source(account, dataset.family, source)
        receipt = Receipt(object_id(), dataset.dataset_id, began_at(self._clock()))
        upload = self._described(account, dataset.family, receipt, source)
        upload = replace(upload, adds=True, source=becomes)
        started = replace(dataset, upload_id=receipt_key(receipt), status=UPLOADING)
        with self._reserved(started, upload, source):
            self._store_file(upload, source)
            # Before the start: while a file is read, nothing else may change the dataset.
            prepare()
            turn = self._queue.turn(account)
            found = self._stores.datasets.start_upload(dataset, started.upload_id, upload, turn)
            if found is None:
                raise DatasetNotYetAvailable
            started = found
        self._write_receipt(receipt)
        self._enqueue(IngestJob.of(started))
        return self._stores.labels.view(started)

    def _accept(
        self, account: Account, family: str, source: UploadSource, fields: UploadFields
    ) -> tuple[Dataset, IngestJob]:
        """Check the fields, reserve the row of the new dataset, and then store the file."""
        dataset_type = checked_type(family, fields.type)
        check_options(dataset_type, source.options)
        language = checked_language(family, fields.language)
        source = self._checked_source(account, family, source)
        name = checked_name(fields.name or source.derived_name)
        _check(family, source)
        dataset_id = object_number() or self._stores.ids.reserve("datasets")
        receipt = Receipt(object_id(), dataset_id, began_at(self._clock()))
        upload = self._described(account, family, receipt, source)
        dataset = Dataset(
            account_id=account.account_id,
            family=family,
            dataset_id=dataset_id,
            name=name,
            type=dataset_type,
            language=language,
            status=UPLOADING,
            available=False,
            created_at=receipt.created_at,
            updated_at=receipt.created_at,
            is_uploaded=True,
            upload_id=receipt_key(receipt),
            reserved_bytes=upload.size_bytes,
            counts=self._reserved_labels(fields),
        )
        with self._reserved(dataset, upload, source):
            self._stores.datasets.reserve(dataset)
            self._describe_labels(dataset, fields)
            self._store_file(upload, source)
            dataset = self._stores.datasets.finish(dataset, upload, self._queue.turn(account))
        self._write_receipt(receipt)
        return dataset, IngestJob.of(dataset)

    def _reserved_labels(self, fields: UploadFields) -> tuple[LabelCounts, ...]:
        """Reserve ids for the labels that have descriptions; return their counts, which are 0."""
        count = len(fields.descriptions)
        first = self._stores.ids.reserve("labels", count) if count else 0
        return tuple(LabelCounts(first + place) for place in range(count))

    def _describe_labels(self, dataset: Dataset, fields: UploadFields) -> None:
        """Write the rows of labels that have descriptions."""
        ids = [counts.label_id for counts in dataset.counts]
        described = dict(zip(ids, fields.descriptions, strict=True))
        self._stores.labels.put(
            owner_key(dataset.account_id, dataset.family),
            dataset.dataset_id,
            {label_id: one.name for label_id, one in described.items()},
            {label_id: one.description for label_id, one in described.items()},
        )

    @contextmanager
    def _reserved(self, dataset: Dataset, upload: Upload, source: UploadSource) -> Iterator[None]:
        """Reserve storage for an upload and claim its file; undo both if the block fails.

        Only files sent with a presigned form are claimed. If the block fails after the upload has
        started, for example in another attempt at the call, nothing is undone and the error is
        ignored.
        """
        if source.uploaded is not None:
            self._stores.uploaded_files.claim(source.uploaded, dataset.upload_id)
        entry = ""
        try:
            entry = self._stores.capacity.reserve_upload(dataset, upload.size_bytes)
            yield
        except ServiceError:
            # If the process dies here, the daily recount corrects the sum.
            if self._revert(dataset, upload, source, entry) or not entry:
                raise

    def _described(
        self, account: Account, family: str, receipt: Receipt, source: UploadSource
    ) -> Upload:
        """Check that a URL can be read, and return a description of the upload."""
        options, encoding = source.options.to_json(), source.options.encoding
        if source.uploaded is not None:
            found = source.uploaded
            return Upload(
                path=found.path, etag=found.etag, size_bytes=source.size_bytes, options=options
            )
        if source.path is not None:
            with self._stores.in_flight.downloading(account.account_id):
                probe = self._stores.downloads.check(source.path, max_path_bytes(family))
            # A page of HTML behind a URL is refused now, not minutes later by the ingest.
            explanation = explain_head(family, probe.head, encoding) if probe.head else EMPTY
            if explanation:
                raise DownloadFailed(explanation)
            return Upload(path=source.path, size_bytes=probe.size_bytes or 0, options=options)
        key = raw_key(receipt.dataset_id, receipt.receipt_id)
        return Upload(raw=key, size_bytes=source.size_bytes, options=options)

    def _checked_source(self, account: Account, family: str, source: UploadSource) -> UploadSource:
        """Return the source; look up and check a file that was sent with a presigned form."""
        if source.path is None or not is_upload_path(source.path):
            return source
        uploaded, size_bytes = self._stores.uploaded_files.find(account.account_id, source.path)
        check_path_bytes(family, size_bytes)
        head, encoding = io.BytesIO(), source.options.encoding
        self._stores.uploaded_files.read(uploaded, head, HEAD_BYTES)
        explanation = explain_head(family, head.getvalue(), encoding) if size_bytes else EMPTY
        if explanation:
            raise DownloadFailed(explanation)
        return replace(source, uploaded=uploaded, uploaded_bytes=size_bytes)

    def _fetch(
        self,
        account: Account,
        family: str,
        source: UploadSource,
        file: BinaryIO,
        cancellation: Cancellation,
    ) -> None:
        """Copy a file to this machine to validate it. The original does not change."""
        if source.uploaded is not None:
            self._stores.uploaded_files.read(source.uploaded, file, check=cancellation.check)
        elif source.path is not None:
            seconds, most = cancellation.remaining_seconds, max_path_bytes(family)
            with self._stores.in_flight.downloading(account.account_id):
                try:
                    self._stores.downloads.fetch(
                        source.path, file, most, seconds, check=cancellation.check
                    )
                # A download that failed because the time was up is a timeout.
                except DownloadFailed:
                    cancellation.check()
                    raise
            file.seek(0)
            head = file.read(HEAD_BYTES)
            explanation = explain_head(family, head, source.options.encoding) if head else EMPTY
            if explanation:
                raise DownloadFailed(explanation)
        else:
            file.write(source.content or b"")
        cancellation.check()

    def _store_file(self, upload: Upload, source: UploadSource) -> None:
        """Store a file sent in the call. Files sent with presigned forms are copied later."""
        # A file in the bucket is not copied here, because 2 GB take longer than the gateway waits.
        if upload.raw:
            self._stores.artifacts.put(upload.raw, source.content or b"")

    def _revert(self, dataset: Dataset, upload: Upload, source: UploadSource, entry: str) -> bool:
        """Undo a failed upload; do nothing and return False if the upload has started."""
        key = dataset.account_id, dataset.family, dataset.dataset_id, dataset.upload_id
        try:
            if self._stores.datasets.find_queued(*key) is not None:
                return False
            if entry:
                self._stores.capacity.cancel_upload(dataset.account_id, entry)
            # The file of a new dataset is deleted with its row.
            if upload.raw and upload.adds:
                self._stores.artifacts.delete(upload.raw)
            if source.uploaded is not None:
                self._stores.uploaded_files.release(source.uploaded, dataset.upload_id)
        except StorageUnavailable:
            log.warning("withdraw_failed", dataset=dataset.dataset_id)
        return True

    def _write_receipt(self, receipt: Receipt) -> None:
        """Write the receipt of an accepted upload. If that fails, IngestService writes it later."""
        try:
            self._stores.receipts.put(receipt)
        except StorageUnavailable:
            log.warning("receipt_failed", dataset=receipt.dataset_id)

    def _enqueue(self, job: IngestJob) -> None:
        """Send the job of an upload. If the queue fails, the periodic sweep sends it later."""
        with retried_by_sweep("ingest", dataset=job.dataset_id):
            self._queue.announce(job)


def _check(family: str, source: UploadSource) -> None:
    """Raise an error if a sent file cannot be an upload of this family."""
    if source.content is not None:
        check_content(family, source.content, source.options.encoding)
