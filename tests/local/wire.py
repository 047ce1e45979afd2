"""Helpers for tests of a running stack: the application's notes, waiting, raw sockets."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

TINY = "tests.local.tiny:app"


class Diary:
    """Reads what the tiny application's handlers have noted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, word: str = "") -> list[list[str]]:
        """Return the notes that hold a word: time, process, handler, attempt, text."""
        if not self.path.exists():
            return []
        found = self.path.read_text("utf-8").splitlines()
        return [line.split(" ", 4) for line in found if word in line]

    def wait(self, word: str, count: int = 1, seconds: float = 240.0) -> list[list[str]]:
        """Wait until that many notes hold a word."""
        wait_until(lambda: len(self.lines(word)) >= count, seconds)
        return self.lines(word)


def wait_until(condition: Callable[[], bool], seconds: float = 240.0) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.003)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or before read
        return False


class RawAnswer:
    """An answer as it came over a raw socket."""

    def __init__(self, data: bytes) -> None:
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split(" ")[1]) if first else 0
        self.headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }


def talk(
    url: str, *parts: bytes, seconds: float = 240.0, is_half_closed: bool = False
) -> RawAnswer:
    """Send bytes as they are and read until the server closes."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has answered and closed already
        if is_half_closed:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while block := connection.recv(65536):
            received += block
    return RawAnswer(received)
