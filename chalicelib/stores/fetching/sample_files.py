"""Brings the bytes of a sample, whichever way the caller gives it."""

from __future__ import annotations

import io

from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.datasets.upload import is_upload_path
from chalicelib.domain.documents.sample import Sample
from chalicelib.errors import DownloadFailed, StorageUnavailable, TooLarge
from chalicelib.stores.accounts.in_flight import InFlight
from chalicelib.stores.fetching.downloads import Downloader
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore

# Longest time that a sample's URL may take to download, in seconds.
DOWNLOAD_SECONDS = 15.0


class SampleFiles:
    """Reads samples that were sent, uploaded before, or lie at an address."""

    def __init__(
        self, downloads: Downloader, uploads: UploadedFileStore, in_flight: InFlight
    ) -> None:
        self._downloads = downloads
        self._uploads = uploads
        self._in_flight = in_flight

    def content(
        self, sample: Sample, max_bytes: int, what: str, seconds: float = DOWNLOAD_SECONDS
    ) -> bytes:
        """Return the bytes of a sample; those that were sent are not counted here.

        Args:
            sample: content, or a location and the account that gives it.
            max_bytes: limit of what is read from a location.
            what: names the sample in messages.
            seconds: longest time that a download may take, in seconds.

        Raises:
            DownloadFailed: the location cannot be read; says why.
            TooLarge: it is over the limit.
            RateExceeded: the account has as many downloads going on as it may.
            MachineBusy: this process has as many going on as it may.
        """
        if sample.content is not None:
            return sample.content
        location, target = sample.location or "", io.BytesIO()
        if not is_upload_path(location):
            with self._in_flight.downloading(sample.account_id):
                self._downloads.fetch(location, target, max_bytes, seconds, what)
            return target.getvalue()
        try:
            return self._uploaded(sample.account_id, location, max_bytes)
        except DownloadFailed as failed:
            raise DownloadFailed(failed.reason, what) from failed

    def _uploaded(self, account_id: str, path: str, max_bytes: int) -> bytes:
        """Use a file that was put into the bucket before."""
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
