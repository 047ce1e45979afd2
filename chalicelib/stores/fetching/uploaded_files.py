"""Files that callers send to the bucket with presigned forms. Each can be used once.

Each read requires the ETag that the file had when it was checked. So a file that was overwritten
after the check is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from botocore.exceptions import ClientError
from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.limits import MAX_ARCHIVE_BYTES_BY_PATH, UPLOAD_FORM_SECONDS
from chalicelib.domain.common.repeats import attempt, mark
from chalicelib.domain.datasets.upload import ISSUED, RECEIVED, USED, UploadedFile, upload_id_of
from chalicelib.errors import DownloadFailed, StorageUnavailable, TooLarge
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.rows import find_row, load
from chalicelib.stores.aws.tables import UploadFormRow

# The only content type that a form accepts; the format is detected from the bytes.
CONTENT_TYPE = "application/octet-stream"
ALREADY_USED = "The upload was used already; send the file again with a new one."
# How long a row stays in the table after its form has expired.
_KEPT_SECONDS = 24 * 3600
_GONE = ("NoSuchKey", "404", "PreconditionFailed", "412")


@translate_errors
class UploadedFileStore:
    """Issues presigned forms, and lets only one call use each file."""

    def __init__(self, settings: Settings, clients: Clients, clock: Clock) -> None:
        self._bucket = settings.bucket
        self._clients = clients
        clients.bind_tables()
        self._clock = clock

    def create(self, uploaded: UploadedFile) -> tuple[str, dict[str, str]]:
        """Store an upload form; return its presigned URL and fields."""
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
        """Record that the file of an upload form has arrived.

        Returns:
            False if the form does not exist, or its file had arrived before.
        """
        actions: list[Action] = [
            UploadFormRow.status.set(RECEIVED),
            UploadFormRow.etag.set(etag),
        ]
        condition = (UploadFormRow.status == ISSUED) & UploadFormRow.etag.does_not_exist()
        return try_update(UploadFormRow(account_id, upload_id), actions, condition)

    def find(self, account_id: str, path: str) -> tuple[UploadedFile, int]:
        """Return the file that a request's `path` refers to, and its size in bytes.

        Raises:
            DownloadFailed: the account has no such upload form, another call has used the file, the
                form has expired, or no file has arrived.
        """
        uploaded = self._row(account_id, upload_id_of(path) or "")
        if uploaded is None:
            raise DownloadFailed(f"No upload {path[:60]!r}; get one with POST /v2/uploads.")
        if uploaded.status == USED:
            raise DownloadFailed(ALREADY_USED)
        if uploaded.expires_at <= to_milliseconds(self._clock()):
            raise DownloadFailed(
                f"The upload has expired after {UPLOAD_FORM_SECONDS // 60} minutes; send the file "
                "again with a new one."
            )
        return self._with_file(uploaded)

    def read(
        self,
        uploaded: UploadedFile,
        target: BinaryIO,
        length: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Copy a file, or its first bytes, into an open file.

        Args:
            uploaded: the file to read.
            target: is written from its current position.
            length: number of bytes to copy; None for all.
            check: called for each megabyte; may raise an error to stop.

        Raises:
            DownloadFailed: the file was overwritten or deleted.
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
                "The file was sent twice or deleted; send it again with a new upload."
            ) from error
        for block in response["Body"].iter_chunks(1 << 20):
            check()
            target.write(block)

    def claim(self, uploaded: UploadedFile, user: str) -> None:
        """Claim a file, so that no other call can use it.

        `user` is the id of the object that uses the file, such as a batch. If the call is
        repeated, the later attempt replaces the claim of the earlier attempt.

        Raises:
            DownloadFailed: the file was claimed with another id.
        """
        row = UploadFormRow(uploaded.account_id, uploaded.upload_id)
        claim = _claim(user, attempt())
        actions: list[Action] = [
            UploadFormRow.status.set(USED),
            UploadFormRow.used_by.set(claim),
        ]
        is_same_call = UploadFormRow.used_by.between(_claim(user, 1), claim)
        # Older versions stored claims without the number of the attempt.
        is_same_call |= UploadFormRow.used_by == user
        free = (UploadFormRow.status != USED) | is_same_call
        try:
            is_mine = try_update(row, actions, free)
        except PynamoDBException:
            # The claim may have succeeded without a reply; then a repeated call could not use the
            # file.
            with suppress(StorageUnavailable):
                self.release(uploaded, user)
            raise
        if not is_mine:
            raise DownloadFailed(ALREADY_USED)

    def release(self, uploaded: UploadedFile, user: str) -> None:
        """Release this attempt's claim of a file, because the use of the file failed.

        The file can then be used again.
        """
        row = UploadFormRow(uploaded.account_id, uploaded.upload_id)
        actions: list[Action] = [
            UploadFormRow.status.set(RECEIVED),
            UploadFormRow.used_by.remove(),
        ]
        try_update(row, actions, UploadFormRow.used_by == _claim(user, attempt()))

    def delete(self, uploaded: UploadedFile) -> None:
        """Delete a file at once. Otherwise a lifecycle rule of the bucket would delete it later."""
        self._clients.s3.delete_object(Bucket=self._bucket, Key=uploaded.key)

    def _row(self, account_id: str, upload_id: str) -> UploadedFile | None:
        row = find_row(UploadFormRow, account_id, upload_id or "-")
        if row is None:
            return None
        # An attempt that died may have claimed the file for this call.
        call = mark()
        status = RECEIVED if call is not None and call in (row.used_by or "") else row.status
        return load(
            UploadedFile,
            row,
            name=row.name or "",
            expires_at=int(row.usable_until),
            status=status,
        )

    def _with_file(self, uploaded: UploadedFile) -> tuple[UploadedFile, int]:
        """Return the uploaded file with its ETag, and its size in bytes."""
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
            raise DownloadFailed("The file was sent twice; send it again with a new upload.")
        size = int(head["ContentLength"])
        if size > MAX_ARCHIVE_BYTES_BY_PATH:
            raise TooLarge(
                f"The file has {size} bytes; at most {MAX_ARCHIVE_BYTES_BY_PATH} are allowed. "
                "Send less."
            )
        return replace(uploaded, etag=etag), size


def _claim(user: str, number: int) -> str:
    """Return the value that an attempt stores to claim a file. Values sort by attempt number."""
    return f"{user}#{number:06d}"
