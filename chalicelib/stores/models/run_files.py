"""Stores the texts and archives that a call sends for a run of a model, and queues the run."""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from chalicelib.domain.common.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.upload import UploadedFile
from chalicelib.domain.models.model import Model, ModelView
from chalicelib.domain.models.user_texts import UserTexts
from chalicelib.errors import ServiceError, StorageUnavailable, TooLarge, TrainingFailed
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from chalicelib.stores.models.models import ModelStore


class ImportedFileStore:
    """Reads, writes and deletes the archives of imported models."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def put(self, model_id: str, content: bytes) -> None:
        """Store the archive of a model."""
        self._artifacts.put_file(_key(model_id), io.BytesIO(content))

    def read(self, model_id: str, target: BinaryIO) -> bool:
        """Copy the archive of a model into an open file; return False if it was deleted."""
        return self._artifacts.get_file(_key(model_id), target)

    def delete(self, model_id: str) -> None:
        """Delete the archive of a model. A missing archive is ignored."""
        self._artifacts.delete_file(_key(model_id))


def _key(model_id: str) -> str:
    return f"{model_prefix(model_id)}import.zip"


class UserTextStore:
    """Reads, writes and deletes the texts of adjustments, and the unlabelled texts of trainings."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def new_key(self, model: Model) -> str:
        """Return a new key for the texts of the next run of a model."""
        # The key has a random part, because only one of two simultaneous calls gets the run.
        return f"{_prefix(model)}{model.run + 1}-{secrets.token_hex(8)}.json"

    def put(self, key: str, texts: UserTexts) -> None:
        """Store the texts of a run."""
        content = {"texts": list(texts.texts), "labels": list(texts.labels)}
        self._artifacts.put_json(key, content)

    def get(self, key: str) -> UserTexts | None:
        """Return the texts stored under a key; None if they were deleted."""
        content = self._artifacts.get_json(key)
        return None if content is None else UserTexts(content["texts"], content["labels"])

    def put_unlabelled(self, model: Model, texts: Sequence[str]) -> None:
        """Store unlabelled texts for the current run of a model."""
        self._artifacts.put_json(_unlabelled_key(model), list(texts))

    def unlabelled(self, model: Model) -> tuple[str, list[str]]:
        """Return the unlabelled texts of a model's current run, and where their vectors are stored.

        Returns:
            The prefix of the bucket keys of the vectors, and the texts.

        Raises:
            TrainingFailed: the texts are deleted.
        """
        texts = self._artifacts.get_json(_unlabelled_key(model))
        if texts is None:
            raise TrainingFailed("The unlabelled texts are gone. Upload them, and train again.")
        return _unlabelled_prefix(model), texts

    def delete_unlabelled(self, model: Model) -> None:
        """Delete the unlabelled texts of a call that was refused."""
        self.delete(_unlabelled_key(model))

    def delete(self, key: str) -> None:
        """Delete the texts of a call that was refused."""
        self._artifacts.delete(key)

    def delete_until(self, model: Model) -> None:
        """Delete the texts of the model's current and earlier runs.

        These include texts of calls that stopped before they queued a run.
        """
        prefix = _prefix(model)
        for key in self._artifacts.keys(prefix):
            if int(key.removeprefix(prefix).partition("-")[0]) <= model.run:
                self._artifacts.delete(key)


def _unlabelled_prefix(model: Model) -> str:
    """Return the key prefix of a run's unlabelled texts and their vectors."""
    # Of two calls that request the same run, only one has claimed the upload.
    return f"{_prefix(model)}{model.run}-{model.request.unlabelled_upload}/"


def _unlabelled_key(model: Model) -> str:
    return f"{_unlabelled_prefix(model)}texts.json"


def _prefix(model: Model) -> str:
    return f"{model_prefix(model.model_id)}adjustments/"


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
    """Stores the files of a run, and deletes them if the run is not queued."""

    def __init__(self, models: ModelStore, uploads: UploadedFileStore) -> None:
        self._models = models
        self._uploads = uploads

    def find_texts(self, account_id: str, path: str, parameter: str) -> UploadedFile:
        """Return the uploaded file of texts that `path` names.

        `parameter` is the name of the request parameter with this path. Error texts contain it.

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

        `enqueue` queues the run. It receives `files.store`, and calls it to write the files.

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
            # The file was copied. If its deletion fails, a rule of the bucket deletes it later.
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
                # A hidden row may belong to a later attempt. If it does not, its deletion also
                # deletes the files.
                is_used = found or self._models.is_hidden(*key)
            if is_used:
                return
            files.discard()
            if files.uploaded is not None:
                self._uploads.release(files.uploaded, user)
