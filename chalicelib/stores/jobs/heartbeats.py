"""Renews a lease in the background while its owner works."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from chalicelib import log
from chalicelib.errors import LeaseLost, StorageUnavailable


class Heartbeat:
    """Renews every third of the lease; `check` tells its owner to stop once it is lost.

    A worker that was stalled past its lease finds out at the next `check`, before it writes.
    """

    def __init__(self, renew: Callable[[], None], lease_seconds: float) -> None:
        self._renew = renew
        self._lease_seconds = lease_seconds
        self._valid_until = time.monotonic() + lease_seconds
        self._lost = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=log.with_context(self._run), daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._stop.set()
        self._thread.join()

    def check(self) -> None:
        """Return while the lease is held.

        Raises:
            LeaseLost: it was lost, or could not be renewed in time.
        """
        if self._lost or time.monotonic() >= self._valid_until:
            raise LeaseLost

    def _run(self) -> None:
        """Renew until stopped or lost."""
        while not self._stop.wait(self._lease_seconds / 3):
            try:
                started = time.monotonic()
                self._renew()
                self._valid_until = started + self._lease_seconds
            except LeaseLost:
                self._lost = True
                return
            except StorageUnavailable:
                log.warning("heartbeat_failed")
