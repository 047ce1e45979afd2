"""Image files of datasets in the bucket, stored by the digest of their bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.examples.thumbnails import thumbnail_key

Item = TypeVar("Item")
# Images that are read at the same time.
READ_AHEAD = 8


@translate_errors
class PictureStore:
    """Reads and writes image files; equal files of a dataset are stored once."""

    def __init__(self, settings: Settings, clients: Clients, artifacts: ArtifactStore) -> None:
        self._bucket = settings.bucket
        self._clients = clients
        self._artifacts = artifacts

    def put(self, dataset_id: int, digest: str, content: bytes, content_type: str) -> None:
        """Write an image file. Idempotent.

        `digest` is the digest of the file, 32 hex digits. `content_type` is image/png or
        image/jpeg. The file is deleted with its dataset.
        """
        self._clients.s3.put_object(
            Bucket=self._bucket,
            Key=_key(dataset_id, digest),
            Body=content,
            ContentType=content_type,
        )

    def get(self, dataset_id: int, digest: str) -> bytes | None:
        """Return the bytes of an image file; None if it does not exist."""
        return self._artifacts.get(_key(dataset_id, digest))

    def read_ahead(
        self, dataset_id: int, items: Iterable[tuple[Item, str]]
    ) -> Iterator[tuple[Item, bytes | None]]:
        """Yield image files in order. Several files are read at the same time.

        Args:
            dataset_id: dataset of the images.
            items: for each image, a value that the caller chooses, and the image's digest (32 hex
                digits).

        Yields:
            The caller's value, and the bytes of the file or None if the file is missing.
        """
        with ThreadPoolExecutor(READ_AHEAD, thread_name_prefix="pictures") as threads:
            waiting: deque[tuple[Item, Future[bytes | None]]] = deque()
            try:
                for item, digest in items:
                    waiting.append((item, threads.submit(self.get, dataset_id, digest)))
                    if len(waiting) > READ_AHEAD:
                        first, reading = waiting.popleft()
                        yield first, reading.result()
                while waiting:
                    first, reading = waiting.popleft()
                    yield first, reading.result()
            finally:
                for _, reading in waiting:
                    reading.cancel()

    def stored(self, dataset_id: int) -> frozenset[str]:
        """Return the digests of all image files of a dataset."""
        prefix = _prefix(dataset_id)
        return frozenset(key[len(prefix) :] for key in self._artifacts.keys(prefix))

    def size(self, dataset_id: int, digest: str) -> int:
        """Return the size of an image file in bytes; 0 if it does not exist."""
        return len(self.get(dataset_id, digest) or b"")

    def exists(self, dataset_id: int, digest: str) -> bool:
        """Return whether an image file exists."""
        return self._artifacts.notes(_key(dataset_id, digest)) is not None

    def delete(self, dataset_id: int, digests: Iterable[str]) -> None:
        """Delete image files and their thumbnails. Missing files are ignored."""
        gone = sorted(digests)
        self._artifacts.delete_keys(_key(dataset_id, digest) for digest in gone)
        # Thumbnails last: their writer checks afterwards that the image still exists.
        self._artifacts.delete_keys(thumbnail_key(dataset_id, digest) for digest in gone)

    def url(self, dataset_id: int, digest: str, name: str) -> str:
        """Return a URL of an image, valid for 30 minutes. Browsers save the image as `name`."""
        return self._artifacts.url(_key(dataset_id, digest), name)


def _prefix(dataset_id: int) -> str:
    return f"{dataset_prefix(dataset_id)}images/"


def _key(dataset_id: int, digest: str) -> str:
    return f"{_prefix(dataset_id)}{digest}"


# Images that are written at the same time.
THREADS = 8
# Bytes and number of images that may wait to be written, so that memory is bounded.
MAX_WAITING_BYTES = 24 * 1024 * 1024
MAX_WAITING = 64


class PictureWriter:
    """Writes images in parallel. The end of the `with` block waits until all are written.

    Images whose digests (32 hex digits) are in `stored` are skipped.
    """

    def __init__(self, pictures: PictureStore, dataset_id: int, stored: AbstractSet[str]) -> None:
        self._pictures = pictures
        self._dataset_id = dataset_id
        self._stored = stored
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="pictures")
        self._waiting: deque[tuple[Future[None], int]] = deque()
        self._waiting_bytes = 0

    def __enter__(self) -> PictureWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # After an error, no further write is started.
        try:
            while error is None and self._waiting:
                self._finish_first()
        finally:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def put(self, digest: str, content: bytes, content_type: str) -> None:
        """Start to write an image. If too many are being written, wait until one is finished."""
        if digest in self._stored:
            return
        while self._waiting and (
            len(self._waiting) >= MAX_WAITING
            or self._waiting_bytes + len(content) > MAX_WAITING_BYTES
        ):
            self._finish_first()
        future = self._threads.submit(
            self._pictures.put, self._dataset_id, digest, content, content_type
        )
        self._waiting.append((future, len(content)))
        self._waiting_bytes += len(content)

    def _finish_first(self) -> None:
        future, size_bytes = self._waiting.popleft()
        self._waiting_bytes -= size_bytes
        future.result()
