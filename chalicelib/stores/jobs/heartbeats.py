"""Renews a lease in the background while its owner works."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from chalicelib import log
from chalicelib.errors import LeaseLost, StorageUnavailable


class Heartbeat:
    """Renews a lease every third of its duration. `check` raises an error once the lease is lost.

    If a worker stalls until its lease has ended, the next `check` tries to renew the lease. If
    another worker has acquired the job meanwhile, the renewal and all later writes are refused.
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
        """Raise LeaseLost unless the lease is held or can be renewed."""
        is_over = time.monotonic() >= self._valid_until
        if self._lost or (is_over and not self._try_to_renew()):
            raise LeaseLost

    def _run(self) -> None:
        while not self._lost and not self._stop.wait(self._lease_seconds / 3):
            self._try_to_renew()

    def _try_to_renew(self) -> bool:
        """Try to renew the lease once; return whether that succeeded."""
        try:
            # The time before the call, because the lease counts from the write, not the response.
            started = time.monotonic()
            self._renew()
        except LeaseLost:
            self._lost = True
        except StorageUnavailable:
            # The lease may still be valid, so the next beat tries again.
            log.warning("heartbeat_failed")
        else:
            self._valid_until = started + self._lease_seconds
            return True
        return False
