"""A proxy between client and service that drops, stalls, or answers calls."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

Fault = Callable[["_Handler"], bool]
"""Does something to a call; true when the call ends there."""


def dropped(handler: _Handler) -> bool:
    """Read the call, then close the connection."""
    handler.body()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True
    return True


def stalled(handler: _Handler) -> bool:
    """Read the call and never answer until the proxy stops."""
    handler.body()
    handler.net.over.wait(60)
    handler.close_connection = True
    return True


def passed(handler: _Handler) -> bool:
    """Forward the call."""
    return False


def answered(status: int, body: bytes, **headers: str) -> Fault:
    """Answer instead of the service."""

    def answer(handler: _Handler) -> bool:
        handler.body()
        handler.reply(
            status, {name.replace("_", "-"): text for name, text in headers.items()}, body
        )
        return True

    return answer


class BadNetwork:
    """Forwards calls to a service, except those for which a test has set a fault."""

    def __init__(self, service: str) -> None:
        self.service = urllib.parse.urlsplit(service)
        self.faults: list[Fault] = []
        self.calls: list[str] = []
        self.over = threading.Event()
        self.is_signed = False
        """Whether addresses are signed for the host that is behind the network."""
        network = self

        class Handler(_Handler):
            """Handler of this proxy."""

            net = network

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> BadNetwork:
        """Start listening."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    net: BadNetwork
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""

    def body(self) -> bytes:
        """Read the body of the call."""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            raise AssertionError("the client knows the length of what it sends")
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Send an answer."""
        self.send_response_only(status)
        for name, text in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def pass_on(self) -> None:
        """Apply the next fault, or else forward the call."""
        self.net.calls.append(f"{self.command} {self.path.partition('?')[0]}")
        if self.net.faults and self.net.faults.pop(0)(self):
            return
        line = http.client.HTTPConnection(self.net.service.netloc, timeout=60)
        kept = {name: text for name, text in self.headers.items() if name.lower() != "connection"}
        if self.net.is_signed:
            kept["Host"] = self.net.service.netloc
        line.request(self.command, self.path, self.body(), kept)
        answer = line.getresponse()
        body = answer.read()
        hop = ("connection", "content-length", "transfer-encoding", "keep-alive")
        headers = {name: text for name, text in answer.getheaders() if name.lower() not in hop}
        line.close()
        self.reply(answer.status, headers, body)

    do_GET = do_POST = do_PUT = do_DELETE = pass_on  # noqa: N815 - names that http.server calls
