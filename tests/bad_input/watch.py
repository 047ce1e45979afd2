"""Watches that the service answers others while it is given something bad."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.flows.client import Client
from tests.live import Caller, Live
from tests.processor_waits import ProcessorWaits

PAUSE_SECONDS = 0.05
SLOWEST_SECONDS = 2.0
"""Wait for the health of the service that is always allowed."""
LONGEST_SHARE = 0.25
"""Longest wait as a fraction of the time for which the service was given something bad. A service
that is blocked answers only at the end, and a busy machine makes both times longer."""


class _Pulse:
    """Measures how long this process itself was held up, by the machine or by its own work."""

    lost = 0.0
    """Seconds so far."""

    def beat(self, is_over: threading.Event) -> None:
        """Measure until the event is set."""
        last = time.monotonic()
        while not is_over.wait(PAUSE_SECONDS):
            now = time.monotonic()
            self.lost += now - last - PAUSE_SECONDS
            last = now


@contextmanager
def watched_health(live: Live | Client, longest: float = SLOWEST_SECONDS) -> Iterator[None]:
    """Ask for the service's health all the while; each answer must come soon.

    Soon is within `longest` seconds, or within a fraction of the whole time. Time in which the
    caller was held up, or in which the service waited for a processor, is not counted: both depend
    on the machine.
    """
    stranger, pulse, slowest, is_over = Caller(live.url, ""), _Pulse(), [0.0], threading.Event()

    def ask() -> None:
        """Ask until the event is set."""
        while not is_over.wait(PAUSE_SECONDS):
            begun, lost, waits = time.monotonic(), pulse.lost, ProcessorWaits.measure()
            stranger.get("/v2/health").ok()
            time.sleep(PAUSE_SECONDS)  # the pulse notices a delay at its next beat
            waited = time.monotonic() - begun - PAUSE_SECONDS
            starved = ProcessorWaits.measure().seconds_since(waits)
            slowest.append(waited - (pulse.lost - lost) - starved)

    watchers = [threading.Thread(target=ask), threading.Thread(target=pulse.beat, args=(is_over,))]
    for watcher in watchers:
        watcher.start()
    started = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - started
        is_over.set()
        for watcher in watchers:
            watcher.join()
    assert max(slowest) < max(longest, LONGEST_SHARE * took)
