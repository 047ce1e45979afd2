"""Extends waitress by what a public HTTP server needs.

- Header and body limits are enforced before the body is read.
- `Expect` and chunked bodies never block a connection.
- Requests whose end or host is ambiguous are refused; stalled requests get the status 408.
- The application gets headers in their original spelling.
- Every error has the JSON form of the service.
- After a refusal the connection stays open for a moment, so that a client that is still sending can
  read the answer.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Mapping
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, get_header_lines
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask
from waitress.utilities import BadRequest, Error

from infra.local.aws.s3_access import FIELDS_BYTES
from infra.local.http.dispatcher import FairDispatcher
from infra.local.http.forms import FormChecks, FormRefused, LengthRequired
from infra.local.http.storage import is_storage_path, safe_headers

# Key of the original headers in the WSGI environment.
HEADERS_KEY = "presage.headers"
# Largest request line and headers.
MAX_HEADER_BYTES = 64 * 1024
# Longest line before a chunk.
MAX_CONTROL_BYTES = 4096
# A request is refused if its data stops for this many seconds.
STALLED_SECONDS = 15.0
# A connection is closed after this many seconds without a request.
IDLE_SECONDS = 75.0
# Seconds for which the data of a refused client is discarded, so that it reads the answer.
LINGER_SECONDS = 2.0
# Largest Retry-After, in seconds, for which the server stops reading from a throttled client.
HELD_SECONDS = 2
# Longest single wait of a stopping server for an event, in seconds.
_DRAIN_TURN_SECONDS = 0.05
# Seconds that threads get to end. Idle ones need milliseconds; one whose call does not end is
# abandoned.
_THREADS_END_SECONDS = 0.3
# Requests that are answered at the same time.
THREADS = 24

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~!$&'()*+;=%]*)(:[0-9]*)?")
_CODES = {
    400: "bad_request",
    403: "form_refused",
    408: "request_timeout",
    411: "length_required",
    413: "too_large",
    431: "headers_too_large",
    500: "internal_error",
    501: "not_implemented",
    505: "version_not_supported",
}
# Error texts by status: what is wrong and what to do.
_TEXTS = {
    408: f"Nothing arrived for {STALLED_SECONDS:g} seconds in the middle of a request; repeat it.",
    411: "Send the form with Content-Length.",
    431: f"The request line and headers are larger than {MAX_HEADER_BYTES} bytes.",
    500: "An internal error occurred.",
    505: "Only HTTP/1.1 and HTTP/1.0 are supported.",
}


class RequestTimeout(Error):
    """A request that did not arrive in time."""

    code = 408
    reason = "Request Timeout"


class VersionNotSupported(Error):
    """A request in another major version of HTTP."""

    code = 505
    reason = "HTTP Version Not Supported"


class Parser(HTTPRequestParser):
    """Parses one request, stores the headers as sent, and never waits for a refused body."""

    raw_headers: tuple[tuple[str, str], ...] = ()
    is_unchecked_form = False
    error: Error | None
    adj: Adjustments

    def __init__(self, adjustments: Adjustments, forms: FormChecks | None = None) -> None:
        super().__init__(adjustments)
        self._forms = forms

    def received(self, data: bytes) -> int:
        """Parse bytes and return how many of them belong to this request."""
        consumed: int = super().received(data)
        if self.is_unchecked_form:
            self._check_form()
        if self.chunked and not self.completed:
            self._check_control_line()
        if self.error is not None or self.body_rcv is None:
            # For such a client, waitress would ask it to continue and then wait for the body.
            self.expect_continue = False
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the header block and store its lines."""
        super().parse_header(header_plus)
        _, _, block = header_plus.partition(b"\r\n")
        pairs = (line.partition(b":") for line in get_header_lines(block))
        self.raw_headers = tuple(
            (name.decode("latin-1"), value.strip(b" \t").decode("latin-1"))
            for name, _, value in pairs
        )
        if not self.version:
            raise ParsingError("The request line names no version, such as HTTP/1.1.")
        if self.version not in ("1.0", "1.1"):
            self.error = VersionNotSupported("")
            self.completed = True
            return
        # Connection may list several options, but waitress knows only single ones. RFC 9110, 7.6.1.
        options = re.split("[, \t]+", ",".join(self._values("connection")).lower())
        kept = [option for option in ("close", "keep-alive") if option in options]
        self.headers["CONNECTION"] = kept[0] if kept else ""
        self._check_framing()
        self._check_host()
        if self._forms is not None and self._forms.is_form(self):
            self._expect_form(self._forms)

    def _expect_form(self, forms: FormChecks) -> None:
        """Allow the size of a presigned form, whose fields are checked as soon as they arrive."""
        if self.chunked:
            self.error = LengthRequired("")
            self.completed = True
            return
        self.adj = forms.adjust(self.adj)
        self.is_unchecked_form = self.content_length > 0

    def _check_form(self) -> None:
        """Refuse a form that is not signed, before more of its file is read."""
        needed = min(FIELDS_BYTES, self.content_length)
        if self.error or self._forms is None or self.body_bytes_received < needed:
            return
        self.is_unchecked_form = False
        self.error = self._forms.check(self, self.body_rcv.getbuf().get(FIELDS_BYTES))
        self.completed = self.completed or self.error is not None

    def _check_framing(self) -> None:
        """Refuse a request if two parsers could disagree where it ends. RFC 9112, 6.1."""
        codings, lengths = self._values("transfer-encoding"), self._values("content-length")
        if codings and lengths:
            raise ParsingError("It has both Content-Length and Transfer-Encoding; send one.")
        if codings and self.version == "1.0":
            raise ParsingError("HTTP/1.0 has no Transfer-Encoding; send Content-Length.")
        if ",".join(codings).lower().count("chunked") > 1:
            raise ParsingError("Transfer-Encoding names chunked twice.")

    def _check_host(self) -> None:
        """Refuse a request whose host is missing or ambiguous. RFC 9112, 3.2."""
        hosts = self._values("host")
        if len(hosts) > 1 or (not hosts and self.version != "1.0"):
            raise ParsingError(f"It has {len(hosts)} Host headers; send one.")
        if hosts and not _HOST.fullmatch(hosts[0]):
            raise ParsingError("The Host header is not a host with an optional port.")

    def _values(self, name: str) -> list[str]:
        return [value for sent, value in self.raw_headers if sent.lower() == name]

    def _check_control_line(self) -> None:
        """Refuse chunk sizes and trailers that are too long."""
        receiver = self.body_rcv
        if max(len(receiver.control_line), len(receiver.trailer)) > MAX_CONTROL_BYTES:
            self.error = BadRequest("The line before a chunk is too long.")
            self.completed = True


class RequestTask(WSGITask):
    """Passes a request to the application, with its headers as sent."""

    def get_environment(self) -> dict[str, Any]:
        """Build the WSGI environment."""
        environment: dict[str, Any] = super().get_environment()
        environment[HEADERS_KEY] = self.request.raw_headers
        return environment

    @property
    def has_body(self) -> bool:
        """Return False for an answer to HEAD without a length; otherwise ask waitress."""
        # Without a length, waitress would send the end marker of a chunked body even to HEAD.
        is_unsized = self.request.command == "HEAD" and self.content_length is None
        return not is_unsized and bool(super().has_body)

    def build_response_header(self) -> bytes:
        """Return the header block; header names keep the application's spelling."""
        self._delay_reads()
        spelled = {name.lower(): name for name, _ in self.response_headers}
        block: bytes = super().build_response_header()
        lines = block.decode("latin-1").split("\r\n")
        for place, line in enumerate(lines):
            name, colon, value = line.partition(":")
            lines[place] = f"{spelled.get(name.lower(), name)}{colon}{value}"
        return "\r\n".join(lines).encode("latin-1")

    def _delay_reads(self) -> None:
        """Stop reading from a throttled client for the time of Retry-After."""
        # During a flood, parsing refused requests would take processor time from other callers.
        waits = dict(self.response_headers).get("Retry-After", "")
        if self.status.startswith("429") and waits.isdecimal() and int(waits) <= HELD_SECONDS:
            self.channel.held_until = time.monotonic() + int(waits)


class JsonErrorTask(ErrorTask):
    """Answers requests that do not reach the application, in the service's error form."""

    def execute(self) -> None:
        """Write the error and close the connection."""
        error = self.request.error
        self.channel.is_refused = True
        body = error_body(self._message(error), _CODES.get(error.code, "bad_request"))
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.response_headers.extend(self.channel.server.error_headers.items())
        if is_storage_path(getattr(self.request, "path", "")):
            self.response_headers.extend(safe_headers())
        self.set_close_on_finish()
        self.content_length = len(body)
        # HEAD is refused without a body, too.
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)

    def _message(self, error: Any) -> str:
        """Return the error text: what is wrong and what to do."""
        if error.code == 413:
            return too_large_message(
                self.channel.adj.max_request_body_size - 1, self.request.content_length
            )
        if isinstance(error, FormRefused):
            return str(error.body)
        if error.code in _TEXTS:
            return _TEXTS[error.code]
        return f"The request is not well-formed HTTP: {error.body}"


class Channel(HTTPChannel):
    """One connection; after a refusal it discards further data before it closes."""

    task_class = RequestTask
    error_task_class = JsonErrorTask
    request: Parser | None = None
    is_refused = False
    linger_until: float | None = None
    held_until = 0.0

    def parser_class(self, adjustments: Adjustments) -> Parser:
        """Return a new parser for the next request."""
        return Parser(adjustments, self.server.forms)

    def readable(self) -> bool:
        """Return whether to read now.

        After a refusal, data is read to discard it. Nothing is read while the server stops, or
        until the time of Retry-After has passed for a throttled client.
        """
        if self.linger_until is not None:
            return True
        if self.server.stop_at is not None:
            return False
        return time.monotonic() >= self.held_until and bool(super().readable())

    def handle_read(self) -> None:
        """Read the bytes of a request; after a refusal, discard them."""
        if self.linger_until is None:
            super().handle_read()
        elif self.recv(self.adj.recv_bytes) and time.monotonic() > self.linger_until:
            self.handle_close()

    def handle_close(self) -> None:
        """Close the connection; after a refusal, close only the sending side first."""
        if self.is_refused and self.linger_until is None and self.connected:
            self.linger_until = time.monotonic() + LINGER_SECONDS
            self.will_close = False
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
            return
        super().handle_close()

    def is_busy(self) -> bool:
        """Return whether a call runs, part of an answer is unsent, or the connection is closing."""
        is_closing = self.close_when_flushed or self.will_close
        return bool(self.requests or self.total_outbufs_len or is_closing)

    def is_expired(self, now: float) -> bool:
        """Return whether to close the connection at `now`, in seconds since the epoch."""
        if self.linger_until is not None:
            return time.monotonic() > self.linger_until
        is_waiting = self.request is not None or self.total_outbufs_len
        limit = STALLED_SECONDS if is_waiting else IDLE_SECONDS
        return not self.requests and self.last_activity < now - limit

    def expire(self) -> None:
        """Close the connection; if a request has begun to arrive, first refuse it with 408."""
        with self.requests_lock:
            request, self.request = self.request, None
            if request is None or self.linger_until is not None:
                self.will_close = True
                return
            if not request.headers_finished:
                request.version = "1.1"
            request.error = RequestTimeout("")
            self.requests.append(request)
            self.server.add_task(self)


class Server(TcpWSGIServer):
    """Accepts connections; closes stalled requests earlier than idle connections."""

    channel_class = Channel
    error_headers: Mapping[str, str] = {}
    """Further headers of answers to requests that do not reach the application."""
    forms: FormChecks | None = None
    """Checks of presigned forms, if the application passes forms to the storage."""

    stop_at: float | None = None
    """Monotonic time at which the last calls must end, in seconds; None while the server runs."""

    def run(self) -> None:
        """Serve until `stop` is called and the running calls are answered."""
        while self.stop_at is None and self._map:
            self._turn(self.adj.asyncore_loop_timeout)
        if self.stop_at is None:
            return
        self.accepting = False
        # The loop also sends pending output, so that no answer is cut off.
        while self._is_busy() and time.monotonic() < self.stop_at:
            self._turn(_DRAIN_TURN_SECONDS)
        # Without time to end, waitress would report every idle thread as still running.
        self.task_dispatcher.shutdown(timeout=_THREADS_END_SECONDS)

    def stop(self, drain_seconds: float) -> None:
        """Accept no more connections, and end `run` when the running calls are answered.

        Args:
            drain_seconds: longest wait for running calls, in seconds.
        """
        self.stop_at = time.monotonic() + drain_seconds
        self.pull_trigger()

    def _turn(self, seconds: float) -> None:
        self.asyncore.loop(
            timeout=seconds, map=self._map, use_poll=self.adj.asyncore_use_poll, count=1
        )

    def _is_busy(self) -> bool:
        return any(channel.is_busy() for channel in list(self.active_channels.values()))

    def maintenance(self, now: float) -> None:
        """End expired connections; called every second."""
        for channel in list(self.active_channels.values()):
            if channel.is_expired(now):
                channel.expire()


def error_body(message: str, code: str) -> bytes:
    """Return an error in the service's JSON form."""
    return json.dumps({"message": message, "code": code}).encode("utf-8")


def too_large_message(limit: int, actual: int) -> str:
    """Return a text with the limit, the size if it is known, and how to send a larger file."""
    size = f" and this one has {actual}" if actual > limit else ""
    return (
        f"A request body may have {limit} bytes{size}; send a larger file with POST /v2/uploads, "
        "and its path in this call."
    )


def make_server(
    application: Any,
    listener: socket.socket,
    max_body_bytes: int,
    error_headers: Mapping[str, str],
    forms: FormChecks | None = None,
) -> Server:
    """Return a server, whose `run` serves until the process ends.

    Args:
        application: the WSGI application; its `kind_of` returns the kind of a request.
        listener: bound socket.
        max_body_bytes: largest body of a request, in bytes.
        error_headers: further headers of answers to requests that do not reach the application.
        forms: checks of presigned forms, which may be larger than other bodies.
    """
    adjustments = Adjustments(
        # The listener is bound already. Without an address, waitress would look up every interface.
        listen=f"127.0.0.1:{listener.getsockname()[1]}",
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
    dispatcher = FairDispatcher(application.kind_of)
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
    server.forms = forms
    return server
