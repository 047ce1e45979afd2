"""Reads samples to predict: bytes in the call, files sent with a presigned form, or URLs."""

from __future__ import annotations

import io

from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.datasets.upload import is_upload_path
from chalicelib.domain.documents.sample import Sample
from chalicelib.errors import DownloadFailed, StorageUnavailable, TooLarge
from chalicelib.stores.accounts.in_flight import InFlight
from chalicelib.stores.fetching.downloads import Downloader
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore

# Longest download of a sample in seconds, unless the caller sets another limit.
DOWNLOAD_SECONDS = 15.0


class SampleFiles:
    """Reads samples from calls, uploads and URLs."""

    def __init__(
        self, downloads: Downloader, uploads: UploadedFileStore, in_flight: InFlight
    ) -> None:
        self._downloads = downloads
        self._uploads = uploads
        self._in_flight = in_flight

    def content(
        self, sample: Sample, max_bytes: int, sample_name: str, seconds: float = DOWNLOAD_SECONDS
    ) -> bytes:
        """Return the bytes of a sample that is in the call or at a location.

        For a sample at a location, `max_bytes` is the maximum size, and `seconds` the time limit of
        the download. The size of a sample in the call is not checked.
        `sample_name` is the name of the sample in error texts.

        Raises:
            DownloadFailed: the location cannot be read; the message says why.
            TooLarge: the file is above the limit.
            RateExceeded: the account has the maximum number of running downloads.
            MachineBusy: this process has the maximum number of running downloads.
        """
        if sample.content is not None:
            return sample.content
        location, target = sample.location or "", io.BytesIO()
        if not is_upload_path(location):
            with self._in_flight.downloading(sample.account_id):
                self._downloads.fetch(location, target, max_bytes, seconds, sample_name)
            return target.getvalue()
        try:
            return self._uploaded(sample.account_id, location, max_bytes)
        except DownloadFailed as failed:
            raise DownloadFailed(failed.reason, sample_name) from failed

    def _uploaded(self, account_id: str, path: str, max_bytes: int) -> bytes:
        uploaded, size_bytes = self._uploads.find(account_id, path)
        if size_bytes > max_bytes:
            raise TooLarge(
                f"The file has {size_bytes} bytes; at most {max_bytes} are allowed. Send less."
            )
        user, target = new_string_id(), io.BytesIO()
        self._uploads.claim(uploaded, user)
        try:
            self._uploads.read(uploaded, target)
        except (DownloadFailed, StorageUnavailable):
            self._uploads.release(uploaded, user)
            raise
        return target.getvalue()
