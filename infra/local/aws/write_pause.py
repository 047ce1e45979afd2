"""Lets one process copy the emulated AWS while nothing changes in it.

The copier asks for a pause; calls of everybody else then wait at the gate until the copier ends it,
or until it has taken too long.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Header with the token of the one who copies.
HEADER = "X-Presage-Still"
# POST begins a pause and answers with a token, DELETE ends it, GET answers the number of writes so
# far.
PATH = "/_presage/still"
# After so long the gate opens by itself, so that a killed copier stops nobody.
LONGEST_SECONDS = 60.0
# Longest wait for the calls that have begun, in seconds.
ENTER_SECONDS = 10.0


class WritePause:
    """A gate that calls pass, and that one copier may close; safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._token: str | None = None
        self._until = 0.0
        self._inside = 0
        self.writes = 0
        """Calls so far that may have changed something."""

    @contextmanager
    def passing(self, token: str | None, is_write: bool) -> Iterator[None]:
        """Pass the gate with one call; wait while it is closed, unless the token opens it."""
        with self._changed:
            while self._is_closed() and token != self._token:
                self._changed.wait(max(0.0, self._until - time.monotonic()))
            self._inside += 1
            self.writes += is_write
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def close(self) -> str | None:
        """Close the gate and wait for the calls inside; None when that did not succeed."""
        deadline = time.monotonic() + ENTER_SECONDS
        with self._changed:
            if self._is_closed():
                return None
            self._token = token = secrets.token_hex(16)
            self._until = time.monotonic() + LONGEST_SECONDS
            while self._inside and time.monotonic() < deadline:
                self._changed.wait(deadline - time.monotonic())
            if self._inside:
                self._open()
                return None
        return token

    def open(self, token: str) -> bool:
        """Open the gate again; False when it had been opened by the time."""
        with self._changed:
            if token != self._token or not self._is_closed():
                return False
            self._open()
        return True

    def _is_closed(self) -> bool:
        return self._token is not None and time.monotonic() < self._until

    def _open(self) -> None:
        self._token = None
        self._changed.notify_all()
