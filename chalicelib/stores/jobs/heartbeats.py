"""Renews a lease in the background while its owner works."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from chalicelib import log
from chalicelib.errors import LeaseLost, StorageUnavailable


class Heartbeat:
    """Renews every third of the lease; `check` tells its owner to stop once it is lost.

    A worker that was stalled past its lease asks for it again at the next `check`: while nobody
    else has taken the job, its work goes on where it stands, also where the answer takes longer
    than a lease. What another has taken refuses the renewal, as it does every other write.
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
            LeaseLost: another has it, or it has ended and cannot be renewed.
        """
        is_over = time.monotonic() >= self._valid_until
        if self._lost or (is_over and not self._try_to_renew()):
            raise LeaseLost

    def _run(self) -> None:
        """Renew until stopped or lost."""
        while not self._lost and not self._stop.wait(self._lease_seconds / 3):
            self._try_to_renew()

    def _try_to_renew(self) -> bool:
        """Renew once, and tell whether that was done; what does not answer is asked again later."""
        try:
            # Before the call: the lease counts from when it was written, not from the answer.
            started = time.monotonic()
            self._renew()
        except LeaseLost:
            self._lost = True
        except StorageUnavailable:
            log.warning("heartbeat_failed")
        else:
            self._valid_until = started + self._lease_seconds
            return True
        return False
