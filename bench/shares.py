"""Holds a process to a share of a processor, as Lambda does by a function's memory.

Lambda's own quota is the kernel's, in periods of 20 ms; this one stops and continues the process
from outside, which every Linux allows.
"""

from __future__ import annotations

import os
import signal
import threading
import time

PERIOD_SECONDS = 0.02
PROCESSOR_MB = 1_769
"""Memory that comes with one whole processor."""
_LOOK_SECONDS = 0.0005


class Share:
    """Holds a process to a share while it is entered.

    Args:
        process: its id.
        memory_mb: of the function that it stands for; with a processor or more it is left alone.
    """

    def __init__(self, process: int, memory_mb: int) -> None:
        self._process, self._share = process, memory_mb / PROCESSOR_MB
        # The clock of a process's processor time, as clock_getcpuclockid makes it.
        self._clock = ~process << 3 | 2
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._hold, daemon=True)

    def __enter__(self) -> Share:
        """Begin."""
        if self._share < 1:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let it run."""
        self._is_over.set()
        if self._share < 1:
            self._thread.join()

    def _hold(self) -> None:
        """Stop the process for the rest of each period in which its share is used up."""
        while not self._is_over.is_set():
            ends, used = time.monotonic() + PERIOD_SECONDS, time.clock_gettime(self._clock)
            while (left := ends - time.monotonic()) > 0:
                over = time.clock_gettime(self._clock) - used - self._share * PERIOD_SECONDS
                if over >= 0:
                    # Paused for as long as it has exceeded its share.
                    os.kill(self._process, signal.SIGSTOP)
                    time.sleep(max(0.0, left) + over / self._share)
                    os.kill(self._process, signal.SIGCONT)
                    break
                time.sleep(_LOOK_SECONDS)
