"""Schedules requests so that many calls of one caller do not delay other callers.

All calls share one interpreter here; in Lambda, each has a separate process.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from waitress.task import ThreadedTaskDispatcher

# Seconds for which a caller counts as active after a call.
CROWD_SECONDS = 1.0
# Longest pause between two short calls of one caller. The pause is the time of the last call, times
# the number of the caller's waiting calls. So a few waiting calls continue almost at once, and a
# flood of calls leaves time for other callers.
MOST_PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class CallKind:
    """A kind of call, and how many such calls one caller may run while other callers are active."""

    name: str
    limit: int
    pauses: bool = False
    """Whether the pause before the next call grows with the number of waiting calls."""


# Calls that take milliseconds.
SHORT = CallKind("short", 1, pauses=True)
# Calls that use a processor for long. More at once would not end sooner, and would slow others.
HEAVY = CallKind("heavy", min(8, max(2, os.cpu_count() or 1)))
Turns = tuple[str, CallKind]
"""Caller and kind of a call. Calls with the same caller and the same kind wait in one queue."""


class FairDispatcher(ThreadedTaskDispatcher):
    """Passes requests to threads; while other callers are active, limits a caller's running calls.

    A single active caller can use all threads.

    Args:
        kind_of: returns the kind of a request; None for a request that never waits.
    """

    def __init__(self, kind_of: Callable[[Any], CallKind | None]) -> None:
        super().__init__()
        self._kind_of = kind_of
        self._turns_lock = threading.Lock()
        self._running: dict[Turns, int] = {}
        self._waiting: dict[Turns, deque[Any]] = {}
        """Connections with a waiting call, by the call's caller and kind."""
        self._latest = self._other = ("", -CROWD_SECONDS)
        """The last caller, and the last different caller before it, each with its time."""

    def add_task(self, channel: Any) -> None:
        """Pass a connection's next request to a thread, or let it wait for the caller's calls."""
        request = channel.requests[0]
        caller = "" if request.error else request.headers.get("AUTHORIZATION", "")
        if caller:
            kind = self._kind_of(request)
            with self._turns_lock:
                self._note(caller)
                turns = (caller, kind) if kind else None
                if turns and self._running.get(turns, 0) < turns[1].limit:
                    self._running[turns] = self._running.get(turns, 0) + 1
                    channel = CountedCall(self, turns, channel)
                elif turns and self._has_others(caller):
                    self._waiting.setdefault(turns, deque()).append(channel)
                    return
        super().add_task(channel)

    def end_turn(self, turns: Turns, seconds: float) -> None:
        """End a call, and start the next waiting call of the same caller and kind.

        If other callers are active, a short call is followed by a pause.
        """
        caller, kind = turns
        if kind.pauses:
            with self._turns_lock:
                crowd = len(self._waiting.get(turns, ())) if self._has_others(caller) else 0
            time.sleep(min(crowd * seconds, MOST_PAUSE_SECONDS))
        with self._turns_lock:
            waiting = self._waiting.get(turns)
            if not waiting:
                self._end(turns)
                return
            call = CountedCall(self, turns, waiting.popleft())
        super().add_task(call)

    def _end(self, turns: Turns) -> None:
        self._waiting.pop(turns, None)
        self._running[turns] -= 1
        if not self._running[turns]:
            del self._running[turns]

    def _note(self, caller: str) -> None:
        if caller != self._latest[0]:
            self._other = self._latest
        self._latest = caller, time.monotonic()

    def _has_others(self, caller: str) -> bool:
        other = self._other if caller == self._latest[0] else self._latest
        return time.monotonic() - other[1] < CROWD_SECONDS


@dataclass(frozen=True)
class CountedCall:
    """A connection whose running call counts towards the limit of its caller and kind."""

    dispatcher: FairDispatcher
    turns: Turns
    channel: Any

    def service(self) -> None:
        """Answer the request; then start the next request of the same caller and kind."""
        begun = time.monotonic()
        try:
            self.channel.service()
        finally:
            self.dispatcher.end_turn(self.turns, time.monotonic() - begun)

    def cancel(self) -> None:
        """Drop the connection, because the server stops."""
        self.channel.cancel()
