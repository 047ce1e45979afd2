"""The gate that blocks writes to the emulated AWS while it is copied."""

from __future__ import annotations

import threading
import time

import pytest

from infra.local.aws import write_pause
from infra.local.aws.write_pause import WritePause


def passing(gate: WritePause, token: str | None = None) -> threading.Thread:
    """Pass the gate on another thread."""

    def go() -> None:
        with gate.passing(token, ("table",)):
            pass

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    return thread


def test_others_wait_and_the_copier_does_not():
    """While the gate is closed only the copier's token passes; afterwards all calls do."""
    gate = WritePause()
    token = gate.close()
    stranger = passing(gate)
    passing(gate, token).join(60)
    stranger.join(0.2)

    assert stranger.is_alive()
    assert gate.writes.total() == 1
    assert token is not None
    assert gate.open(token)
    stranger.join(60)
    assert not stranger.is_alive()
    assert gate.writes.total() == 2


def test_the_copier_waits_for_calls_that_have_begun():
    """The gate closes only after all running calls have ended."""
    gate = WritePause()
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with gate.passing(None):
            inside.set()
            leave.wait(60)

    threading.Thread(target=stay, daemon=True).start()
    inside.wait(60)
    started = time.monotonic()
    threading.Timer(0.3, leave.set).start()

    assert gate.close() is not None
    assert time.monotonic() - started >= 0.25


def test_a_call_that_hangs_refuses_the_copier(monkeypatch: pytest.MonkeyPatch):
    """If a call does not end, the gate reopens, so that no call waits forever."""
    monkeypatch.setattr(write_pause, "ENTER_SECONDS", 0.2)
    gate = WritePause()
    with gate.passing(None):
        assert gate.close() is None

    passing(gate).join(60)
    assert gate.writes.total() == 1


def test_a_copier_that_dies_stops_no_call(monkeypatch: pytest.MonkeyPatch):
    """After the time limit the gate opens automatically, and the copier's `open` reports it."""
    monkeypatch.setattr(write_pause, "LONGEST_SECONDS", 0.3)
    gate = WritePause()
    started = time.monotonic()
    token = gate.close()

    stranger = passing(gate)
    stranger.join(60)

    assert not stranger.is_alive()
    assert time.monotonic() - started >= 0.25
    assert token is not None
    assert not gate.open(token)


def test_one_copier_at_a_time():
    """A second copier is refused while the first one is running."""
    gate = WritePause()

    assert gate.close() is not None
    assert gate.close() is None
