"""Accepts files that become datasets or are added to them; the ingest reads them.

See chalicelib/services/ingest.py and chalicelib/routes/uploads.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.account import Account
from chalicelib.domain.clock import Clock
from chalicelib.domain.dataset import DELETION_PENDING, UPLOADING, Dataset, DatasetView
from chalicelib.domain.fields import checked_language, checked_name, checked_type
from chalicelib.domain.ids import new_string_id
from chalicelib.domain.jobs import Job, ingest_job
from chalicelib.domain.limits import (
    MAX_DATASET_BYTES,
    MAX_DERIVED_NAME_CHARACTERS,
    MAX_TEXT_FILE_BYTES,
)
from chalicelib.domain.receipt import Receipt
from chalicelib.domain.upload import Upload, UploadFields, UploadSource
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    DownloadFailed,
    InvalidUpload,
    StorageUnavailable,
    TooLarge,
    TooManyOpen,
    UnsupportedType,
)
from chalicelib.formats.text_encoding import HEAD_BYTES, explain_foreign_type
from chalicelib.stores.artifacts import ArtifactStore, dataset_prefix
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.downloads import Downloader
from chalicelib.stores.ids import IdStore
from chalicelib.stores.labels import LabelStore
from chalicelib.stores.queues import INGEST, Queues
from chalicelib.stores.receipts import ReceiptStore, receipt_key


@dataclass(frozen=True)
class UploadStores:
    """Where uploads are written."""

    datasets: DatasetStore
    """Dataset rows."""
    labels: LabelStore
    """Label names."""
    ids: IdStore
    """Integer ids."""
    artifacts: ArtifactStore
    """Raw files."""
    receipts: ReceiptStore
    """Receipts."""
    queues: Queues
    """Jobs."""
    downloads: Downloader
    """Files behind a URL."""


class UploadService:
    """The accepting side of uploads: when a call is answered, nothing of it can be lost."""

    def __init__(
        self,
        stores: UploadStores,
        clock: Clock,
        settings: Settings,
        ingest: Callable[[Job, float], None],
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._settings = settings
        self._ingest = ingest

    def create(
        self, account: Account, family: str, source: UploadSource, fields: UploadFields
    ) -> DatasetView:
        """Accept a file as a new dataset; it is UPLOADING until the queue worker has read it.

        Raises:
            BadRequest: a field or the URL is not allowed.
            TooLarge: the file is over its limit.
            UnsupportedType: the file is no text.
            TooManyOpen: the account has too much going on, or stores too much.
            StorageUnavailable: nothing was accepted.
        """
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
        """Accept a file and read it within the call; UPLOADING when the time runs out.

        Raises:
            BadRequest: a field or the URL is not allowed.
            TooLarge: the file is over its limit.
            UnsupportedType: the file is no text.
            TooManyOpen: the account has too much going on, or stores too much.
            StorageUnavailable: nothing was accepted.
        """
        dataset, job = self._accept(account, family, source, fields)
        try:
            self._ingest(job, remaining_seconds)
        except StorageUnavailable:
            log.warning("sync_ingest_failed", dataset=dataset.dataset_id)
        try:
            current = self._stores.datasets.find(account.account_id, family, dataset.dataset_id)
            view = self._stores.labels.view(current or dataset)
        except StorageUnavailable:
            # It was accepted; the caller must not be told to send it again.
            view = DatasetView(dataset, ())
        if view.dataset.status == UPLOADING:
            self._enqueue(job)
        return view

    def add(self, account: Account, view: DatasetView, source: UploadSource) -> DatasetView:
        """Accept a file that adds to a dataset; its data of before stays as it is until then.

        Raises:
            DatasetNotYetAvailable: an upload is going on.
            DatasetBeingDeleted: it is being deleted.
            BadRequest: it was not created from a file, or its first upload failed.
            TooLarge: the file, or the dataset with it, is over its limit.
            UnsupportedType: the file is no text.
            StorageUnavailable: nothing was accepted.
        """
        dataset = view.dataset
        _check_can_grow(dataset)
        self._check_room(account, len(source.content or b""))
        receipt = Receipt(new_string_id(), dataset.dataset_id, self._clock())
        upload = replace(self._described(dataset.dataset_id, receipt, source), adds=True)
        self._keep(upload, source)
        started = self._stores.datasets.start_upload(dataset, receipt_key(receipt), upload)
        if started is None:
            if upload.raw:
                self._stores.artifacts.delete(upload.raw)
            raise DatasetNotYetAvailable
        self._note(receipt)
        self._enqueue(ingest_job(started))
        return self._stores.labels.view(started)

    def _accept(
        self, account: Account, family: str, source: UploadSource, fields: UploadFields
    ) -> tuple[Dataset, Job]:
        """Check the fields, keep the file, and write the dataset's row last."""
        dataset_type = checked_type(family, fields.type)
        language = checked_language(family, fields.language)
        name = checked_name(fields.name or _name_from(source))
        self._check_room(account, len(source.content or b""))
        _check_content(source)
        dataset_id = self._stores.ids.reserve("datasets")
        receipt = Receipt(new_string_id(), dataset_id, self._clock())
        upload = self._described(dataset_id, receipt, source)
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
        )
        try:
            self._keep(upload, source)
            self._stores.datasets.create(dataset, upload)
        except StorageUnavailable:
            self._withdraw(dataset, upload)
            raise
        self._note(receipt)
        return dataset, ingest_job(dataset)

    def _described(self, dataset_id: int, receipt: Receipt, source: UploadSource) -> Upload:
        """Say where the file's bytes will lie, or check that its URL can be read."""
        if source.path is not None:
            probe = self._stores.downloads.check(source.path, MAX_TEXT_FILE_BYTES)
            explanation = explain_foreign_type(probe.head)
            if explanation:
                raise DownloadFailed(explanation)
            return Upload(path=source.path, size_bytes=probe.size_bytes or 0)
        _check_content(source)
        key = f"{dataset_prefix(dataset_id)}raw/{receipt.receipt_id}"
        return Upload(raw=key, size_bytes=len(source.content or b""))

    def _keep(self, upload: Upload, source: UploadSource) -> None:
        """Keep the bytes of a file that was sent in the call."""
        if upload.raw:
            self._stores.artifacts.put(upload.raw, source.content or b"")

    def _withdraw(self, dataset: Dataset, upload: Upload) -> None:
        """Undo a request whose file or row may or may not have been written."""
        try:
            if self._stores.datasets.cancel(dataset) and upload.raw:
                self._stores.artifacts.delete(upload.raw)
        except StorageUnavailable:
            log.warning("withdraw_failed", dataset=dataset.dataset_id)

    def _check_room(self, account: Account, size_bytes: int) -> None:
        """Refuse when the account stores too much or has too many uploads going on."""
        stored, going_on = self._stores.datasets.load(account.account_id)
        if going_on >= self._settings.max_open_uploads:
            raise TooManyOpen(
                f"{going_on} uploads are going on, the limit is "
                f"{self._settings.max_open_uploads}. Wait until one has finished.",
                retry_after_seconds=10,
            )
        if stored + size_bytes > self._settings.max_stored_bytes:
            raise TooManyOpen(
                f"The account stores {stored} bytes and this file has {size_bytes}; the limit is "
                f"{self._settings.max_stored_bytes}. Delete datasets that are not needed.",
                retry_after_seconds=60,
            )

    def _note(self, receipt: Receipt) -> None:
        """Write the receipt of an accepted upload; when it fails, the ingest writes it later."""
        try:
            self._stores.receipts.put(receipt)
        except StorageUnavailable:
            log.warning("receipt_failed", dataset=receipt.dataset_id)

    def _enqueue(self, job: Job) -> None:
        """Send the job; when the queue fails, the sweep finds the dataset's row and sends it."""
        try:
            self._stores.queues.send(INGEST, job)
        except StorageUnavailable:
            log.warning("enqueue_failed", job="ingest", dataset=job["dataset_id"])


def _check_can_grow(dataset: Dataset) -> None:
    """Refuse files for a dataset that cannot take one."""
    if dataset.status == DELETION_PENDING:
        raise DatasetBeingDeleted(dataset.dataset_id)
    if dataset.status == UPLOADING:
        raise DatasetNotYetAvailable
    if not dataset.available:
        raise BadRequest(
            f"The first upload of dataset {dataset.dataset_id} failed. "
            "Delete the dataset, then upload the file as a new one.",
            code="dataset_failed",
        )
    if not dataset.is_uploaded:
        raise BadRequest(
            f"Dataset {dataset.dataset_id} was not created from a file, so no file can be added. "
            "Add examples singly, or upload the file as a new dataset.",
            code="dataset_not_uploaded",
        )
    if dataset.bytes >= MAX_DATASET_BYTES:
        raise TooLarge(
            f"Dataset {dataset.dataset_id} has {dataset.bytes} bytes; at most {MAX_DATASET_BYTES} "
            "(2 GB) are allowed. Upload the file as a new dataset."
        )


def _check_content(source: UploadSource) -> None:
    """Refuse a file that is empty, over its limit, or no text."""
    if source.content is None:
        return
    size = len(source.content)
    if size == 0:
        raise InvalidUpload("The file has 0 bytes. Send a file with one text and label a row.")
    if size > MAX_TEXT_FILE_BYTES:
        raise TooLarge(
            f"The file has {size} bytes; at most {MAX_TEXT_FILE_BYTES} (25 MB) are allowed. "
            "Split it, and add the other parts with PUT."
        )
    explanation = explain_foreign_type(source.content[:HEAD_BYTES])
    if explanation:
        raise UnsupportedType(explanation)


def _name_from(source: UploadSource) -> str:
    """Derive a dataset name from the file's name: without extension, cut to 100."""
    name = source.file_name or _last_part(source.path or "")
    stem = "".join(c if c.isprintable() else " " for c in PurePosixPath(name).stem)
    return stem[:MAX_DERIVED_NAME_CHARACTERS].strip() or "dataset"


def _last_part(url: str) -> str:
    """Return the last part of a URL's path; empty for what is none, which the download refuses."""
    try:
        return unquote(PurePosixPath(urlsplit(url).path).name)
    except ValueError:
        return ""
