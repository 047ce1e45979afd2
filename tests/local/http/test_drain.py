"""The end of the front: running calls are answered, new ones are not begun."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from infra.local.http import server
from tests.local.wire import talk, wait_until

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
LARGE = bytes(8 * 1024 * 1024)


class Held:
    """An application whose answer waits until a test releases it."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()

    def is_short(self, request: object) -> bool:
        """Return whether a request is short: none is."""
        return False

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer when the test allows it."""
        self.begun.set()
        self.released.wait(60)
        start("200 OK", [("Content-Length", str(len(LARGE)))])
        return [LARGE]


@pytest.mark.parametrize("is_released", [True, False])
def test_running_call_is_answered_before_the_end(is_released: bool) -> None:
    """A stop waits for a call and for the bytes of its answer, but not longer than allowed."""
    held, answers = Held(), []
    listener = socket.create_server(("127.0.0.1", 0))
    running = server.make_server(held, listener, 1_000_000, {})
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    serving = threading.Thread(target=running.run)
    calling = threading.Thread(target=lambda: answers.append(talk(url, GET)))
    serving.start()
    calling.start()
    assert held.begun.wait(60)

    running.stop(60 if is_released else 0.1)
    if is_released:
        wait_until(lambda: not running.accepting)
        held.released.set()
    serving.join(120)

    assert not serving.is_alive()
    if is_released:
        calling.join(60)
        assert (answers[0].status, len(answers[0].body)) == (200, len(LARGE))
    held.released.set()
    # What the process's end does to the connections of the second case.
    for channel in list(running.active_channels.values()):
        channel.close()
    running.close()
    calling.join(60)
