"""Reads an uploaded file into a dataset: scan, reserve ids, write chunks, commit.

Entered by the queue and by synchronous uploads. The scan decides everything before anything is
written; ids are reserved once and remembered, so an attempt that is repeated writes the same
rows again; the commit is one conditional write of the dataset's row.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.clock import Clock
from chalicelib.domain.dataset import UPLOAD, Dataset, LabelCounts
from chalicelib.domain.jobs import Job, embed_job
from chalicelib.domain.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.receipt import Receipt
from chalicelib.domain.upload import Upload
from chalicelib.errors import InvalidUpload, LeaseLost, ServiceError, StorageUnavailable, TimedOut
from chalicelib.formats.language_scan import Scan, ScanRules, kept_rows, scan
from chalicelib.stores.artifacts import ArtifactStore, dataset_prefix
from chalicelib.stores.chunk_writer import ChunkWriter
from chalicelib.stores.dataset_leases import Addition, DatasetLeases, OwnedDataset
from chalicelib.stores.dataset_traces import DatasetTraces
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.downloads import Downloader
from chalicelib.stores.examples import ExampleStore
from chalicelib.stores.heartbeats import Heartbeat
from chalicelib.stores.ids import IdStore
from chalicelib.stores.labels import LabelStore, owner_key
from chalicelib.stores.parts import PartStore
from chalicelib.stores.queues import EMBED, Queues
from chalicelib.stores.receipts import ReceiptStore, parse_receipt_key

DOWNLOAD_SECONDS = 300.0
"""Longest time that a `path` may take to download, in seconds."""


@dataclass(frozen=True)
class IngestStores:
    """What the ingest reads and writes."""

    datasets: DatasetStore
    """Dataset rows."""
    traces: DatasetTraces
    """What a deleted dataset may leave."""
    leases: DatasetLeases
    """Ownership and commit."""
    labels: LabelStore
    """Label names."""
    ids: IdStore
    """Integer ids."""
    examples: ExampleStore
    """Chunks."""
    artifacts: ArtifactStore
    """Raw files."""
    receipts: ReceiptStore
    """Receipts."""
    parts: PartStore
    """Texts that wait to be embedded."""
    queues: Queues
    """Embedding jobs."""
    downloads: Downloader
    """Files behind a URL."""


class IngestService:
    """Runs the jobs of the ingest queue that read files."""

    def __init__(self, stores: IngestStores, clock: Clock, settings: Settings) -> None:
        self._stores = stores
        self._clock = clock
        self._settings = settings

    def run(self, job: Job, remaining_seconds: float = 0.0) -> None:
        """Read one upload; a job that is done, ended or owned by another worker is left alone.

        Args:
            job: as made by `ingest_job`.
            remaining_seconds: stop without harm after this time; 0 means no limit.

        Raises:
            StorageUnavailable: the storage did not answer; the queue tries again.
        """
        owned = self._stores.leases.take_upload(
            str(job["account_id"]),
            str(job["family"]),
            int(str(job["dataset_id"])),
            str(job["upload_id"]),
        )
        if owned is None:
            return
        if owned.lease.attempts > self._settings.max_attempts:
            self._fail(owned, self._gave_up(owned, owned.lease.last_error))
            return
        try:
            self._read(owned, remaining_seconds)
        except LeaseLost:
            log.warning("ingest_lease_lost", dataset=owned.dataset.dataset_id)
        except TimedOut:
            self._stores.leases.release(owned.dataset, owned.lease, counts=False)
        except StorageUnavailable as trouble:
            self._retry(owned, trouble)
            raise
        except ServiceError as refusal:
            self._fail(owned, str(refusal))
        except Exception as error:
            self._retry(owned, error)
            raise

    def _read(self, owned: OwnedDataset, remaining_seconds: float) -> None:
        """Read the file under a heartbeat."""
        leases = self._stores.leases
        beat = Heartbeat(
            lambda: leases.renew(owned.dataset, owned.lease), self._settings.lease_seconds
        )
        with beat, tempfile.TemporaryFile() as file:
            watch = Watch(beat.check, self._clock, remaining_seconds)
            upload = self._fetch(owned, file)
            rules = self._rules(owned.dataset)
            decision = scan(file, rules)
            watch.check()
            upload = self._reserve(owned, upload, decision)
            try:
                self._put_names(owned, upload, decision)
                counts = self._write(owned, upload, (file, rules, decision), watch)
                watch.check()
                self._commit(owned, counts, decision)
            except LeaseLost:
                self._withdraw_if_deleted(owned, upload)
                raise
        self._fan_out(owned)

    def _fetch(self, owned: OwnedDataset, file: BinaryIO) -> Upload:
        """Bring the raw file here; one behind a URL is kept for later attempts."""
        upload, artifacts = owned.upload, self._stores.artifacts
        if upload.raw:
            if not artifacts.get_file(upload.raw, file):
                raise InvalidUpload(
                    "The uploaded file is not in the storage any more. Upload again."
                )
            return upload
        fetched = self._stores.downloads.fetch(
            upload.path, file, MAX_TEXT_FILE_BYTES, DOWNLOAD_SECONDS
        )
        receipt_id = owned.dataset.upload_id.partition("#")[2]
        key = f"{dataset_prefix(owned.dataset.dataset_id)}raw/{receipt_id}"
        file.seek(0)
        artifacts.put_file(key, file)
        file.seek(0)
        upload = replace(upload, raw=key, size_bytes=fetched.size_bytes)
        self._stores.leases.put_upload(owned.dataset, owned.lease, upload)
        return upload

    def _rules(self, dataset: Dataset) -> ScanRules:
        """Collect what the dataset has, so that duplicates are found."""
        names = self._stores.labels.names(c.label_id for c in dataset.counts)
        known = {
            names[c.label_id]: frozenset(
                self._stores.examples.digests(dataset.dataset_id, UPLOAD, [c])
            )
            for c in dataset.counts
        }
        return ScanRules(
            language=dataset.language,
            is_sentiment=dataset.type == "text-sentiment",
            known=known,
            examples=dataset.total,
            bytes=dataset.bytes,
        )

    def _reserve(self, owned: OwnedDataset, upload: Upload, decision: Scan) -> Upload:
        """Reserve ids once; a repetition finds them in the dataset's row."""
        dataset, labels = owned.dataset, len(decision.new_labels)
        if not upload.first_example:
            ids = self._stores.ids
            upload = replace(
                upload,
                labels=labels,
                first_label=ids.reserve("labels", labels) if labels else 0,
                first_example=ids.reserve("examples", max(1, decision.kept)),
            )
            self._stores.leases.put_upload(dataset, owned.lease, upload)
        return upload

    def _put_names(self, owned: OwnedDataset, upload: Upload, decision: Scan) -> None:
        """Write the new labels' names under the reserved ids."""
        names = dict(zip(upload.label_ids, decision.new_labels, strict=True))
        owner = owner_key(owned.dataset.account_id, owned.dataset.family)
        self._stores.labels.put(owner, owned.dataset.dataset_id, names)

    def _withdraw_if_deleted(self, owned: OwnedDataset, upload: Upload) -> None:
        """Take back what was written after the dataset's deletion had waited long enough."""
        dataset = owned.dataset
        found = self._stores.datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        if found is None:
            label_ids = {c.label_id for c in dataset.counts} | set(upload.label_ids)
            self._stores.traces.delete(dataset.dataset_id, label_ids)

    def _write(
        self,
        owned: OwnedDataset,
        upload: Upload,
        source: tuple[BinaryIO, ScanRules, Scan],
        watch: Watch,
    ) -> tuple[LabelCounts, ...]:
        """Write chunks and embedding parts; return the counts to commit."""
        file, rules, decision = source
        dataset = owned.dataset
        ids = self._label_ids(dataset, upload, decision)
        counts = {c.label_id: c for c in dataset.counts}
        counts |= {i: LabelCounts(i) for i in upload.label_ids}
        writer = ChunkWriter(
            self._stores.examples, dataset.dataset_id, owned.lease.fence, counts, watch.check
        )
        parts = self._stores.parts.writer(dataset, dataset.upload_id.partition("#")[2])
        now = dataset.updated_at
        for number, row in enumerate(kept_rows(file, rules, decision)):
            writer.add(ids[row.label], upload.first_example + number, row.text, now)
            parts.add(row.text)
        parts.close()
        return writer.close()

    def _label_ids(self, dataset: Dataset, upload: Upload, decision: Scan) -> Mapping[str, int]:
        """Map label names to ids, old and new."""
        names = self._stores.labels.names(c.label_id for c in dataset.counts)
        ids = {name: label_id for label_id, name in names.items()}
        return ids | dict(zip(decision.new_labels, upload.label_ids, strict=True))

    def _commit(self, owned: OwnedDataset, counts: tuple[LabelCounts, ...], decision: Scan) -> None:
        """Write the receipt, then make everything visible at once."""
        dataset = owned.dataset
        receipt = parse_receipt_key(dataset.upload_id, dataset.dataset_id)
        receipt = _filled(replace(receipt, status="SUCCEEDED"), decision)
        self._stores.receipts.put(receipt, owned.lease.fence)
        addition = Addition(
            counts=counts,
            duplicates=dataset.duplicates + decision.duplicates,
            words_upload=dataset.words_upload + decision.words,
            words_feedback=dataset.words_feedback,
            bytes=dataset.bytes + decision.bytes,
        )
        self._stores.leases.commit_upload(dataset, owned.lease, addition)

    def _fan_out(self, owned: OwnedDataset) -> None:
        """Send the embedding jobs; one that is lost is made up for by the training."""
        dataset = owned.dataset
        try:
            for part in self._stores.parts.waiting(dataset.dataset_id):
                self._stores.queues.send(EMBED, embed_job(dataset, part))
        except StorageUnavailable:
            log.warning("fan_out_failed", dataset=dataset.dataset_id)

    def _fail(self, owned: OwnedDataset, message: str) -> None:
        """End the upload as FAILED, with a receipt that says why."""
        dataset = owned.dataset
        receipt = parse_receipt_key(dataset.upload_id, dataset.dataset_id)
        receipt = replace(receipt, status="FAILED", message=message)
        try:
            # An end whose reply was lost must keep the receipt that it has.
            self._stores.leases.renew(dataset, owned.lease)
            self._stores.receipts.put(receipt, owned.lease.fence)
            self._stores.leases.fail_upload(owned, message)
        except LeaseLost:
            log.warning("ingest_lease_lost", dataset=dataset.dataset_id)

    def _retry(self, owned: OwnedDataset, error: Exception) -> None:
        """Give the job back to the queue, or end it when it is out of attempts."""
        cause = f"{type(error).__name__}: {error}"
        log.error("ingest_failed", error, dataset=owned.dataset.dataset_id)
        try:
            if owned.lease.attempts >= self._settings.max_attempts:
                self._fail(owned, self._gave_up(owned, cause))
            else:
                self._stores.leases.release(owned.dataset, owned.lease, cause)
        except StorageUnavailable:
            log.warning("release_failed", dataset=owned.dataset.dataset_id)

    def _gave_up(self, owned: OwnedDataset, cause: str) -> str:
        """Say why an upload is out of attempts."""
        attempts = min(owned.lease.attempts, self._settings.max_attempts)
        return (
            f"The file could not be read in {attempts} attempts"
            f"{f' ({cause})' if cause else ''}. Upload it again."
        )


class Watch:
    """Stops a job whose lease is lost or whose time is up."""

    def __init__(
        self, check_lease: Callable[[], None], clock: Clock, remaining_seconds: float
    ) -> None:
        self._check_lease = check_lease
        self._clock = clock
        self._deadline = clock().timestamp() + remaining_seconds if remaining_seconds else None

    def check(self) -> None:
        """Return while work may go on.

        Raises:
            LeaseLost: another worker owns the job, or it was ended.
            TimedOut: the time given is up; the queue goes on.
        """
        self._check_lease()
        if self._deadline is not None and self._clock().timestamp() > self._deadline:
            raise TimedOut("The file was not read in time; the queue goes on with it.")


def _filled(receipt: Receipt, decision: Scan) -> Receipt:
    """Fill a receipt with the numbers of a scan."""
    return replace(
        receipt,
        seen=decision.seen,
        kept=decision.kept,
        duplicates=decision.duplicates,
        rejected=decision.rejected,
        rejections=tuple(decision.rejections),
    )
