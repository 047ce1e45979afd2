"""Frames between the process that reads a PDF and its parent, each end with a deadline.

A frame is an unsigned 32-bit length (big-endian) and so many bytes. The parent does not trust what
it reads: lengths are bounded before anything is kept.

frames.send(b"...", time.monotonic() + 5)
"""

from __future__ import annotations

import os
import select
import struct
import time
from collections.abc import Callable

HEAD = struct.Struct(">I")
"""The length before each frame."""
MAX_FACTS_BYTES = 16 * 1024**2
"""Longest frame of facts: 100,000 characters with their places."""

MAX_SLOWDOWN = 4.0
"""Longest time on the clock, as a multiple of the processor time that there is."""
_CHUNK_BYTES = 1 << 16
_TICK_SECONDS = 0.05


class ProcessFailed(Exception):
    """The process has ended, or says what cannot be."""


class OutOfTime(Exception):
    """The process did not answer in time."""


class ProcessorTime:
    """A deadline in processor time of the other process: a busy machine is no fault of a document.

    A process that finds no processor has several times as long on the clock, and no longer.
    """

    def __init__(self, seconds: float, used: Callable[[], float], latest: float) -> None:
        """Begin now.

        Args:
            seconds: processor time that there is.
            used: tells how much the process has used in its life, in seconds.
            latest: the `time.monotonic()` at which it ends in any case.
        """
        self._used = used
        self._until = used() + seconds
        self._latest = min(latest, time.monotonic() + MAX_SLOWDOWN * seconds)

    def left(self) -> float:
        """Return how long to wait at most before asking again, in seconds."""
        return min(self._until - self._used(), self._latest - time.monotonic())

    @property
    def is_starved(self) -> bool:
        """Tell whether there was no processor for what time there was."""
        return self._until - self._used() > _TICK_SECONDS


Deadline = float | ProcessorTime
"""The latest `time.monotonic()`, or processor time."""


class Frames:
    """The parent's end of two pipes. Not safe to use from two threads."""

    def __init__(self, target: int, source: int) -> None:
        """Take the file descriptors to write to and to read from."""
        self._target = target
        self._source = source
        os.set_blocking(target, False)
        os.set_blocking(source, False)

    def send(self, body: bytes, deadline: Deadline) -> None:
        """Send one frame.

        Args:
            body: The frame.
            deadline: By when it must be taken.

        Raises:
            ProcessFailed: the process has ended.
            OutOfTime: it does not read.
        """
        for part in (HEAD.pack(len(body)), body):
            rest = memoryview(part)
            while rest:
                self._wait(self._target, select.POLLOUT, deadline)
                try:
                    rest = rest[os.write(self._target, rest[:_CHUNK_BYTES]) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise ProcessFailed("it does not listen") from error

    def receive(self, deadline: Deadline) -> bytes:
        """Return the next frame of facts.

        Args:
            deadline: When it must be there.

        Raises:
            ProcessFailed: the process has ended, or the frame is too long.
            OutOfTime: it does not answer.
        """
        length = self._length(deadline)
        if length > MAX_FACTS_BYTES:
            raise ProcessFailed("its answer is too long")
        body = bytearray(length)
        self._fill(body, deadline)
        return bytes(body)

    def receive_into(self, target: memoryview, deadline: Deadline) -> None:
        """Fill a buffer with the next frame, which must be exactly as long.

        Raises:
            ProcessFailed: the process has ended, or the frame has another length.
            OutOfTime: it does not answer.
        """
        view = target.cast("B")
        if self._length(deadline) != len(view):
            raise ProcessFailed("its raster has the wrong size")
        self._fill(view, deadline)

    def _length(self, deadline: Deadline) -> int:
        head = bytearray(HEAD.size)
        self._fill(head, deadline)
        return int(HEAD.unpack(head)[0])

    def _fill(self, target: bytearray | memoryview, deadline: Deadline) -> None:
        """Read until the buffer is full."""
        rest = memoryview(target)
        while rest:
            self._wait(self._source, select.POLLIN, deadline)
            try:
                count = os.readv(self._source, [rest])
            except BlockingIOError:
                continue
            if not count:
                raise ProcessFailed("it has ended")
            rest = rest[count:]

    def _wait(self, pipe: int, event: int, deadline: Deadline) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        while True:
            if isinstance(deadline, ProcessorTime):
                left = deadline.left()
            else:
                left = deadline - time.monotonic()
            if left <= 0:
                raise OutOfTime
            if poll.poll(left * 1000 + 1):
                return
