"""Reads and writes objects in the bucket: uploads, long chunks, embeddings, model artifacts."""

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
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.domain.common.limits import IMAGE_URL_SECONDS
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

# A larger file is written as several objects or parts of this size, because one long write may
# outlast the time that a call may take.
PIECE_BYTES = 32 * 1024 * 1024
# Prefixes of exports and batches, which backups leave out.
EXPORTS = "exports/"
BATCHES = "batches/"
# DeleteObjects accepts no more keys per call.
_PAGE_KEYS = 1_000
# Characters that a signed query does not percent-encode.
_UNQUOTED = "-._~"


def dataset_prefix(dataset_id: int) -> str:
    """Return the key prefix of a dataset's objects, which are deleted with the dataset."""
    return f"datasets/{dataset_id}/"


def raw_key(dataset_id: int, receipt_id: str) -> str:
    """Return the key under which an uploaded file is stored without changes."""
    return f"{dataset_prefix(dataset_id)}raw/{receipt_id}"


def model_prefix(model_id: str) -> str:
    """Return the key prefix of a model's objects, which are deleted with the model."""
    return f"models/{model_id}/"


def exports_prefix(owner: int | str) -> str:
    """Return the key prefix of all exports of one dataset or model. `owner` is its id."""
    # Not below the dataset's prefix, because a rule of the bucket expires exports.
    return f"{EXPORTS}{owner}/"


def page_images_prefix(account_id: str) -> str:
    """Return the key prefix of page images of an account's documents."""
    return f"{EXPORTS}pages/{account_id}/"


def batch_prefix(batch_id: str) -> str:
    """Return the key prefix of a batch's objects, which are deleted with the batch."""
    return f"{BATCHES}{batch_id}/"


@translate_errors
class ArtifactStore:
    """Reads, writes and deletes objects by key."""

    def __init__(self, settings: Settings, clients: Clients) -> None:
        self._bucket = settings.bucket
        self._region = settings.region
        self._clients = clients

    def put(self, key: str, content: bytes) -> None:
        """Write an object."""
        self._clients.s3.put_object(Bucket=self._bucket, Key=key, Body=content)

    def put_file(self, key: str, file: BinaryIO, check: Callable[[], None] = lambda: None) -> None:
        """Write an open file from its current position. A long file becomes several objects.

        The file stays open. `check` is called before each object is written, and may raise an error
        to stop.
        """
        piece = file.read(PIECE_BYTES)
        if len(piece) < PIECE_BYTES:
            self.put(key, piece)
            return
        # An interrupted attempt may have left more objects than this one writes.
        self.delete_prefix(f"{key}/")
        number = 0
        while piece:
            check()
            self.put(_piece_key(key, number), piece)
            number += 1
            piece = file.read(PIECE_BYTES)

    def put_object(self, key: str, file: BinaryIO, check: Callable[[], None]) -> None:
        """Write an open file as one object, even if the file is large.

        The file is read from its current position, and stays open. The object exists only once it
        is complete. `check` is called before each part is written, and may raise an error to stop.
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
        # Parts of an interrupted upload are invisible, and a rule of the bucket deletes them.
        self._clients.s3.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})

    @property
    def bucket_url(self) -> str:
        """Return the URL of the bucket, with which every presigned URL and form begins."""
        return f"{self._clients.presigned_url}/{self._bucket}"

    def url(self, key: str, file_name: str) -> str:
        """Return a URL of an object, valid for 30 minutes. Browsers save it as `file_name`."""
        # The client's own method takes four times as long; a test compares the two results.
        disposition = f"attachment; filename*=UTF-8''{quote(file_name, safe='')}"
        request = AWSRequest(
            "GET",
            f"{self.bucket_url}/{key}"
            f"?response-content-disposition={quote(disposition, safe=_UNQUOTED)}",
        )
        credentials = self._clients.credentials
        if current_head_call():
            # Only the length of this URL is used, so it has no valid signature.
            credentials = credentials._replace(secret_key="")
        S3SigV4QueryAuth(credentials, "s3", self._region, IMAGE_URL_SECONDS).add_auth(request)
        return str(request.url)

    def get(self, key: str) -> bytes | None:
        """Return the bytes of an object; None if it does not exist."""
        body = self._open(key)
        content: bytes | None = None if body is None else body.read()
        return content

    def notes(self, key: str) -> dict[str, str] | None:
        """Return the user metadata of an object; None if it does not exist."""
        try:
            answer = self._clients.s3.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                return None
            raise
        return dict(answer["Metadata"])

    def size(self, key: str) -> int:
        """Return the size of an object in bytes; 0 if it does not exist."""
        try:
            answer = self._clients.s3.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                return 0
            raise
        return int(answer["ContentLength"])

    def get_range(self, key: str, start: int, length: int) -> bytes | None:
        """Return up to `length` bytes of an object from `start`; None if it does not exist."""
        body = self._open(key, Range=f"bytes={start}-{start + length - 1}")
        content: bytes | None = None if body is None else body.read()
        return content

    def get_file(self, key: str, target: BinaryIO) -> bool:
        """Copy a stored file into an open file; return False if the stored file does not exist."""
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
        """Return the value in an object that `put_json` wrote; None if it does not exist."""
        content = self.get(key)
        return None if content is None else json.loads(content)

    def keys(self, prefix: str) -> list[str]:
        """List the keys below a prefix, sorted."""
        return [key for page in self._pages(prefix) for key in page]

    def delete(self, key: str) -> None:
        """Delete an object. A missing object is ignored."""
        self._clients.s3.delete_object(Bucket=self._bucket, Key=key)

    def delete_file(self, key: str) -> None:
        """Delete a file that `put` or `put_file` wrote. A missing file is ignored."""
        self.delete(key)
        self.delete_prefix(f"{key}/")

    def delete_prefix(self, prefix: str) -> None:
        """Delete all objects below a prefix."""
        for page in self._pages(prefix):
            self._delete_page(page)

    def delete_keys(self, keys: Iterable[str]) -> None:
        """Delete objects by key; missing objects are ignored."""
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
        body = self._open(key)
        if body is None:
            return False
        for block in body.iter_chunks(1 << 20):
            target.write(block)
        return True

    def _open(self, key: str, **more: str) -> Any:
        try:
            return self._clients.s3.get_object(Bucket=self._bucket, Key=key, **more)["Body"]
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                return None
            raise

    def _pages(self, prefix: str) -> Iterator[list[str]]:
        """Yield the keys with a prefix, in lists of up to 1,000."""
        paginator = self._clients.s3.get_paginator("list_objects_v2")
        for page in paginator.paginate(Bucket=self._bucket, Prefix=prefix):
            yield [entry["Key"] for entry in page.get("Contents", ())]


def _piece_key(key: str, number: int) -> str:
    return f"{key}/{number:05d}"
