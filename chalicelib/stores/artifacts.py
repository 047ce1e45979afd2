"""Objects in the bucket: raw uploads, long chunks, embeddings, model artifacts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from botocore.exceptions import ClientError

from chalicelib.config import Settings
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.clients import Clients
from chalicelib.stores.trouble import store


def dataset_prefix(dataset_id: int) -> str:
    """Everything that belongs to a dataset and dies with it."""
    return f"datasets/{dataset_id}/"


def model_prefix(model_id: str) -> str:
    """Everything that belongs to a model and dies with it."""
    return f"models/{model_id}/"


@store
class ArtifactStore:
    """Reads and writes whole objects."""

    def __init__(self, settings: Settings, clients: Clients) -> None:
        self._bucket = settings.bucket
        self._clients = clients

    def put(self, key: str, content: bytes) -> None:
        """Write an object whole.

        Raises:
            StorageUnavailable: it may not have been written.
        """
        self._clients.s3.put_object(Bucket=self._bucket, Key=key, Body=content)

    def put_file(self, key: str, file: BinaryIO) -> None:
        """Write an object from an open file, streaming; the file stays open.

        Raises:
            StorageUnavailable: it may not have been written.
        """
        # Not upload_fileobj, which closes what it is given.
        self._clients.s3.put_object(Bucket=self._bucket, Key=key, Body=file)

    def get(self, key: str) -> bytes | None:
        """Read an object whole; None when there is none.

        Raises:
            StorageUnavailable: the bucket did not answer.
        """
        body = self._open(key)
        content: bytes | None = None if body is None else body.read()
        return content

    def get_file(self, key: str, target: BinaryIO) -> bool:
        """Stream an object into an open file; False when there is none.

        Raises:
            StorageUnavailable: the bucket did not answer.
        """
        body = self._open(key)
        if body is None:
            return False
        for block in body.iter_chunks(1 << 20):
            target.write(block)
        return True

    def put_json(self, key: str, value: object) -> None:
        """Write a value as JSON.

        Raises:
            StorageUnavailable: it may not have been written.
        """
        self.put(key, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    def get_json(self, key: str) -> Any:
        """Read a JSON value; None when there is no such object.

        Raises:
            StorageUnavailable: the bucket did not answer.
        """
        content = self.get(key)
        return None if content is None else json.loads(content)

    def keys(self, prefix: str) -> list[str]:
        """List the keys below a prefix, sorted.

        Raises:
            StorageUnavailable: the bucket did not answer.
        """
        return [key for page in self._pages(prefix) for key in page]

    def delete(self, key: str) -> None:
        """Delete an object; a missing one is fine.

        Raises:
            StorageUnavailable: it may still be there.
        """
        self._clients.s3.delete_object(Bucket=self._bucket, Key=key)

    def delete_prefix(self, prefix: str) -> None:
        """Delete everything below a prefix.

        Raises:
            StorageUnavailable: some of it may still be there.
        """
        for page in self._pages(prefix):
            if page:
                objects = [{"Key": key} for key in page]
                answer = self._clients.s3.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
                )
                # The call as a whole succeeds even when single keys were refused.
                if answer.get("Errors"):
                    raise StorageUnavailable

    def _open(self, key: str) -> Any:
        """Begin to read an object; None when there is none."""
        try:
            return self._clients.s3.get_object(Bucket=self._bucket, Key=key)["Body"]
        except ClientError as trouble:
            if trouble.response["Error"]["Code"] in ("NoSuchKey", "404"):
                return None
            raise

    def _pages(self, prefix: str) -> Iterator[list[str]]:
        """List keys by pages of up to 1,000."""
        paginator = self._clients.s3.get_paginator("list_objects_v2")
        for page in paginator.paginate(Bucket=self._bucket, Prefix=prefix):
            yield [entry["Key"] for entry in page.get("Contents", ())]
