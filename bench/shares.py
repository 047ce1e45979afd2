"""Limits a process to a fraction of a processor, as Lambda does for functions with little memory.

Lambda uses the kernel's quota, in periods of 20 ms. This module stops and continues the process
from outside, which works on every Linux system.
"""

from __future__ import annotations

import os
import signal
import threading
import time

PERIOD_SECONDS = 0.02
PROCESSOR_MB = 1_769
"""Memory with which Lambda gives one whole processor, in MB."""
_LOOK_SECONDS = 0.0005


class Share:
    """Limits a process to a fraction of a processor while the `with` block runs.

    Args:
        process: id of the process.
        memory_mb: memory of the Lambda function. If Lambda would give this function a whole
            processor, the process is not limited.
    """

    def __init__(self, process: int, memory_mb: int) -> None:
        self._process, self._share = process, memory_mb / PROCESSOR_MB
        # Id of the clock of a process's processor time, computed as by clock_getcpuclockid.
        self._clock = ~process << 3 | 2
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._hold, daemon=True)

    def __enter__(self) -> Share:
        if self._share < 1:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._share < 1:
            self._thread.join()

    def _hold(self) -> None:
        """Stop the process for the rest of each period in which its fraction is used up."""
        while not self._is_over.is_set():
            ends, used = time.monotonic() + PERIOD_SECONDS, time.clock_gettime(self._clock)
            while (left := ends - time.monotonic()) > 0:
                over = time.clock_gettime(self._clock) - used - self._share * PERIOD_SECONDS
                if over >= 0:
                    # The pause is as long as the process has exceeded its fraction.
                    os.kill(self._process, signal.SIGSTOP)
                    time.sleep(max(0.0, left) + over / self._share)
                    os.kill(self._process, signal.SIGCONT)
                    break
                time.sleep(_LOOK_SECONDS)
