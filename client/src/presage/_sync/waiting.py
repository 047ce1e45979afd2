# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Waits for what goes on in the background, with a progress bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from presage._sync.clock import sleep
from presage._progress import Bar
from presage.errors import WaitTimeoutError

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 3.0
"""Seconds between two looks: at first, and at most."""


def wait(
    look: Callable[[], T],
    is_over: Callable[[T], bool],
    *,
    title: str,
    share: Callable[[T], float | None],
    timeout: float | None = None,
    progress: bool | None = None,
) -> T:
    """Look again and again until something is over, and return what was seen last.

    Args:
        look: fetches the present state.
        is_over: tells whether to stop.
        title: what the progress bar says.
        share: how much is done, 0 to 1; None where that is not known.
        timeout: longest wait, in seconds.
        progress: whether to show a bar; None shows it on a terminal.

    Raises:
        WaitTimeoutError: it goes on after `timeout`.
    """
    ends, pause = None if timeout is None else time.monotonic() + timeout, FIRST_PAUSE
    with Bar(title, progress) as bar:
        while True:
            seen = look()
            if is_over(seen):
                bar.show(1.0)
                return seen
            bar.show(share(seen))
            if ends is not None and time.monotonic() + pause > ends:
                raise WaitTimeoutError(f"{title} goes on after {timeout:g} seconds.")
            sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
