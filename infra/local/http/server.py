"""Waitress with the edges that a public HTTP door needs.

Header and body limits that answer at once, `Expect` and chunked bodies without a hang, headers in
their own spelling for the application, every error in the service's JSON shape, and a lingering
close, so that a client still sending reads the answer.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, get_header_lines
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask
from waitress.utilities import BadRequest

from infra.local.http.dispatcher import FairDispatcher

# Name in the WSGI environment of the headers as they were sent.
HEADERS_KEY = "presage.headers"
# Request line and headers of one request.
MAX_HEADER_BYTES = 64 * 1024
# Longest line that announces a chunk.
MAX_CONTROL_BYTES = 4096
# A client that has begun a request and sends nothing for so long is cut off.
STALLED_SECONDS = 15.0
# A kept connection without a request is closed after so long.
IDLE_SECONDS = 75.0
# How long a refused client's data is thrown away, so that it reads the answer.
LINGER_SECONDS = 2.0
# A client that is told to wait no longer than this is not listened to for as long.
HELD_SECONDS = 2
# Requests worked on at one time.
THREADS = 24

_CODES = {
    400: "bad_request",
    413: "too_large",
    431: "headers_too_large",
    500: "internal_error",
    501: "not_implemented",
}


class Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Parses one request; keeps the headers as sent and never waits for a refused body."""

    raw_headers: tuple[tuple[str, str], ...] = ()

    def received(self, data: bytes) -> int:
        """Take bytes from the wire and tell how many belong to this request."""
        consumed: int = super().received(data)
        if self.chunked and not self.completed:
            self._check_control_line()
        if self.error is not None or self.body_rcv is None:
            # Waitress would ask such a client to go on and then wait for a body.
            self.expect_continue = False
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the header block and keep its lines."""
        super().parse_header(header_plus)
        _, _, block = header_plus.partition(b"\r\n")
        pairs = (line.partition(b":") for line in get_header_lines(block))
        self.raw_headers = tuple(
            (name.decode("latin-1"), value.strip(b" \t").decode("latin-1"))
            for name, _, value in pairs
        )

    def _check_control_line(self) -> None:
        """Refuse a chunk's first line or trailer that never ends."""
        receiver = self.body_rcv
        if max(len(receiver.control_line), len(receiver.trailer)) > MAX_CONTROL_BYTES:
            self.error = BadRequest("The line before a chunk is too long.")
            self.completed = True


class RequestTask(WSGITask):  # type: ignore[misc]  # waitress has no types
    """Hands a request to the application together with its headers as sent."""

    def get_environment(self) -> dict[str, Any]:
        """Build the WSGI environment."""
        environment: dict[str, Any] = super().get_environment()
        environment[HEADERS_KEY] = self.request.raw_headers
        return environment

    def build_response_header(self) -> bytes:
        """Write the header block with names as the application spelled them, as a gateway does."""
        self._hold_back()
        spelled = {name.lower(): name for name, _ in self.response_headers}
        block: bytes = super().build_response_header()
        lines = block.decode("latin-1").split("\r\n")
        for place, line in enumerate(lines):
            name, colon, value = line.partition(":")
            lines[place] = f"{spelled.get(name.lower(), name)}{colon}{value}"
        return "\r\n".join(lines).encode("latin-1")

    def _hold_back(self) -> None:
        """Leave a connection alone whose client came too fast: a flood costs little then."""
        waits = dict(self.response_headers).get("Retry-After", "")
        if self.status.startswith("429") and waits.isdecimal() and int(waits) <= HELD_SECONDS:
            self.channel.held_until = time.monotonic() + int(waits)


class JsonErrorTask(ErrorTask):  # type: ignore[misc]  # waitress has no types
    """Answers what never reached the application, in the service's error shape."""

    def execute(self) -> None:
        """Write the error and close the connection."""
        error = self.request.error
        self.channel.is_refused = True
        body = error_body(self._message(error), _CODES.get(error.code, "bad_request"))
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.response_headers.extend(self.channel.server.error_headers.items())
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)

    def _message(self, error: Any) -> str:
        """Say what is wrong and how to mend it."""
        if error.code == 413:
            return too_large_message(
                self.channel.adj.max_request_body_size - 1, self.request.content_length
            )
        if error.code == 431:
            return f"The request line and headers are larger than {MAX_HEADER_BYTES} bytes."
        if error.code == 500:
            return "An internal error occurred."
        return f"The request is not well-formed HTTP: {error.body}"


class Channel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """One connection; after a refusal it throws the rest away before it closes."""

    parser_class = Parser
    task_class = RequestTask
    error_task_class = JsonErrorTask
    is_refused = False
    linger_until: float | None = None
    held_until = 0.0

    def readable(self) -> bool:
        """Tell whether to read: also what a refused client still sends, but not who must wait."""
        if self.linger_until is not None:
            return True
        return time.monotonic() >= self.held_until and bool(super().readable())

    def handle_read(self) -> None:
        """Read a request's bytes, or throw away what follows a refusal."""
        if self.linger_until is None:
            super().handle_read()
        elif self.recv(self.adj.recv_bytes) and time.monotonic() > self.linger_until:
            self.handle_close()

    def handle_close(self) -> None:
        """Close, or for a refused client close only our side at first."""
        if self.is_refused and self.linger_until is None and self.connected:
            self.linger_until = time.monotonic() + LINGER_SECONDS
            self.will_close = False
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
            return
        super().handle_close()

    def is_over(self, now: float) -> bool:
        """Tell whether the connection's time is over; `now` is in seconds since the epoch."""
        if self.linger_until is not None:
            return time.monotonic() > self.linger_until
        is_waiting = self.request is not None or self.total_outbufs_len
        limit = STALLED_SECONDS if is_waiting else IDLE_SECONDS
        return not self.requests and self.last_activity < now - limit


class Server(TcpWSGIServer):  # type: ignore[misc]  # waitress has no types
    """Accepts connections; cuts stalled clients off sooner than idle ones."""

    channel_class = Channel
    error_headers: Mapping[str, str] = {}
    """Further headers of what never reached the application."""

    def maintenance(self, now: float) -> None:
        """Close connections whose time is over; called every few seconds."""
        for channel in list(self.active_channels.values()):
            if channel.is_over(now):
                channel.will_close = True


def error_body(message: str, code: str) -> bytes:
    """Write an error in the service's shape."""
    return json.dumps({"message": message, "code": code}).encode("utf-8")


def too_large_message(limit: int, actual: int) -> str:
    """Name the limit, the size when it is known, and the way around."""
    size = f" and this one has {actual}" if actual > limit else ""
    return (
        f"A request body may have {limit} bytes{size}; send a larger file by POST /v2/uploads, "
        "and its path in this call."
    )


def serve(
    application: Any,
    listener: socket.socket,
    max_body_bytes: int,
    error_headers: Mapping[str, str],
) -> None:
    """Serve until the process ends.

    Args:
        application: the WSGI application, which also tells which requests are short.
        listener: bound socket.
        max_body_bytes: largest body of a request, in bytes.
        error_headers: further headers of what never reaches the application.
    """
    adjustments = Adjustments(
        sockets=[listener],
        threads=THREADS,
        ident="presage",
        recv_bytes=256 * 1024,
        inbuf_overflow=4 * 1024 * 1024,
        outbuf_high_watermark=64 * 1024 * 1024,
        connection_limit=1000,
        cleanup_interval=1,
        log_socket_errors=False,
        max_request_header_size=MAX_HEADER_BYTES,
        max_request_body_size=max_body_bytes + 1,
        asyncore_use_poll=True,
        clear_untrusted_proxy_headers=False,
    )
    dispatcher = FairDispatcher(application.is_short)
    dispatcher.set_thread_count(THREADS)
    server = Server(
        application,
        {},
        _sock=listener,
        dispatcher=dispatcher,
        adj=adjustments,
        bind_socket=False,
        sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
    )
    server.error_headers = error_headers
    server.run()
