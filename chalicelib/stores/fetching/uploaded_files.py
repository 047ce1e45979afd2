"""Files that callers upload directly to the bucket; each may be used once.

A file is read by its ETag, so that a file that is overwritten between check and use is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from botocore.exceptions import ClientError
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.limits import MAX_ARCHIVE_BYTES_BY_PATH, UPLOAD_FORM_SECONDS
from chalicelib.domain.datasets.upload import ISSUED, RECEIVED, USED, UploadedFile, upload_id_of
from chalicelib.errors import DownloadFailed, TooLarge
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import UploadFormRow

# The only content type that a form accepts; the format is detected from the bytes.
CONTENT_TYPE = "application/octet-stream"
ALREADY_USED = "The upload was used already; send the file again by a new one."
# How much longer the table keeps a row than its form is valid.
_KEPT_SECONDS = 24 * 3600
_GONE = ("NoSuchKey", "404", "PreconditionFailed", "412")


@translate_errors
class UploadedFileStore:
    """Issues upload forms, and gives each file to one user."""

    def __init__(self, settings: Settings, clients: Clients, clock: Clock) -> None:
        self._bucket = settings.bucket
        self._clients = clients
        clients.bind_tables()
        self._clock = clock

    def create(self, uploaded: UploadedFile) -> tuple[str, dict[str, str]]:
        """Store and sign a form; return its URL and fields."""
        UploadFormRow(
            uploaded.account_id,
            uploaded.upload_id,
            name=uploaded.name,
            status=ISSUED,
            usable_until=uploaded.expires_at,
            expires_at=uploaded.expires_at // 1000 + _KEPT_SECONDS,
        ).save()
        signed = self._clients.presigning_s3.generate_presigned_post(
            self._bucket,
            uploaded.key,
            Fields={"Content-Type": CONTENT_TYPE},
            Conditions=[
                {"Content-Type": CONTENT_TYPE},
                ["content-length-range", 1, MAX_ARCHIVE_BYTES_BY_PATH],
            ],
            ExpiresIn=UPLOAD_FORM_SECONDS,
        )
        return str(signed["url"]), dict(signed["fields"])

    def receive(self, account_id: str, upload_id: str, etag: str) -> bool:
        """Record the first file of a form; return False for later files and unknown forms."""
        actions: list[Action] = [
            UploadFormRow.status.set(RECEIVED),
            UploadFormRow.etag.set(etag),
        ]
        condition = (UploadFormRow.status == ISSUED) & UploadFormRow.etag.does_not_exist()
        return try_update(UploadFormRow(account_id, upload_id), actions, condition)

    def find(self, account_id: str, path: str) -> tuple[UploadedFile, int]:
        """Find the file of a path; return it with its size in bytes.

        Raises:
            DownloadFailed: the account has no such upload, the upload was used or has expired, or
                no file has arrived.
        """
        uploaded = self._row(account_id, upload_id_of(path) or "")
        if uploaded is None:
            raise DownloadFailed(f"There is no upload {path[:60]!r}; get one by POST /v2/uploads.")
        if uploaded.status == USED:
            raise DownloadFailed(ALREADY_USED)
        if uploaded.expires_at <= to_milliseconds(self._clock()):
            raise DownloadFailed(
                f"The upload has expired after {UPLOAD_FORM_SECONDS // 60} minutes; send the file "
                "again by a new one."
            )
        return self._with_file(uploaded)

    def read(
        self,
        uploaded: UploadedFile,
        target: BinaryIO,
        length: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Copy an uploaded file, or its first bytes, into an open file.

        Args:
            uploaded: the uploaded file.
            target: is written from its current position.
            length: number of bytes; None for all.
            check: called for each megabyte; raises to stop.

        Raises:
            DownloadFailed: the file was overwritten or deleted meanwhile.
        """
        more = {} if length is None else {"Range": f"bytes=0-{length - 1}"}
        try:
            response = self._clients.s3.get_object(
                Bucket=self._bucket, Key=uploaded.key, IfMatch=uploaded.etag, **more
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in _GONE:
                raise
            raise DownloadFailed(
                "The file was sent twice or deleted; send it again by a new upload."
            ) from error
        for block in response["Body"].iter_chunks(1 << 20):
            check()
            target.write(block)

    def claim(self, uploaded: UploadedFile, user: str) -> None:
        """Reserve a file for one use; of simultaneous calls, only one succeeds.

        Args:
            uploaded: the file.
            user: id of the use, so that a repeated call for the same use succeeds.

        Raises:
            DownloadFailed: the file was used already.
        """
        row = UploadFormRow(uploaded.account_id, uploaded.upload_id)
        actions: list[Action] = [
            UploadFormRow.status.set(USED),
            UploadFormRow.used_by.set(user),
        ]
        if not try_update(
            row, actions, (UploadFormRow.status != USED) | (UploadFormRow.used_by == user)
        ):
            raise DownloadFailed(ALREADY_USED)

    def release(self, uploaded: UploadedFile, user: str) -> None:
        """Release a file whose use failed, so that it can be used again."""
        row = UploadFormRow(uploaded.account_id, uploaded.upload_id)
        actions: list[Action] = [
            UploadFormRow.status.set(RECEIVED),
            UploadFormRow.used_by.remove(),
        ]
        try_update(row, actions, UploadFormRow.used_by == user)

    def delete(self, uploaded: UploadedFile) -> None:
        """Delete a file that is not needed any more, before a rule of the bucket does."""
        self._clients.s3.delete_object(Bucket=self._bucket, Key=uploaded.key)

    def _row(self, account_id: str, upload_id: str) -> UploadedFile | None:
        try:
            row = UploadFormRow.get(account_id, upload_id or "-", consistent_read=True)
        except UploadFormRow.DoesNotExist:
            return None
        return UploadedFile(
            row.account_id,
            row.upload_id,
            row.name or "",
            int(row.usable_until),
            row.status,
            row.etag or "",
        )

    def _with_file(self, uploaded: UploadedFile) -> tuple[UploadedFile, int]:
        """Return the upload with its ETag, and the size of the file."""
        # The notification of its arrival may be late, so the object itself is checked.
        try:
            head = self._clients.s3.head_object(Bucket=self._bucket, Key=uploaded.key)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _GONE:
                raise
            raise DownloadFailed(
                "No file has arrived by this upload yet; send it to the upload's url first."
            ) from error
        etag = str(head["ETag"])
        if uploaded.etag and uploaded.etag.strip('"') != etag.strip('"'):
            raise DownloadFailed("The file was sent twice; send it again by a new upload.")
        size = int(head["ContentLength"])
        if size > MAX_ARCHIVE_BYTES_BY_PATH:
            raise TooLarge(
                f"The file has {size} bytes; at most {MAX_ARCHIVE_BYTES_BY_PATH} are allowed. "
                "Send less."
            )
        found = UploadedFile(
            uploaded.account_id,
            uploaded.upload_id,
            uploaded.name,
            uploaded.expires_at,
            uploaded.status,
            etag,
        )
        return found, size
