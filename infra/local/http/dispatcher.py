"""Schedules requests so that one caller's flood of short calls does not delay other callers.

All calls share one interpreter here; in Lambda, each has a separate process.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from waitress.task import ThreadedTaskDispatcher

# Other callers count as active for this long after their latest call.
CROWD_SECONDS = 1.0
# The pause before a caller's next short call is the length of the last one times the number of that
# caller's waiting calls, up to this limit. A few calls continue at once; of a flood, most calls of
# other callers are not affected.
MOST_PAUSE_SECONDS = 0.05


class FairDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """Passes requests to threads; one caller's short calls run in turn while others are active.

    A single active caller can use all threads.

    Args:
        is_short: returns whether a request is a short call.
    """

    def __init__(self, is_short: Callable[[Any], bool]) -> None:
        super().__init__()
        self._is_short = is_short
        self._turns_lock = threading.Lock()
        self._waiting: dict[str, deque[Any]] = {}
        """Connections with a waiting short call, by each caller with a running one."""
        self._latest = self._other = ("", -CROWD_SECONDS)
        """The latest caller and the latest different one, with their times."""

    def add_task(self, channel: Any) -> None:
        """Pass a connection's next request to a thread, at once or in its turn."""
        request = channel.requests[0]
        caller = "" if request.error else request.headers.get("AUTHORIZATION", "")
        if caller:
            with self._turns_lock:
                self._note(caller)
                if self._is_short(request):
                    if caller not in self._waiting:
                        self._waiting[caller] = deque()
                        channel = ShortCall(self, caller, channel)
                    elif self._has_others(caller):
                        self._waiting[caller].append(channel)
                        return
        super().add_task(channel)

    def end_turn(self, caller: str, seconds: float) -> None:
        """Start a caller's next short call, after a pause if others are active.

        Args:
            caller: the caller whose call has ended.
            seconds: the length of that call.
        """
        with self._turns_lock:
            crowd = len(self._waiting[caller]) if self._has_others(caller) else 0
        time.sleep(min(crowd * seconds, MOST_PAUSE_SECONDS))
        with self._turns_lock:
            if not self._waiting[caller]:
                del self._waiting[caller]
                return
            call = ShortCall(self, caller, self._waiting[caller].popleft())
        super().add_task(call)

    def _note(self, caller: str) -> None:
        if caller != self._latest[0]:
            self._other = self._latest
        self._latest = caller, time.monotonic()

    def _has_others(self, caller: str) -> bool:
        other = self._other if caller == self._latest[0] else self._latest
        return time.monotonic() - other[1] < CROWD_SECONDS


@dataclass(frozen=True)
class ShortCall:
    """A connection whose short call is being answered."""

    dispatcher: FairDispatcher
    caller: str
    channel: Any

    def service(self) -> None:
        """Answer the request; then start the next request of the same caller."""
        begun = time.monotonic()
        try:
            self.channel.service()
        finally:
            self.dispatcher.end_turn(self.caller, time.monotonic() - begun)

    def cancel(self) -> None:
        """Drop the connection, because the server stops."""
        self.channel.cancel()
