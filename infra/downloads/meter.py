"""Shows the progress of all downloads of an installation as one bar, or as plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from infra.downloads.packages import MEGABYTE, Progress

_BAR_CELLS = 24
_DRAW_SECONDS = 0.2
_LINE_SECONDS = 5.0
_CLEAR = "\r\x1b[K"


class Meter:
    """Sums the received bytes of several files, and shows percentage, megabytes and rate.

    Args:
        total: bytes of all files.
        progress: called with plain lines if `terminal` is not a terminal.
        terminal: where the bar is drawn if this is a terminal.
        clock: returns seconds.
    """

    def __init__(
        self,
        total: int,
        progress: Progress,
        terminal: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = max(total, 1)
        self._finished = 0
        self._current = 0
        self._received = 0
        self._progress = progress
        self._terminal = terminal if terminal and terminal.isatty() else None
        self._clock = clock
        self._last = ""
        self._started = self._shown = clock()

    def start_file(self, present_bytes: int) -> None:
        """Begin a file; an earlier installation has downloaded `present_bytes` of the file."""
        self._current = present_bytes

    def receive(self, received: int) -> None:
        """Record how many bytes of the current file have been received."""
        # The rate leaves out bytes of earlier installations, and of a file that is downloaded
        # again.
        self._received += max(received - self._current, 0)
        self._current = received
        interval = _DRAW_SECONDS if self._terminal else _LINE_SECONDS
        if self._clock() - self._shown >= interval:
            self._show()

    def finish_file(self, size: int) -> None:
        """Count a complete file of `size` bytes."""
        self._finished += size
        self._current = 0
        # A file that was complete before has received no bytes.
        self.receive(0)

    def close(self) -> None:
        """Show the last state, and end the line of the bar."""
        self._show()
        if self._terminal:
            self._terminal.write("\n")
            self._terminal.flush()

    def _show(self) -> None:
        self._shown = self._clock()
        done = min(self._finished + self._current, self._total)
        percent = 100 * done // self._total
        rate = self._received / max(self._shown - self._started, 0.001)
        amount = (
            f"{done / MEGABYTE:.0f} of {self._total / MEGABYTE:.0f} MB, {rate / MEGABYTE:.1f} MB/s"
        )
        if self._terminal:
            cells = "#" * (_BAR_CELLS * percent // 100)
            bar = f"{_CLEAR}downloading [{cells:-<{_BAR_CELLS}}] {percent:3d} %  {amount}"
            self._terminal.write(bar)
            self._terminal.flush()
        elif amount != self._last:
            self._progress(f"downloading: {percent} %, {amount}")
        self._last = amount
