"""How long the stop of a stack takes. Holds a time, so it runs alone."""

from __future__ import annotations

import signal
import time

import pytest

from tests.local.wire import is_alive


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_leaves_no_child(fresh, number):
    """Ctrl-C and SIGTERM end everything within five seconds with status 0, even paused workers."""
    pids = [fresh.pid, *fresh.processes.values()]
    fresh.kill_worker("train", signal.SIGSTOP)
    began = time.monotonic()

    status = fresh.stop(number)

    assert status == 0
    assert time.monotonic() - began < 5
    assert not [pid for pid in pids if is_alive(pid)]
