"""Frames between the PDF process and its parent: bounded in size and time."""

from __future__ import annotations

import os
import struct
import threading
import time

import pytest

from chalicelib.formats.pdf.frames import MAX_FACTS_BYTES, Frames, OutOfTime, ProcessFailed


class Ends:
    """Both ends of two pipes."""

    def __init__(self):
        self.out_read, self.out_write = os.pipe()
        self.in_read, self.in_write = os.pipe()
        self.frames = Frames(self.out_write, self.in_read)

    def say(self, *parts):
        """Write as the process does."""
        for part in parts:
            os.write(self.in_write, part)

    def close(self):
        """Close whatever is open."""
        for end in (self.out_read, self.out_write, self.in_read, self.in_write):
            try:
                os.close(end)
            except OSError:
                continue


@pytest.fixture
def ends():
    """Open two pipes and close them."""
    made = Ends()
    yield made
    made.close()


def soon(seconds=60.0):
    """Return a deadline, by default a distant one."""
    return time.monotonic() + seconds


def test_frames_arrive_whole(ends):
    """A split frame is joined, and two frames in one read are separated."""
    ends.say(struct.pack(">I", 5), b"hel")
    threading.Timer(0.05, ends.say, [b"lo" + struct.pack(">I", 2) + b"ok"]).start()
    assert ends.frames.receive(soon()) == b"hello"
    assert ends.frames.receive(soon()) == b"ok"


def test_large_frames_go_through_narrow_pipes(ends):
    """A document larger than the pipe's buffer is sent while the other side reads."""
    body = os.urandom(3_000_000)
    taken = []
    reader = threading.Thread(target=lambda: taken.append(_read(ends.out_read, 4 + len(body))))
    reader.start()
    ends.frames.send(body, soon())
    reader.join(60)
    assert taken == [struct.pack(">I", len(body)) + body]


def _read(end, count):
    """Read a number of bytes."""
    found = b""
    while len(found) < count:
        found += os.read(end, count - len(found))
    return found


def test_raster_fills_its_buffer(ends):
    """A raster is read directly into its buffer."""
    buffer = bytearray(6)
    ends.say(struct.pack(">I", 6), b"abcdef")
    ends.frames.receive_into(memoryview(buffer), soon())
    assert buffer == b"abcdef"


@pytest.mark.parametrize("length", [0, 5, 7, 2**32 - 1])
def test_raster_of_another_size_is_refused(ends, length):
    """A raster whose size differs from the page's is refused."""
    ends.say(struct.pack(">I", length), b"abc")
    with pytest.raises(ProcessFailed, match="wrong size"):
        ends.frames.receive_into(memoryview(bytearray(6)), soon())


def test_answers_are_bounded(ends):
    """An excessive length is refused before memory is allocated."""
    ends.say(struct.pack(">I", MAX_FACTS_BYTES + 1))
    with pytest.raises(ProcessFailed, match="too long"):
        ends.frames.receive(soon())


def test_silence_ends(ends):
    """A process that sends nothing, or half a frame, is abandoned after the time limit."""
    with pytest.raises(OutOfTime):
        ends.frames.receive(soon(0.2))
    ends.say(struct.pack(">I", 5), b"hel")
    with pytest.raises(OutOfTime):
        ends.frames.receive(soon(0.2))


def test_deafness_ends(ends):
    """A process that does not read is abandoned after the time limit."""
    with pytest.raises(OutOfTime):
        ends.frames.send(bytes(3_000_000), soon(0.2))


def test_death_is_seen_at_once(ends):
    """The end of the process is reported at once."""
    os.close(ends.in_write)
    with pytest.raises(ProcessFailed, match="ended"):
        ends.frames.receive(soon(30))
    os.close(ends.out_read)
    with pytest.raises(ProcessFailed, match="listen"):
        ends.frames.send(b"x", soon(30))
