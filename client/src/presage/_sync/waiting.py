# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Waits for background work of the service; shows a progress bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from time import sleep

from presage._progress import Bar
from presage.errors import WaitTimeoutError

T = TypeVar("T")

# Seconds between two polls: short at first, so that small jobs end quickly.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 3.0


def wait(
    poll: Callable[[], T],
    is_over: Callable[[T], bool],
    *,
    title: str,
    share: Callable[[T], float | None],
    timeout: float | None = None,
    progress: bool | None = None,
) -> T:
    """Poll until the background work has ended, and return the last state.

    Args:
        poll: fetches the current state.
        is_over: returns whether the work has ended.
        title: text of the progress bar.
        share: returns the completed fraction, 0 to 1; None if it is unknown.
        timeout: maximum wait, in seconds.
        progress: whether to show a progress bar; by default only on a terminal.

    Raises:
        WaitTimeoutError: the work is still running after `timeout` seconds.
    """
    ends, pause = None if timeout is None else time.monotonic() + timeout, FIRST_PAUSE
    with Bar(title, progress) as bar:
        while True:
            seen = poll()
            if is_over(seen):
                bar.show(1.0)
                return seen
            bar.show(share(seen))
            # Checked before the pause, so that the call does not outlast its timeout.
            if ends is not None and time.monotonic() + pause > ends:
                raise WaitTimeoutError(f"{title} is still running after {timeout:g} seconds.")
            sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
