"""Objects in the bucket: raw uploads, long chunks, embeddings, model artifacts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO
from urllib.parse import quote

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError

from chalicelib.config import Settings
from chalicelib.domain.common.limits import IMAGE_URL_SECONDS
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

PIECE_BYTES = 32 * 1024 * 1024
"""Bytes of one object of a long file."""
EXPORTS = "exports/"
"""Where exports of datasets lie; not in backups."""
BATCHES = "batches/"
"""Where inputs, parts and results of batches lie; not in backups."""
_PAGE_KEYS = 1_000  # DeleteObjects takes no more.
_UNQUOTED = "-._~"
"""What a signed query holds as it is."""


def dataset_prefix(dataset_id: int) -> str:
    """Everything that belongs to a dataset and dies with it."""
    return f"datasets/{dataset_id}/"


def raw_key(dataset_id: int, receipt_id: str) -> str:
    """Place of an upload's file, until it is read or for good."""
    return f"{dataset_prefix(dataset_id)}raw/{receipt_id}"


def model_prefix(model_id: str) -> str:
    """Everything that belongs to a model and dies with it."""
    return f"models/{model_id}/"


def exports_prefix(dataset_id: int) -> str:
    """Exports of a dataset, which die with it; apart, as the bucket forgets them soon."""
    return f"{EXPORTS}{dataset_id}/"


def batch_prefix(batch_id: str) -> str:
    """Everything that belongs to a batch and dies with it."""
    return f"{BATCHES}{batch_id}/"


@translate_errors
class ArtifactStore:
    """Reads and writes whole objects."""

    def __init__(self, settings: Settings, clients: Clients) -> None:
        self._bucket = settings.bucket
        self._region = settings.region
        self._clients = clients

    def put(self, key: str, content: bytes) -> None:
        """Write an object whole."""
        self._clients.s3.put_object(Bucket=self._bucket, Key=key, Body=content)

    def put_file(self, key: str, file: BinaryIO, check: Callable[[], None] = lambda: None) -> None:
        """Write an open file, in several objects when it is long; the file stays open.

        A single long write outlasts the time that a call may take.

        Args:
            key: of the file; read it with `get_file` and delete it with `delete_file`.
            file: is read from where it stands.
            check: called before each object is written; raises to stop.
        """
        piece = file.read(PIECE_BYTES)
        if len(piece) < PIECE_BYTES:
            self.put(key, piece)
            return
        # An attempt that broke off may have left more pieces than there are now.
        self.delete_prefix(f"{key}/")
        number = 0
        while piece:
            check()
            self.put(_piece_key(key, number), piece)
            number += 1
            piece = file.read(PIECE_BYTES)

    def put_whole(self, key: str, file: BinaryIO, check: Callable[[], None]) -> None:
        """Write an open file as one object, whatever its length; the file stays open.

        Args:
            key: of the object, which is there only when all of it is.
            file: is read from where it stands.
            check: called before each part is written; raises to stop.
        """
        part = file.read(PIECE_BYTES)
        if len(part) < PIECE_BYTES:
            self.put(key, part)
            return
        place = {"Bucket": self._bucket, "Key": key}
        place["UploadId"] = self._clients.s3.create_multipart_upload(**place)["UploadId"]
        parts: list[dict[str, Any]] = []
        while part:
            check()
            number = len(parts) + 1
            sent = self._clients.s3.upload_part(**place, PartNumber=number, Body=part)
            parts.append({"PartNumber": number, "ETag": sent["ETag"]})
            part = file.read(PIECE_BYTES)
        # Parts that come to nothing are no object, and the bucket's rules delete them.
        self._clients.s3.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})

    @property
    def bucket_url(self) -> str:
        """Address of the bucket, with which URLs and forms for callers begin."""
        return f"{self._clients.presigned_url}/{self._bucket}"

    def url(self, key: str, file_name: str) -> str:
        """Make a URL that gives out an object for 30 minutes, as an attachment of this name.

        Signed without the client's own method, which takes four times as long; a test compares
        the two.
        """
        disposition = f"attachment; filename*=UTF-8''{quote(file_name, safe='')}"
        request = AWSRequest(
            "GET",
            f"{self.bucket_url}/{key}"
            f"?response-content-disposition={quote(disposition, safe=_UNQUOTED)}",
        )
        credentials = self._clients.credentials
        S3SigV4QueryAuth(credentials, "s3", self._region, IMAGE_URL_SECONDS).add_auth(request)
        return str(request.url)

    def get(self, key: str) -> bytes | None:
        """Read an object whole; None when there is none."""
        body = self._open(key)
        content: bytes | None = None if body is None else body.read()
        return content

    def notes(self, key: str) -> dict[str, str] | None:
        """Return what was noted with an object; None when there is no such object."""
        try:
            answer = self._clients.s3.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                return None
            raise
        return dict(answer["Metadata"])

    def get_range(self, key: str, start: int, length: int) -> bytes | None:
        """Read some bytes of an object, fewer at its end; None when there is none."""
        body = self._open(key, Range=f"bytes={start}-{start + length - 1}")
        content: bytes | None = None if body is None else body.read()
        return content

    def get_file(self, key: str, target: BinaryIO) -> bool:
        """Stream what `put` or `put_file` wrote into an open file; False when there is nothing."""
        if self._copy(key, target):
            return True
        number = 0
        while self._copy(_piece_key(key, number), target):
            number += 1
        return number > 0

    def put_json(self, key: str, value: object) -> None:
        """Write a value as JSON."""
        self.put(key, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    def get_json(self, key: str) -> Any:
        """Read a JSON value; None when there is no such object."""
        content = self.get(key)
        return None if content is None else json.loads(content)

    def keys(self, prefix: str) -> list[str]:
        """List the keys below a prefix, sorted."""
        return [key for page in self._pages(prefix) for key in page]

    def delete(self, key: str) -> None:
        """Delete an object; a missing one is fine."""
        self._clients.s3.delete_object(Bucket=self._bucket, Key=key)

    def delete_file(self, key: str) -> None:
        """Delete what `put` or `put_file` wrote; a missing file is fine."""
        self.delete(key)
        self.delete_prefix(f"{key}/")

    def delete_prefix(self, prefix: str) -> None:
        """Delete everything below a prefix."""
        for page in self._pages(prefix):
            self._delete_page(page)

    def delete_keys(self, keys: Iterable[str]) -> None:
        """Delete objects; missing ones are fine."""
        left = iter(keys)
        while page := list(islice(left, _PAGE_KEYS)):
            self._delete_page(page)

    def _delete_page(self, page: list[str]) -> None:
        """Delete up to 1,000 objects in one call."""
        if not page:
            return
        objects = [{"Key": key} for key in page]
        answer = self._clients.s3.delete_objects(
            Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
        )
        # The call as a whole succeeds even when single keys were refused.
        if answer.get("Errors"):
            raise StorageUnavailable

    def _copy(self, key: str, target: BinaryIO) -> bool:
        """Stream one object into an open file; False when there is none."""
        body = self._open(key)
        if body is None:
            return False
        for block in body.iter_chunks(1 << 20):
            target.write(block)
        return True

    def _open(self, key: str, **more: str) -> Any:
        """Begin to read an object; None when there is none."""
        try:
            return self._clients.s3.get_object(Bucket=self._bucket, Key=key, **more)["Body"]
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                return None
            raise

    def _pages(self, prefix: str) -> Iterator[list[str]]:
        """List keys by pages of up to 1,000."""
        paginator = self._clients.s3.get_paginator("list_objects_v2")
        for page in paginator.paginate(Bucket=self._bucket, Prefix=prefix):
            yield [entry["Key"] for entry in page.get("Contents", ())]


def _piece_key(key: str, number: int) -> str:
    return f"{key}/{number:05d}"
