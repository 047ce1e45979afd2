"""Files that callers put straight into the bucket, and who may use each of them once.

A file is used by ETag, so that one which is overwritten between its check and its use is never
taken for the one that was checked.
"""

from __future__ import annotations

from typing import BinaryIO

from botocore.exceptions import ClientError
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.limits import INCOMING_SECONDS, MAX_ARCHIVE_BYTES_BY_PATH
from chalicelib.domain.datasets.upload import ISSUED, RECEIVED, USED, UploadedFile, upload_id_of
from chalicelib.errors import DownloadFailed, TooLarge
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import IncomingRow

CONTENT_TYPE = "application/octet-stream"
"""The one type that a form takes; what a file is, its bytes tell."""
ALREADY_USED = "The upload was used already; send the file again by a new one."
_KEPT_SECONDS = 24 * 3600
_GONE = ("NoSuchKey", "404", "PreconditionFailed", "412")


@translate_errors
class UploadedFileStore:
    """Issues forms, and lends each file to one use."""

    def __init__(self, settings: Settings, clients: Clients, clock: Clock) -> None:
        self._bucket = settings.bucket
        clients.bind_tables()
        self._clients = clients
        clients.bind_tables()
        self._clock = clock

    def create(self, incoming: UploadedFile) -> tuple[str, dict[str, str]]:
        """Remember a form and sign it; return its URL and fields."""
        IncomingRow(
            incoming.account_id,
            incoming.upload_id,
            name=incoming.name,
            status=ISSUED,
            usable_until=incoming.expires_at,
            expires_at=incoming.expires_at // 1000 + _KEPT_SECONDS,
        ).save()
        signed = self._clients.presigning_s3.generate_presigned_post(
            self._bucket,
            incoming.key,
            Fields={"Content-Type": CONTENT_TYPE},
            Conditions=[
                {"Content-Type": CONTENT_TYPE},
                ["content-length-range", 1, MAX_ARCHIVE_BYTES_BY_PATH],
            ],
            ExpiresIn=INCOMING_SECONDS,
        )
        return str(signed["url"]), dict(signed["fields"])

    def receive(self, account_id: str, upload_id: str, etag: str) -> bool:
        """Note that a file has arrived; the first one counts. False when it is not wanted."""
        actions: list[Action] = [IncomingRow.status.set(RECEIVED), IncomingRow.etag.set(etag)]
        condition = (IncomingRow.status == ISSUED) & IncomingRow.etag.does_not_exist()
        return try_update(IncomingRow(account_id, upload_id), actions, condition)

    def find(self, account_id: str, path: str) -> tuple[UploadedFile, int]:
        """Find the file that a path names; return it with its size in bytes.

        Raises:
            DownloadFailed: the account has none by this path, it was used or has expired, or
                nothing has been sent yet.
        """
        incoming = self._row(account_id, upload_id_of(path) or "")
        if incoming is None:
            raise DownloadFailed(f"There is no upload {path[:60]!r}; get one by POST /v2/uploads.")
        if incoming.status == USED:
            raise DownloadFailed(ALREADY_USED)
        if incoming.expires_at <= to_milliseconds(self._clock()):
            raise DownloadFailed(
                f"The upload has expired after {INCOMING_SECONDS // 60} minutes; send the file "
                "again by a new one."
            )
        return self._with_file(incoming)

    def read(self, incoming: UploadedFile, target: BinaryIO, length: int | None = None) -> None:
        """Stream the file, or its first bytes, into an open one.

        Raises:
            DownloadFailed: it was overwritten or deleted meanwhile.
        """
        more = {} if length is None else {"Range": f"bytes=0-{length - 1}"}
        try:
            found = self._clients.s3.get_object(
                Bucket=self._bucket, Key=incoming.key, IfMatch=incoming.etag, **more
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in _GONE:
                raise
            raise DownloadFailed(
                "The file was sent twice or deleted; send it again by a new upload."
            ) from error
        for block in found["Body"].iter_chunks(1 << 20):
            target.write(block)

    def claim(self, incoming: UploadedFile, user: str) -> None:
        """Take the file for one use; of several users at once one gets it.

        Args:
            incoming: the file.
            user: id of the use, so that a repeated call of the same one succeeds.

        Raises:
            DownloadFailed: it was used already.
        """
        row = IncomingRow(incoming.account_id, incoming.upload_id)
        actions: list[Action] = [IncomingRow.status.set(USED), IncomingRow.used_by.set(user)]
        if not try_update(
            row, actions, (IncomingRow.status != USED) | (IncomingRow.used_by == user)
        ):
            raise DownloadFailed(ALREADY_USED)

    def release(self, incoming: UploadedFile, user: str) -> None:
        """Let the file be used again, because this use of it came to nothing."""
        row = IncomingRow(incoming.account_id, incoming.upload_id)
        actions: list[Action] = [IncomingRow.status.set(RECEIVED), IncomingRow.used_by.remove()]
        try_update(row, actions, IncomingRow.used_by == user)

    def delete(self, incoming: UploadedFile) -> None:
        """Delete the file, which is not needed any more; the bucket's rules would do so later."""
        self._clients.s3.delete_object(Bucket=self._bucket, Key=incoming.key)

    def _row(self, account_id: str, upload_id: str) -> UploadedFile | None:
        """Read a row."""
        try:
            row = IncomingRow.get(account_id, upload_id or "-", consistent_read=True)
        except IncomingRow.DoesNotExist:
            return None
        return UploadedFile(
            row.account_id,
            row.upload_id,
            row.name or "",
            int(row.usable_until),
            row.status,
            row.etag or "",
        )

    def _with_file(self, incoming: UploadedFile) -> tuple[UploadedFile, int]:
        """Look at the file itself: the notification of its arrival may be late."""
        try:
            head = self._clients.s3.head_object(Bucket=self._bucket, Key=incoming.key)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _GONE:
                raise
            raise DownloadFailed(
                "No file has arrived by this upload yet; send it to the upload's url first."
            ) from error
        etag = str(head["ETag"])
        if incoming.etag and incoming.etag.strip('"') != etag.strip('"'):
            raise DownloadFailed("The file was sent twice; send it again by a new upload.")
        size = int(head["ContentLength"])
        if size > MAX_ARCHIVE_BYTES_BY_PATH:
            raise TooLarge(
                f"The file has {size} bytes; at most {MAX_ARCHIVE_BYTES_BY_PATH} are allowed. "
                "Send less."
            )
        found = UploadedFile(
            incoming.account_id,
            incoming.upload_id,
            incoming.name,
            incoming.expires_at,
            incoming.status,
            etag,
        )
        return found, size
