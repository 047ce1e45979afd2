"""Pages are read by threads; results are in page order, and errors or timeouts stop all."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from types import SimpleNamespace

import pytest

from chalicelib.domain.documents import page_work
from chalicelib.domain.documents.page_work import PageWork
from chalicelib.errors import BadRequest, TimedOut


def run(read, pages=8, threads=2, seconds=float("inf"), slots=4):
    """Read pages; `read` gets the page's number and the check."""
    semaphore = threading.Semaphore(slots)
    work = PageWork(pages, seconds, 25.0, semaphore)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return work.run(pool, lambda number: read(number, work.check))
    finally:
        assert all(semaphore.acquire(blocking=False) for _ in range(slots)), "all are released"


def test_results_come_in_the_order_of_the_pages():
    """Whichever page is read first."""
    assert run(lambda number, check: (time.sleep(0.01 * (number % 3)), number)[1]) == [*range(1, 9)]


def test_not_more_pages_than_threads_or_slots_at_a_time():
    """Two threads read two pages; one slot of the process lets one of them wait."""
    active, most, lock = [0], [0], threading.Lock()
    pair = threading.Barrier(2, timeout=60)

    def read(meet):
        with lock:
            active[0] += 1
            most[0] = max(most[0], active[0])
        meet()
        with lock:
            active[0] -= 1

    run(lambda number, check: read(pair.wait))
    assert most == [2]
    most[0] = 0
    run(lambda number, check: read(lambda: time.sleep(0.01)), slots=1)
    assert most == [1]


def test_first_error_ends_all():
    """After an error the other page stops at its next check, and no further page begins."""
    begun = []

    def read(number, check):
        begun.append(number)
        if number == 2:
            raise BadRequest("page 2 is broken")
        while True:
            check()
            time.sleep(0.001)

    with pytest.raises(BadRequest, match="page 2"):
        run(read)
    assert sorted(begun) == [1, 2]


def test_unexpected_failure_is_raised_too():
    """An unexpected failure is raised."""

    def read(number, check):
        if number == 1:
            raise ZeroDivisionError
        time.sleep(0.01)
        check()

    with pytest.raises(ZeroDivisionError):
        run(read)


@pytest.mark.parametrize("does_check", [True, False])
def test_end_of_the_time_names_the_page(does_check, monkeypatch):
    """A timeout names the page, whether a thread or the waiting caller notices it."""
    clock, is_stuck = SimpleNamespace(now=0.0), threading.Event()

    def wait_for_time(pages, seconds, return_when):
        """Let the time pass once pages 4 and 5 are being read, and wait for the threads or not."""
        assert is_stuck.wait(60)
        clock.now = 1.0
        wait(pages, 60 if does_check else 0, return_when)

    monkeypatch.setattr(page_work, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(page_work, "wait", wait_for_time)

    def read(number, check):
        if number == 5:
            is_stuck.set()
        while number >= 4:
            time.sleep(0.001)
            try:
                check()
            except TimedOut:
                if does_check:
                    raise

    with pytest.raises(TimedOut, match=r"within 25 seconds: page 4 of 8 was reached") as refusal:
        run(read, seconds=0.5)
    assert refusal.value.retry_after_seconds == 5


def test_no_time_at_all():
    """Nothing is read."""
    with pytest.raises(TimedOut, match="page 1 of 1"):
        run(lambda number, check: check(), pages=1, seconds=0)


def test_waiting_for_a_slot_ends_in_time():
    """A call that waits for a slot ends at its own time limit."""
    slots = threading.Semaphore(0)
    work = PageWork(1, 0.1, 25.0, slots)
    with ThreadPoolExecutor(1) as pool, pytest.raises(TimedOut, match="page 1 of 1"):
        work.run(pool, lambda number: number)
