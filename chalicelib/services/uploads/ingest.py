"""Reads an uploaded file into a dataset: plans examples, reserves ids, writes rows, commits.

Queue jobs and synchronous uploads use this service. A reader checks the whole file before a row is
written. Ids are reserved once and stored, so that a repeated attempt writes the same rows. The
commit is one conditional write of the dataset's row.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Protocol

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.datasets.dataset import (
    DELETION_PENDING,
    FAILED,
    SUCCEEDED,
    VISION,
    Dataset,
    LabelCounts,
)
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.datasets.receipt import IngestPlan, UploadScan
from chalicelib.domain.datasets.upload import Upload, UploadedFile, claimed_file, out_of_attempts
from chalicelib.domain.jobs.lease import Cancellation
from chalicelib.domain.jobs.messages import IngestJob
from chalicelib.errors import (
    DownloadFailed,
    InvalidUpload,
    LeaseLost,
    ServiceError,
    StorageUnavailable,
    TimedOut,
)
from chalicelib.stores.aws.objects import ArtifactStore, raw_key
from chalicelib.stores.datasets.labels import LabelStore, owner_key
from chalicelib.stores.datasets.leases import Addition, DatasetLeases, OwnedDataset
from chalicelib.stores.datasets.receipts import ReceiptStore, parse_receipt_key
from chalicelib.stores.examples.digest_index import STEP, DigestIndex
from chalicelib.stores.examples.examples import ChunkWriter, ExampleStore, sequence_of
from chalicelib.stores.jobs.heartbeats import Heartbeat

if TYPE_CHECKING:
    from chalicelib.stores.aws.counters import IdStore
    from chalicelib.stores.datasets.contents import DatasetContents
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.examples.example_search import ExamplePlaces
    from chalicelib.stores.examples.parts import PartStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.capacity import CapacityStore
    from chalicelib.stores.jobs.events import Events
    from chalicelib.stores.jobs.turns import IngestQueue

# Pause between two checks of an upload that another worker owns, in seconds.
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class IngestServiceStores:
    """Stores used by `IngestService`."""

    artifacts: ArtifactStore
    contents: DatasetContents
    dataset_leases: DatasetLeases
    datasets: DatasetStore
    digests: DigestIndex
    downloads: Downloader
    events: Events
    example_places: ExamplePlaces
    examples: ExampleStore
    ids: IdStore
    ingest_queue: IngestQueue
    labels: LabelStore
    parts: PartStore
    receipts: ReceiptStore
    capacity: CapacityStore
    uploaded_files: UploadedFileStore


class Reader(Protocol):
    """Reads the files of one family."""

    max_bytes: int
    """Maximum size in bytes of a file that a request gives by `path`."""
    download_seconds: float
    """Time limit of a download in seconds."""

    def read(
        self,
        owned: OwnedDataset,
        file: BinaryIO,
        check: Callable[[], None],
        begin: Callable[[UploadScan], object],
    ) -> IngestPlan:
        """Check a file, and plan which examples it adds to the dataset.

        `check` is called often, and may raise an error to stop. `begin` is called once, before the
        first example is read, with the object that counts the examples. So the caller has the
        counts even if the file is refused.

        Raises:
            InvalidUpload: the file has no usable example, or exceeds a limit of the dataset.
        """

    def discard(self, owned: OwnedDataset, check: Callable[[], None]) -> None:
        """Delete the data that a failed upload stored while its file was read."""


class IngestService:
    """Runs the ingest jobs that the queue delivers."""

    def __init__(
        self,
        stores: IngestServiceStores,
        readers: Mapping[str, Reader],
        announce_parts: Callable[[Dataset], None],
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._stores = stores
        self._queue = stores.ingest_queue
        self._readers = readers
        self._announce_parts = announce_parts
        self._clock = clock
        self._settings = settings

    def run(self, job: IngestJob, delivery: int = 1) -> None:
        """Read the next upload in the queue, even if the message names another upload.

        `delivery` is how many times the queue has delivered the message.
        """
        owned = self._queue.acquire(job)
        if owned is not None:
            # This upload may belong to another account than the message.
            dataset = owned.dataset
            with log.bound(account=dataset.account_id, dataset=dataset.dataset_id):
                if self._attempt(owned):
                    self._queue.announce_next(job, dataset.account_id)
            if dataset.upload_id != job.upload_id:
                # Another job has used this message, so this job needs a new one.
                self._queue.announce_again(job)
        if owned is None or owned.dataset.upload_id != job.upload_id:
            self._emit_again(job, delivery)

    def run_now(self, job: IngestJob, remaining_seconds: float) -> None:
        """Read an upload within a call. If a worker already reads the upload, wait for the worker.

        After `remaining_seconds` the call stops, and a worker of the queue continues.
        """
        ends_at = time.monotonic() + remaining_seconds
        while not self._queue.is_over(job) and (left := ends_at - time.monotonic()) > 0:
            owned = self._queue.acquire_now(job)
            if owned is not None and self._attempt(owned, left):
                return
            time.sleep(min(_PAUSE_SECONDS, left))

    def _attempt(self, owned: OwnedDataset, remaining_seconds: float = 0.0) -> bool:
        """Read an upload and store the result; return False if another worker took the upload."""
        if owned.lease.attempts > self._settings.max_attempts:
            self._give_up(owned, owned.lease.last_error)
            return True
        scans: list[UploadScan | None] = [None]
        try:
            self._read(owned, remaining_seconds, scans.append)
        except LeaseLost:
            log.warning("ingest_lease_lost", dataset=owned.dataset.dataset_id)
            self._stores.dataset_leases.uncount_attempt(owned)
            return False
        except TimedOut:
            # Running out of time does not count as a failed attempt.
            self._stores.dataset_leases.return_to_queue(owned)
        except StorageUnavailable as error:
            self._retry(owned, error)
            raise
        except ServiceError as refusal:
            self._fail(owned, str(refusal), refusal.detail, scans[-1])
        except Exception as error:
            self._retry(owned, error)
            raise
        return True

    def _read(
        self,
        owned: OwnedDataset,
        remaining_seconds: float,
        begin: Callable[[UploadScan], object],
    ) -> None:
        began = time.monotonic()
        with self._heartbeat(owned) as heartbeat, tempfile.TemporaryFile() as file:
            cancellation = Cancellation(heartbeat.check, self._clock, remaining_seconds)
            attempt = _Attempt(self._stores, self._reader(owned), owned, cancellation)
            try:
                attempt.fetch(file)
                reading = attempt.decide(file, begin)
                attempt.reserve_ids(reading)
                attempt.name_labels(reading)
                attempt.commit(reading, attempt.write(reading))
                attempt.index()
            except (LeaseLost, ServiceError):
                attempt.revert_if_deleted()
                raise
        rows = (reading.scan.seen, reading.scan.kept, reading.scan.rejected)
        dataset, seconds = owned.dataset, time.monotonic() - began
        journal.upload_done(dataset.dataset_id, dataset.type, rows, seconds)
        self._emit(dataset, "dataset.ready")
        # After the commit: if the process dies before, too much is counted until the recount, never
        # too little.
        self._stores.capacity.end_upload(dataset, has_data=True)
        self._drop_raw(owned)
        self._announce_parts(owned.dataset)

    def _heartbeat(self, owned: OwnedDataset) -> Heartbeat:
        leases = self._stores.dataset_leases
        return Heartbeat(
            lambda: leases.renew(owned.dataset, owned.lease), self._settings.lease_seconds
        )

    def _reader(self, owned: OwnedDataset) -> Reader:
        return self._readers[owned.dataset.family]

    def _drop_raw(self, owned: OwnedDataset) -> None:
        """Delete the uploaded file of an image dataset. The file of a text dataset stays stored."""
        if owned.dataset.family != VISION:
            return
        key = raw_key(owned.dataset.dataset_id, owned.dataset.receipt_id)
        try:
            self._stores.artifacts.delete_file(key)
        except StorageUnavailable:
            log.warning("raw_file_left", dataset=owned.dataset.dataset_id)

    def _fail(
        self, owned: OwnedDataset, message: str, detail: str = "", scan: UploadScan | None = None
    ) -> None:
        """End the upload as FAILED, and write a receipt with the cause and the counts so far."""
        dataset = owned.dataset
        receipt = parse_receipt_key(dataset.upload_id, dataset.dataset_id)
        full = message if detail in message else f"{message.removesuffix('.')}: {detail}"
        receipt = replace(receipt, status="FAILED", message=full)
        receipt = receipt if scan is None else scan.fill_failed(receipt)
        try:
            # Renewing raises an error if the upload has ended, so that its receipt is not
            # overwritten.
            self._stores.dataset_leases.renew(dataset, owned.lease)
            self._discard(owned)
            self._stores.receipts.put(receipt, owned.lease.fence)
            self._stores.dataset_leases.fail_upload(owned, message)
            self._stores.capacity.end_upload(dataset, has_data=False)
            journal.upload_failed(dataset.dataset_id, dataset.type)
            self._emit(dataset, "dataset.failed")
            self._drop_raw(owned)
        except LeaseLost:
            log.warning("ingest_lease_lost", dataset=dataset.dataset_id)

    def _emit(self, dataset: Dataset, event: str) -> None:
        ids = {"id": dataset.dataset_id, "receiptId": dataset.receipt_id}
        self._stores.events.emit(dataset.account_id, event, family=dataset.family, **ids)

    def _emit_again(self, job: IngestJob, delivery: int) -> None:
        """After a redelivery, emit the upload's event, because it may not have been emitted."""
        if delivery == 1:
            return
        dataset = self._stores.datasets.find(job.account_id, job.family, job.dataset_id)
        if dataset is None or dataset.upload_id != job.upload_id:
            return
        if dataset.status in (SUCCEEDED, FAILED):
            is_ready = dataset.status == SUCCEEDED
            self._emit(dataset, "dataset.ready" if is_ready else "dataset.failed")

    def _discard(self, owned: OwnedDataset) -> None:
        """Delete the images of a failed upload before its dataset becomes available."""
        if owned.dataset.family != VISION:
            return
        with self._heartbeat(owned) as heartbeat:
            self._reader(owned).discard(owned, heartbeat.check)
            self._stores.parts.discard(owned.dataset.dataset_id, owned.dataset.receipt_id)

    def _retry(self, owned: OwnedDataset, error: Exception) -> None:
        """Record a failed attempt. End the upload if no attempt is left."""
        cause = f"{type(error).__name__}: {error}"
        log.error("ingest_failed", error, dataset=owned.dataset.dataset_id)
        try:
            if owned.lease.attempts >= self._settings.max_attempts:
                self._give_up(owned, cause)
            else:
                self._stores.dataset_leases.fail_attempt(owned, cause)
        except StorageUnavailable:
            log.warning("release_failed", dataset=owned.dataset.dataset_id)

    def _give_up(self, owned: OwnedDataset, cause: str) -> None:
        attempts = min(owned.lease.attempts, self._settings.max_attempts)
        self._fail(owned, out_of_attempts(attempts, cause))
        journal.job_given_up("dataset", owned.dataset.dataset_id)


class _Attempt:
    """One attempt to read an upload. The methods are its steps, in the order of the calls."""

    def __init__(
        self,
        stores: IngestServiceStores,
        reader: Reader,
        owned: OwnedDataset,
        cancellation: Cancellation,
    ) -> None:
        self._stores = stores
        self._reader = reader
        self._owned = owned
        self._cancellation = cancellation
        self._added: Mapping[int, Sequence[tuple[bytes, int]]] = {}

    def fetch(self, file: BinaryIO) -> None:
        """Copy the uploaded file to this machine. Store a file from a URL for later attempts."""
        dataset, upload, artifacts = self._owned.dataset, self._owned.upload, self._stores.artifacts
        uploaded = claimed_file(dataset.account_id, vars(upload))
        if upload.raw:
            if not artifacts.get_file(upload.raw, file):
                raise InvalidUpload("The uploaded file is no longer stored. Upload it again.")
            return
        if uploaded is not None:
            self._stores.uploaded_files.read(uploaded, file)
            size_bytes = file.tell()
        else:
            size_bytes = self._download(file)
        key = raw_key(dataset.dataset_id, dataset.receipt_id)
        file.seek(0)
        artifacts.put_file(key, file, self._cancellation.check)
        file.seek(0)
        self._remember(replace(upload, raw=key, size_bytes=size_bytes))
        if uploaded is not None:
            self._delete_copied(uploaded)

    def decide(self, file: BinaryIO, begin: Callable[[UploadScan], object]) -> IngestPlan:
        """Check the file, plan its examples, and count their size against the account's limit."""
        owned, check = self._owned, self._cancellation.check
        reading = self._reader.read(owned, file, check, begin)
        check()
        # The real size is known only now: the upload of an archive reserves the size of its file.
        self._stores.capacity.resize_upload(owned.dataset, reading.scan.bytes)
        return reading

    def reserve_ids(self, reading: IngestPlan) -> None:
        """Reserve ids for labels and examples, unless an earlier attempt has done so."""
        upload, labels, ids = self._owned.upload, len(reading.scan.new_labels), self._stores.ids
        # Ids are stored in the row, so that a repeated attempt writes the same rows again.
        if upload.first_example:
            return
        reserved = replace(
            upload,
            labels=labels,
            first_label=ids.reserve("labels", labels) if labels else 0,
            first_example=ids.reserve("examples", max(1, reading.scan.kept)),
        )
        self._remember(reserved)

    def name_labels(self, reading: IngestPlan) -> None:
        dataset = self._owned.dataset
        names = dict(zip(self._owned.upload.label_ids, reading.scan.new_labels, strict=True))
        self._stores.labels.put(
            owner_key(dataset.account_id, dataset.family), dataset.dataset_id, names
        )

    def write(self, reading: IngestPlan) -> tuple[LabelCounts, ...]:
        """Write the examples; also write parts, which are lists of texts or images to embed.

        Returns:
            The counts of all labels, to be committed.
        """
        dataset, upload, check = self._owned.dataset, self._owned.upload, self._cancellation.check
        ids = self._label_ids(reading)
        counts = {c.label_id: c for c in dataset.counts}
        counts |= {i: LabelCounts(i) for i in upload.label_ids}
        writer = ChunkWriter(
            self._stores.examples,
            dataset.dataset_id,
            self._owned.lease.fence,
            counts,
            check,
            source=upload.source,
        )
        writer.note = partial(self._stores.example_places.note, dataset.dataset_id)
        parts = self._stores.parts.writer(dataset, dataset.receipt_id)
        # Not the clock, so that a repeated attempt writes the same rows.
        now = dataset.updated_at
        for number, example in enumerate(reading.examples(), upload.first_example):
            label_id = ids[example.label]
            writer.add(Example(number, example.name, now, label_id, example.picture, example.box))
            if example.waiting:
                parts.add(example.waiting)
        parts.close()
        written = writer.close()
        self._added = writer.added
        check()
        return written

    def commit(self, reading: IngestPlan, counts: tuple[LabelCounts, ...]) -> None:
        """Write the receipt, then make all examples visible with one write."""
        dataset, lease = self._owned.dataset, self._owned.lease
        receipt = parse_receipt_key(dataset.upload_id, dataset.dataset_id)
        receipt = reading.fill(replace(receipt, status="SUCCEEDED"))
        # The receipt first: a reader that sees the end of the upload must find the receipt.
        self._stores.receipts.put(receipt, lease.fence)
        addition = Addition(
            counts=counts,
            duplicates=dataset.duplicates + reading.scan.duplicates,
            words_upload=dataset.words_upload + reading.scan.words,
            words_feedback=dataset.words_feedback,
            bytes=dataset.bytes + reading.scan.bytes,
        )
        self._stores.dataset_leases.commit_upload(dataset, lease, addition)

    def index(self) -> None:
        """Add the new examples of a label to its digest index, if the label got many examples."""
        dataset, source = self._owned.dataset, self._owned.upload.source
        before = {c.label_id: c for c in dataset.counts}
        try:
            for label_id, added in self._added.items():
                if len(added) > STEP:
                    counts = before.get(label_id, LabelCounts(label_id))
                    sequence = sequence_of(dataset.dataset_id, source, counts)
                    self._stores.digests.extend(sequence, counts.count(source), added)
        except StorageUnavailable:
            log.warning("index_not_written", dataset=dataset.dataset_id)

    def revert_if_deleted(self) -> None:
        """Delete all written data if the dataset was deleted while the file was read."""
        dataset = self._owned.dataset
        current = self._stores.datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        if current is None or current.status == DELETION_PENDING:
            label_ids = {c.label_id for c in dataset.counts} | set(self._owned.upload.label_ids)
            self._stores.contents.delete(dataset.dataset_id, label_ids)

    def _remember(self, upload: Upload) -> None:
        """Store the state of the upload in the dataset's row, for later attempts."""
        self._stores.dataset_leases.put_upload(self._owned.dataset, self._owned.lease, upload)
        self._owned = replace(self._owned, upload=upload)

    def _download(self, file: BinaryIO) -> int:
        """Download the file from its URL within the remaining time; return its size in bytes."""
        seconds = min(self._reader.download_seconds, self._cancellation.remaining_seconds)
        path, most, check = (
            self._owned.upload.path,
            self._reader.max_bytes,
            self._cancellation.check,
        )
        try:
            fetched = self._stores.downloads.fetch(path, file, most, seconds, check=check)
        except DownloadFailed:
            # If the time is up, the file is not at fault: a worker of the queue continues with the
            # upload.
            check()
            raise
        return fetched.size_bytes

    def _delete_copied(self, uploaded: UploadedFile) -> None:
        """Delete the original of a copied file. If this fails, a bucket rule deletes it later."""
        try:
            self._stores.uploaded_files.delete(uploaded)
        except StorageUnavailable:
            log.warning("incoming_left", upload=uploaded.upload_id)

    def _label_ids(self, reading: IngestPlan) -> Mapping[str, int]:
        ids = self._stores.labels.ids(self._owned.dataset)
        return ids | dict(zip(reading.scan.new_labels, self._owned.upload.label_ids, strict=True))
