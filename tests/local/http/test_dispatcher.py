"""A caller with too many calls at once does not delay others at the local entry point."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from infra.local.http.dispatcher import HEAVY, MOST_PAUSE_SECONDS, SHORT, FairDispatcher

THREADS = 8
TAKEN = 0.02
"""What one call takes, in seconds."""


class Connection:
    """Sends one request, and counts how many of its kind are in work at once."""

    def __init__(self, caller, path, seen, taken=TAKEN, begin=None):
        headers = {"AUTHORIZATION": caller} if caller else {}
        self.requests = [SimpleNamespace(error=None, headers=headers, path=path)]
        self._kind, self._seen, self._taken = f"{caller} {path}", seen, taken
        self._begin = begin

    def service(self):
        """Work for a while, from when it may begin."""
        if self._begin:
            self._begin.wait(60)
        with self._seen.lock:
            self._seen.now[self._kind] = self._seen.now.get(self._kind, 0) + 1
            most = max(self._seen.most.get(self._kind, 0), self._seen.now[self._kind])
            self._seen.most[self._kind] = most
        time.sleep(self._taken)
        with self._seen.lock:
            self._seen.now[self._kind] -= 1
            self._seen.ended.append((self._kind, time.monotonic()))


@pytest.fixture
def seen():
    """What was in work, and when it ended."""
    return SimpleNamespace(lock=threading.Lock(), now={}, most={}, ended=[])


@pytest.fixture
def dispatcher(monkeypatch):
    """A dispatcher that runs, and for which others stay active however busy the machine is."""
    monkeypatch.setattr("infra.local.http.dispatcher.CROWD_SECONDS", 600.0)
    kinds = {"/short": SHORT, "/heavy": HEAVY}
    made = FairDispatcher(lambda request: kinds.get(request.path))
    made.set_thread_count(THREADS)
    yield made
    made.shutdown()


def wait_for(seen, count):
    """Wait until that many calls are answered."""
    deadline = time.monotonic() + 60
    while len(seen.ended) < count:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def record_pauses(monkeypatch):
    """Record the pauses of the dispatcher in seconds, and skip them."""
    pauses = []
    clock = SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic)
    monkeypatch.setattr("infra.local.http.dispatcher.time", clock)
    return pauses


def test_flood_is_answered_one_by_one_while_others_call(dispatcher, seen):
    """Of many short calls of one caller one runs at a time; others are not delayed or lost."""
    dispatcher.add_task(Connection("b", "/long", seen))
    for _ in range(12):
        dispatcher.add_task(Connection("a", "/short", seen))
    for _ in range(4):
        dispatcher.add_task(Connection("c", "/long", seen))

    wait_for(seen, 17)

    assert seen.most["a /short"] == 1
    kinds = [kind for kind, _ in seen.ended]
    last = max(place for place, kind in enumerate(kinds) if kind == "c /long")
    assert kinds[:last].count("a /short") < 6
    pauses = [when for kind, when in seen.ended if kind == "a /short"]
    assert pauses[3] - pauses[0] > 3 * (TAKEN + MOST_PAUSE_SECONDS)


def test_long_call_of_records_is_followed_by_no_long_pause(dispatcher, seen, monkeypatch):
    """After a call of several seconds the same caller's next one waits only a moment."""
    pauses = record_pauses(monkeypatch)
    dispatcher.add_task(Connection("b", "/long", seen))
    are_both_there = threading.Event()
    dispatcher.add_task(Connection("a", "/short", seen, taken=0.5, begin=are_both_there))
    dispatcher.add_task(Connection("a", "/short", seen))
    are_both_there.set()

    wait_for(seen, 3)

    assert pauses[0] == MOST_PAUSE_SECONDS


def test_the_more_calls_wait_the_longer_is_the_pause(dispatcher, seen, monkeypatch):
    """The pause grows with the number of waiting calls, and the last one has none."""
    pauses = record_pauses(monkeypatch)
    dispatcher.add_task(Connection("b", "/long", seen))
    are_all_there = threading.Event()
    for _ in range(12):
        dispatcher.add_task(Connection("a", "/short", seen, taken=0.01, begin=are_all_there))
    are_all_there.set()

    wait_for(seen, 13)

    assert pauses[0] == MOST_PAUSE_SECONDS
    assert pauses[11:] in ([], [0.0])


@pytest.mark.parametrize("path", ["/short", "/heavy"])
def test_caller_who_is_alone_has_all_threads(dispatcher, seen, path):
    """A caller without competitors is not delayed."""
    for _ in range(2 * THREADS):
        dispatcher.add_task(Connection("a", path, seen))

    wait_for(seen, 2 * THREADS)

    assert seen.most[f"a {path}"] > THREADS // 2


def test_heavy_calls_leave_processors_to_others(dispatcher, seen):
    """Of many image calls as many run as there are processors; all are answered."""
    dispatcher.add_task(Connection("b", "/long", seen))
    calls = HEAVY.limit + 6
    for _ in range(calls):
        dispatcher.add_task(Connection("a", "/heavy", seen))
    dispatcher.add_task(Connection("b", "/short", seen))

    wait_for(seen, calls + 2)

    assert seen.most["a /heavy"] == min(HEAVY.limit, THREADS)
    kinds = [kind for kind, _ in seen.ended]
    # The crowd that was sent before it would otherwise end first; a busy machine may swap a few.
    assert kinds[: kinds.index("b /short")].count("a /heavy") < calls - HEAVY.limit


@pytest.mark.parametrize(("caller", "path"), [("a", "/long"), ("", "/short"), ("", "/heavy")])
def test_long_and_anonymous_calls_never_wait(dispatcher, seen, caller, path):
    """Only calls of known callers with a kind are queued."""
    for number in range(THREADS):
        dispatcher.add_task(Connection(f"other{number}", "/long", seen))
        dispatcher.add_task(Connection(caller, path, seen))

    wait_for(seen, 2 * THREADS)

    assert seen.most[f"{caller} {path}"] > 1
