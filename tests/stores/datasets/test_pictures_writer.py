"""Writing several images at a time: all or an error, in bounded memory."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from chalicelib.errors import StorageUnavailable
from chalicelib.stores.examples import pictures as picture_writer
from chalicelib.stores.examples.pictures import PictureWriter
from tests.local.wire import wait_until


class Pictures:
    """Accepts images slowly, or fails."""

    def __init__(self, seconds: float = 0.0, broken: str = "") -> None:
        self.seconds, self.broken = seconds, broken
        self.written: list[str] = []
        self.going_on = self.most = 0
        self._lock = threading.Lock()

    def put(self, dataset_id: int, digest: str, content: bytes, content_type: str) -> None:
        """Write one image."""
        with self._lock:
            self.going_on += 1
            self.most = max(self.most, self.going_on)
        time.sleep(self.seconds)
        with self._lock:
            self.going_on -= 1
            if digest == self.broken:
                raise StorageUnavailable
            self.written.append(digest)


def a_writer(pictures: Any, stored: frozenset[str] = frozenset()) -> PictureWriter:
    """Return a writer for images."""
    return PictureWriter(pictures, 7, stored)


def write(pictures: Pictures, count: int, error: Exception | None = None) -> None:
    """Write a number of images, then raise an error if one is given."""
    with a_writer(pictures) as writer:
        for number in range(count):
            writer.put(str(number), b"x", "image/png")
        if error is not None:
            raise error


def test_every_picture_is_written_when_the_block_ends() -> None:
    """When the block ends, all images have been written, several at a time."""
    pictures = Pictures(0.005)

    write(pictures, 100)

    assert sorted(pictures.written, key=int) == [str(number) for number in range(100)]
    assert 1 < pictures.most <= picture_writer.THREADS


def test_stored_pictures_are_skipped() -> None:
    """Images that the dataset already has are not written."""
    pictures = Pictures()

    with a_writer(pictures, frozenset({"a"})) as writer:
        writer.put("a", b"x", "image/png")
        writer.put("b", b"x", "image/png")

    assert pictures.written == ["b"]


def test_failure_reaches_the_caller() -> None:
    """A failed write fails the block, even if it becomes known late."""
    with pytest.raises(StorageUnavailable):
        write(Pictures(broken="1"), 3)


def test_nothing_is_begun_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error waiting images are dropped, and running writes are awaited."""
    monkeypatch.setattr(picture_writer, "THREADS", 2)
    gate = threading.Event()
    begun: list[str] = []

    class Gated(Pictures):
        """Blocks writes until the gate opens."""

        def put(self, dataset_id: int, digest: str, content: bytes, content_type: str) -> None:
            """Wait at the gate."""
            begun.append(digest)
            gate.wait(60)
            super().put(dataset_id, digest, content, content_type)

    pictures = Gated()
    writer = a_writer(pictures)
    for number in range(20):
        writer.put(str(number), b"x", "image/png")
    wait_until(lambda: len(begun) == 2)
    leaving = threading.Thread(target=writer.__exit__, args=(None, ZeroDivisionError(), None))
    leaving.start()
    # The gate opens when all others are dropped, however long that takes.
    wait_until(lambda: sum(future.cancelled() for future, _ in writer._waiting) == 18)
    assert leaving.is_alive()
    gate.set()
    leaving.join(60)

    assert not leaving.is_alive()
    assert sorted(pictures.written) == sorted(begun) == ["0", "1"]


def test_waiting_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that is faster than the storage waits before memory fills up."""
    monkeypatch.setattr(picture_writer, "MAX_WAITING_BYTES", 1_000)
    gate = threading.Event()
    taken: list[int] = []

    class Gated(Pictures):
        """Blocks writes until the gate opens."""

        def put(self, *more: Any) -> None:
            """Wait at the gate."""
            gate.wait(30)
            super().put(*more)

    def read() -> None:
        """Write more images than may wait."""
        with a_writer(Gated()) as writer:
            for number in range(30):
                writer.put(str(number), bytes(300), "image/png")
                taken.append(number)

    reader = threading.Thread(target=read)
    reader.start()
    wait_until(lambda: len(taken) >= 3)
    time.sleep(0.1)
    waiting = len(taken)
    gate.set()
    reader.join(30)

    assert waiting == 3
    assert len(taken) == 30


def test_picture_over_the_bound_is_written_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One image may be larger than the limit of waiting bytes."""
    monkeypatch.setattr(picture_writer, "MAX_WAITING_BYTES", 10)
    pictures = Pictures()

    with a_writer(pictures) as writer:
        writer.put("a", bytes(100), "image/png")
        writer.put("b", bytes(100), "image/png")

    assert pictures.written == ["a", "b"]
