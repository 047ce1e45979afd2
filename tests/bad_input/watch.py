"""Watches that the service answers others while it is given something bad."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.live import Caller, Live

PAUSE_SECONDS = 0.05
SLOWEST_SECONDS = 2.0
"""Longest wait for the health of the service, on a machine that does other work too."""


@contextmanager
def watched_health(live: Live) -> Iterator[None]:
    """Ask for the service's health all the while; each answer must come soon."""
    stranger, slowest, is_over = Caller(live.url, ""), [0.0], threading.Event()

    def ask() -> None:
        """Ask until told to stop."""
        while not is_over.wait(PAUSE_SECONDS):
            begun = time.monotonic()
            stranger.get("/v2/health").ok()
            slowest.append(time.monotonic() - begun)

    watcher = threading.Thread(target=ask)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
    assert max(slowest) < SLOWEST_SECONDS
