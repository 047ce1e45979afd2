"""Processes the pages of a document in several threads, until all are done or time is up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from typing import TypeVar

from chalicelib.errors import TimedOut

Result = TypeVar("Result")

_POLL_SECONDS = 0.05


class _Stopped(Exception):
    """Stops the work on a page because another page of the same document has failed."""


class PageWork:
    """The work on all pages of one call, its progress and its time limit."""

    def __init__(
        self, page_count: int, seconds_left: float, limit_seconds: float, slots: threading.Semaphore
    ) -> None:
        """Start measuring the time of a call.

        `seconds_left` is the time left for the call; it may be infinite. `limit_seconds` is the
        time limit that the error text names. `slots` limits how many pages the process reads at the
        same time, over all calls.
        """
        self._page_count = page_count
        self._deadline = time.monotonic() + seconds_left
        self._limit_seconds = limit_seconds
        self._slots = slots
        self._done: set[int] = set()
        self._is_stopped = threading.Event()
        self._failures: list[BaseException] = []

    def check(self) -> None:
        """Raise an error if the work on a page must stop.

        Raises:
            TimedOut: the time is up; the error text says which page was reached.
            _Stopped: another page of the document has failed.
        """
        if self._is_stopped.is_set():
            raise _Stopped
        if time.monotonic() > self._deadline:
            raise self._timed_out()

    def run(self, threads: Executor, read: Callable[[int], Result]) -> list[Result]:
        """Process every page, and return the results in page order.

        After the first error no further page is begun, and running pages stop at their next check.
        The method does not wait for them.

        `read` processes one page, given its number from 1, and calls `check` often.

        Raises:
            TimedOut: the time is up; the error text says which page was reached.
        """
        pages = [
            threads.submit(self._read, read, number) for number in range(1, self._page_count + 1)
        ]
        try:
            seconds = max(0.0, self._deadline - time.monotonic())
            # Python's locks do not accept an infinite timeout.
            wait(pages, min(seconds, threading.TIMEOUT_MAX), return_when=FIRST_EXCEPTION)
            return self._results(pages)
        finally:
            self._is_stopped.set()
            for page in pages:
                page.cancel()

    def _read(self, read: Callable[[int], Result], number: int) -> Result:
        while not self._slots.acquire(timeout=_POLL_SECONDS):
            self.check()
        try:
            self.check()
            result = read(number)
        except BaseException as error:
            # Set here, not by the waiting thread, because this thread takes the next page at once.
            self._failures.append(error)
            self._is_stopped.set()
            raise
        finally:
            self._slots.release()
        self._done.add(number)
        return result

    def _results(self, pages: list[Future[Result]]) -> list[Result]:
        if self._failures:
            raise self._failures[0]
        if not all(page.done() for page in pages):
            raise self._timed_out()
        return [page.result() for page in pages]

    def _timed_out(self) -> TimedOut:
        reached = next(n for n in range(1, self._page_count + 2) if n not in self._done)
        return TimedOut(
            f"The document was not read within {self._limit_seconds:g} seconds: page "
            f"{min(reached, self._page_count)} of {self._page_count} was reached. "
            "Send fewer pages in a call, or smaller ones."
        )
