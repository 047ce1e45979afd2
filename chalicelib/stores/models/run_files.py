"""Queues runs that read files sent with the call: texts or an archive.

The files of a new model are stored after its row, which is hidden until then. So if the process
crashes in between, the periodic sweep deletes the row and the files.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from chalicelib.domain.common.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.upload import UploadedFile
from chalicelib.domain.models.model import Model, ModelView
from chalicelib.errors import ServiceError, StorageUnavailable, TooLarge
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from chalicelib.stores.models.models import ModelStore

# Writes the files of a run.
StoreFiles = Callable[[], object]


@dataclass(frozen=True)
class RunFiles:
    """The files that a call sends for the run that it queues."""

    store: StoreFiles | None
    """Writes the files to the bucket; None if the run only reads `uploaded`."""
    discard: Callable[[], object]
    """Deletes the files that `store` wrote."""
    uploaded: UploadedFile | None = None
    """File that was sent with a presigned form. No other call may use it."""


class RunFileStore:
    """Stores the files of a run, and undoes that if the run is not queued."""

    def __init__(self, models: ModelStore, uploads: UploadedFileStore) -> None:
        self._models = models
        self._uploads = uploads

    def find_texts(self, account_id: str, path: str, parameter: str) -> UploadedFile:
        """Return the uploaded file of texts at the `path` in a parameter of the call.

        Raises:
            DownloadFailed: the account has no such upload, or it cannot be used.
            TooLarge: the file is over the limit for texts.
        """
        uploaded, size = self._uploads.find(account_id, path)
        if size > MAX_TEXT_FILE_BYTES:
            raise TooLarge(
                f"The file of {parameter} has {size} bytes; at most {MAX_TEXT_FILE_BYTES} "
                "(25 MB) are allowed. Send a random sample of its texts."
            )
        return uploaded

    def queue(
        self, model: Model, files: RunFiles, enqueue: Callable[[StoreFiles | None], ModelView]
    ) -> ModelView:
        """Queue a run with its files.

        Args:
            model: the model, with number and request of the run.
            files: the files of the run.
            enqueue: queues the run. It calls its argument, `files.store`, to write the files.

        Raises:
            DownloadFailed: another call has used the uploaded file.
        """
        uploaded, user = files.uploaded, object_id()
        if uploaded is not None:
            self._uploads.claim(uploaded, user)
        try:
            queued = enqueue(files.store)
        except ServiceError:
            self._revert(model, files, user)
            raise
        if uploaded is not None and files.store is not None:
            # Copied, so it is not needed. If this fails, a rule of the bucket deletes it.
            with suppress(StorageUnavailable):
                self._uploads.delete(uploaded)
        return queued

    def _revert(self, model: Model, files: RunFiles, user: str) -> None:
        """Delete the files of a run that was not queued, and release the uploaded file."""
        with suppress(StorageUnavailable):
            key = model.account_id, model.model_id
            found = self._models.find(*key)
            # The row may have been written although the call failed.
            if model.run > 1:
                is_used = found and found.run >= model.run and found.request == model.request
            else:
                # A hidden row may belong to a later attempt. Otherwise its files go with it.
                is_used = found or self._models.is_hidden(*key)
            if is_used:
                return
            files.discard()
            if files.uploaded is not None:
                self._uploads.release(files.uploaded, user)
