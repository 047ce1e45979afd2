"""Pauses writes to the emulated AWS, so that one process can copy its data.

The process requests a pause. All other calls then wait until the process ends the pause, or the
pause has lasted too long.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Header with the token of the process that copies.
HEADER = "X-Presage-Still"
# Header with the secret of the control path. A URL would appear in logs and histories.
CONTROL_HEADER = "X-Presage-Control"
# The control path. POST begins a pause and returns a token, DELETE ends it, and PUT restores the
# saved data. GET returns the number of writes so far and the lengths of the queues.
PATH = "/_presage/still"
# Header of a GET that returns the rows of one table, by its full name.
TABLE_HEADER = "X-Presage-Table"
# Name under which writes to the bucket are counted; writes to a table have its name.
BUCKET = "bucket"
# Seconds after which a pause ends automatically, in case the process that copies was killed.
LONGEST_SECONDS = 60.0
# Longest wait for running calls to end, in seconds.
ENTER_SECONDS = 10.0


def control_secret(secret_access_key: str) -> str:
    """Return the secret that a process must send to pause writes, derived from the AWS key."""
    return hmac.digest(secret_access_key.encode(), PATH.encode(), hashlib.sha256).hex()


class WritePause:
    """Lets calls pass, or makes them wait while one process has paused writes; thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._token: str | None = None
        self._until = 0.0
        self._inside = 0
        self.writes: Counter[str] = Counter()
        """Number of calls that may have changed a table or the bucket, by its name."""

    @contextmanager
    def passing(self, token: str | None, targets: Iterable[str] = ()) -> Iterator[None]:
        """Run one call in a `with` block. During a pause, calls without the pause's token wait.

        Args:
            token: token that the call sends; only the copying process has the pause's token.
            targets: names of the tables, or BUCKET, that the call may change.
        """
        with self._changed:
            while self._is_closed() and token != self._token:
                self._changed.wait(max(0.0, self._until - time.monotonic()))
            self._inside += 1
            self.writes.update(targets)
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def close(self) -> str | None:
        """Pause new calls, wait for running calls; return the pause's token, or None on failure."""
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
        """End the pause; return False if it had already ended."""
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
