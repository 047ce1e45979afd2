"""Copies uploaded unlabelled texts for the run that uses them. See beyond.md, section 15.

An upload is deleted within an hour, and a run may wait longer or be repeated. So the call reads the
file, and the run uses its own copy of the texts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MAX_UNLABELLED
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadedFile, is_upload_path
from chalicelib.domain.jobs.batch import MAX_BATCH_LINES
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.domain.jobs.lease import Cancellation
from chalicelib.domain.models.model import Model, ModelView
from chalicelib.errors import DownloadFailed, InvalidParameter, TimedOut
from chalicelib.formats.texts.batch_file import read_lines
from chalicelib.formats.texts.encoding import HEAD_BYTES
from chalicelib.formats.upload_files import explain_head
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from chalicelib.stores.models.run_files import RunFiles, RunFileStore, StoreFiles, UserTextStore

_PARAMETER = "trainParams.unlabelled"
_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class UnlabelledStores:
    """The stores that `UnlabelledTextService` uses."""

    run_files: RunFileStore
    uploaded_files: UploadedFileStore
    user_texts: UserTextStore


class UnlabelledTextService:
    """Reads uploaded unlabelled texts, and stores them for one run."""

    def __init__(self, stores: UnlabelledStores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def queue(
        self, model: Model, seconds: float, enqueue: Callable[[StoreFiles | None], ModelView]
    ) -> ModelView:
        """Queue a run. If the request names an upload of texts, store these texts for the run.

        The texts must be read within `seconds`; 0 means the maximum time. `enqueue` queues the run.
        If `enqueue` fails, the upload can be used again.

        Raises:
            BadRequest: the account has no such upload, or its file cannot be used.
            TooLarge: the file is over its limit.
            TimedOut: the file was not read in time.
        """
        path = str(model.request.param("unlabelled"))
        if model.family != LANGUAGE or not is_upload_path(path):
            return enqueue(None)
        try:
            uploaded = self._stores.run_files.find_texts(model.account_id, path, _PARAMETER)
            texts, stored = self._read(uploaded, seconds), self._stores.user_texts
            files = RunFiles(
                lambda: stored.put_unlabelled(model, texts),
                lambda: stored.delete_unlabelled(model),
                uploaded,
            )
            return self._stores.run_files.queue(model, files, enqueue)
        except DownloadFailed as refused:
            # The parameter is never a URL, so the error names the parameter and not a URL.
            raise InvalidParameter(_PARAMETER, refused.reason) from refused

    def _read(self, uploaded: UploadedFile, seconds: float) -> list[str]:
        """Return the distinct texts of a file, in the order of the file."""
        limit = min(seconds, _SECONDS) if seconds else _SECONDS
        cancellation = Cancellation(lambda: None, self._clock, limit)
        with tempfile.TemporaryFile() as file:
            try:
                self._stores.uploaded_files.read(uploaded, file, check=cancellation.check)
                texts, count = _usable_texts(file, cancellation.check)
            except TimedOut:
                raise TimedOut(
                    f"The file of {_PARAMETER} was not read within {limit:.0f} seconds. Send a "
                    "smaller random sample, or upload a dataset and name its id."
                ) from None
        if not 0 < count <= MAX_UNLABELLED:
            raise InvalidParameter(
                _PARAMETER,
                f"the file has {count:,} texts that can be used, and 1 to {MAX_UNLABELLED:,} are "
                f"allowed. {'Send a random sample.' if count else 'Send a file with texts.'}",
            )
        return texts


def _usable_texts(file: BinaryIO, check: Callable[[], None]) -> tuple[list[str], int]:
    """Return distinct texts of a file up to a limit, and the number of all texts in the file."""
    file.seek(0)
    if explanation := explain_head(LANGUAGE, file.read(HEAD_BYTES)):
        raise InvalidParameter(_PARAMETER, explanation)
    # The table makes the reader look for the column of the texts.
    lines = islice(
        read_lines(file, check=check, table=InputTable(), keeps_cells=True), MAX_BATCH_LINES
    )
    texts: dict[str, None] = {}
    count = 0
    for line in lines:
        # Rows without a text, or with one that is too long, say little about the domain.
        if line.error is None:
            count += 1
            texts.setdefault(line.text)
    return list(texts), count
