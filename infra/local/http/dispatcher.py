"""Callers take turns at the door: who sends many short calls at once holds up nobody else.

All calls share one interpreter here, where Lambda would give each a process of its own.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from waitress.task import ThreadedTaskDispatcher

# Others are about while their latest call is no older than this.
CROWD_SECONDS = 1.0
# A caller's next short call waits as often as long as the former took as calls wait behind it, but
# no longer than this: a few go on at once, and of a flood most calls of others meet none.
MOST_PAUSE_SECONDS = 0.05


class FairDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """Gives requests to threads: one caller's short calls one after another, while others call.

    A caller who is alone has all threads at once.

    Args:
        is_short: tells whether a request is a short call.
    """

    def __init__(self, is_short: Callable[[Any], bool]) -> None:
        super().__init__()
        self._is_short = is_short
        self._turns_lock = threading.Lock()
        self._waiting: dict[str, deque[Any]] = {}
        """Connections whose short call waits, by caller; for those who have one in work."""
        self._latest = self._other = ("", -CROWD_SECONDS)
        """Who called last, and the last who was somebody else, with their times."""

    def add_task(self, channel: Any) -> None:
        """Let a thread answer the connection's next request, at once or in its turn."""
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
        """Let the caller's next short call be answered, after a pause while others are about.

        Args:
            caller: whose call is answered.
            seconds: it took.
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
    """A connection whose caller has its turn."""

    dispatcher: FairDispatcher
    caller: str
    channel: Any

    def service(self) -> None:
        """Answer the request, then let the caller's next one go."""
        begun = time.monotonic()
        try:
            self.channel.service()
        finally:
            self.dispatcher.end_turn(self.caller, time.monotonic() - begun)

    def cancel(self) -> None:
        """Drop the connection: the server ends."""
        self.channel.cancel()
