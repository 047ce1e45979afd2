"""Writes the picture files of an upload, several at a time, while its archive is read on."""

from __future__ import annotations

from collections import deque
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from chalicelib.stores.datasets.pictures import PictureStore

THREADS = 8
"""Pictures that are written at the same time."""
MAX_WAITING_BYTES = 24 * 1024 * 1024
"""Bytes of pictures that may wait to be written."""
MAX_WAITING = 64
"""Pictures that may wait to be written."""


class PictureWriter:
    """Takes pictures one after another; all are written when its block ends without an error.

    Args:
        pictures: where they are written.
        dataset_id: dataset of the pictures.
        stored: digests (32 hex digits) of those that are there already and are skipped.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what is being written; after an error nothing more is begun."""
        try:
            while error is None and self._waiting:
                self._finish_first()
        finally:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def put(self, digest: str, content: bytes, content_type: str) -> None:
        """Write a picture soon; waits while too much is waiting already."""
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
        """Wait for the picture that waits longest."""
        future, size_bytes = self._waiting.popleft()
        self._waiting_bytes -= size_bytes
        future.result()
