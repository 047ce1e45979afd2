"""Stopping the front: running calls are answered, new ones are refused."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from infra.local.http import server
from tests.local.wire import RawAnswer, talk, wait_until

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
LARGE = bytes(8 * 1024 * 1024)


class Held:
    """An application whose answer waits until a test releases it."""

    def __init__(self, body: bytes = LARGE) -> None:
        self.body = body
        self.begun, self.released = threading.Event(), threading.Event()

    def kind_of(self, request: object) -> None:
        """Return no kind: no request waits for another one."""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer when the test allows it."""
        self.begun.set()
        self.released.wait(60)
        start("200 OK", [("Content-Length", str(len(self.body)))])
        return [self.body]


class Drained:
    """A server that stops while it answers one call, with the thread of its client."""

    def __init__(self, held: Held, drain_seconds: float) -> None:
        self.answers: list[RawAnswer] = []
        listener = socket.create_server(("127.0.0.1", 0))
        self.server = server.make_server(held, listener, 1_000_000, {})
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.serving = threading.Thread(target=self.server.run)
        self.calling = threading.Thread(target=lambda: self.answers.append(talk(url, GET)))
        self.serving.start()
        self.calling.start()
        assert held.begun.wait(60)
        self.server.stop(drain_seconds)

    def close(self) -> None:
        """Do what the end of the process does to open connections."""
        for channel in list(self.server.active_channels.values()):
            channel.close()
        self.server.close()
        self.calling.join(60)


@pytest.mark.parametrize("size", [2, len(LARGE)])
def test_running_call_is_answered_before_the_end(
    size: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A stop waits for a running call, for its whole answer, and for its connection.

    All threads have ended then, so that the log reports none as still running.
    """
    monkeypatch.setattr(server, "_THREADS_END_SECONDS", 60.0)
    held = Held(bytes(size))
    drained = Drained(held, 60)
    wait_until(lambda: not drained.server.accepting)
    held.released.set()
    drained.serving.join(120)
    # A small answer is sent by the thread that made it, before the loop closes the connection.
    drained.calling.join(30)
    is_open = drained.calling.is_alive()
    drained.close()

    assert not is_open
    assert [(one.status, len(one.body)) for one in drained.answers] == [(200, size)]
    assert [line for line in caplog.messages if "still running" in line] == []


def test_stop_waits_no_longer_than_allowed(caplog: pytest.LogCaptureFixture) -> None:
    """A call that does not end delays the stop only up to the time limit."""
    held = Held()
    drained = Drained(held, 0.1)
    drained.serving.join(120)

    assert not drained.serving.is_alive()
    assert any("still running" in line for line in caplog.messages)
    held.released.set()
    drained.close()
