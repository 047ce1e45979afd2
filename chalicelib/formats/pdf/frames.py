"""Exchanges frames (messages) with the child process that reads a PDF, within deadlines.

A frame is an unsigned 32-bit length (big-endian) and that many bytes. The parent does not trust the
child, so it checks lengths before it allocates memory.

Example: frames.send(b"...", time.monotonic() + 5)
"""

from __future__ import annotations

import os
import select
import struct
import time
from collections.abc import Callable

# The length before each frame.
HEAD = struct.Struct(">I")
# Size limit of a frame of facts: 100,000 characters with their positions.
MAX_FACTS_BYTES = 16 * 1024**2

# Limit of wall-clock time as a multiple of the processor time, for a busy machine.
MAX_SLOWDOWN = 4.0
_CHUNK_BYTES = 1 << 16
_TICK_SECONDS = 0.05


class ProcessFailed(Exception):
    """The child process has ended, or its answer is not valid."""


class OutOfTime(Exception):
    """The child process did not answer in time."""


class ProcessorTime:
    """A deadline that counts a child process's processor time instead of elapsed time.

    The deadline also passes when the elapsed time is MAX_SLOWDOWN times the allowed processor time.
    """

    def __init__(self, seconds: float, used: Callable[[], float], latest: float) -> None:
        """Start to count the processor time.

        Args:
            seconds: Processor time that the child process may use from now on, in seconds.
            used: Returns the processor time that the child process has used so far, in seconds.
            latest: Time of `time.monotonic()` at which the wait ends, even if processor time is
                left.
        """
        self._used = used
        self._until = used() + seconds
        self._latest = min(latest, time.monotonic() + MAX_SLOWDOWN * seconds)

    def remaining_wait(self) -> float:
        """Return the maximum wait before the next check, in seconds."""
        return min(self._until - self._used(), self._latest - time.monotonic())

    @property
    def is_starved(self) -> bool:
        """Return whether the wait ended because the child process got too little processor time."""
        return self._until - self._used() > _TICK_SECONDS


# The latest `time.monotonic()`, or a budget of processor time.
Deadline = float | ProcessorTime


class Frames:
    """The parent's end of the two pipes to a child process. Only one thread may use it.

    Methods raise ProcessFailed if the child process has ended or a frame has a wrong length. They
    raise OutOfTime if the child process does not read or answer before the deadline.
    """

    def __init__(self, target: int, source: int) -> None:
        self._target = target
        self._source = source
        os.set_blocking(target, False)
        os.set_blocking(source, False)

    def send(self, body: bytes, deadline: Deadline) -> None:
        """Send a frame; the child process must read it before the deadline."""
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
        """Return the next frame, which must arrive before the deadline."""
        length = self._length(deadline)
        if length > MAX_FACTS_BYTES:
            raise ProcessFailed("its answer is too long")
        body = bytearray(length)
        self._fill(body, deadline)
        return bytes(body)

    def receive_into(self, target: memoryview, deadline: Deadline) -> None:
        """Fill the buffer `target` with the next frame, which must be as long as the buffer."""
        view = target.cast("B")
        if self._length(deadline) != len(view):
            raise ProcessFailed("its raster has the wrong size")
        self._fill(view, deadline)

    def _length(self, deadline: Deadline) -> int:
        head = bytearray(HEAD.size)
        self._fill(head, deadline)
        return int(HEAD.unpack(head)[0])

    def _fill(self, target: bytearray | memoryview, deadline: Deadline) -> None:
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
                left = deadline.remaining_wait()
            else:
                left = deadline - time.monotonic()
            if left <= 0:
                raise OutOfTime
            if poll.poll(left * 1000 + 1):
                return
