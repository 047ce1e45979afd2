"""Sends one HTTP request to a given IP address, with a deadline.

The socket connects to the address, so that the host name is not resolved a second time. Host
header, SNI and certificate check use the host name of the URL.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from chalicelib.errors import DownloadFailed
from chalicelib.stores.fetching.urls import Location

# Minimum rate of a server, measured over any PACE_SECONDS of waiting for it.
LEAST_BYTES_PER_SECOND = 10_000
# Whole seconds over which the rate is measured, so that a short stall does not end a download.
PACE_SECONDS = 30
# Seconds between two checks of a waiting read whether to stop.
CHECK_SECONDS = 1.0
# http.client limits the lines and their length, but together they may be megabytes.
_MAX_HEADER_BYTES = 64 * 1024


class Deadline:
    """The time until which an operation must end."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends_at = time.monotonic() + seconds

    def remaining(self, at_most: float = float("inf")) -> float:
        """Return the remaining seconds, at most `at_most`; raise TimeoutError if there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, at_most)


class Pace:
    """Stops a download whose server sends too few bytes per second."""

    def __init__(self) -> None:
        # Only time spent waiting for the server counts, so that a busy machine does not make a
        # server look slow.
        self._waited = 0.0
        # Bytes received in each of the last seconds of waiting.
        self._seconds = deque([0], PACE_SECONDS)
        self._second = 0

    def note(self, waited_seconds: float, count: int) -> None:
        """Record how long a read waited and how many bytes it got.

        Raises:
            DownloadFailed: too few bytes arrived in the last PACE_SECONDS.
        """
        self._waited += waited_seconds
        while self._second + 1 <= self._waited:
            self._check()
            self._second += 1
            self._seconds.append(0)
        self._seconds[-1] += count

    def _check(self) -> None:
        least, came = LEAST_BYTES_PER_SECOND * PACE_SECONDS, sum(self._seconds)
        if self._second + 1 >= PACE_SECONDS and came < least:
            raise DownloadFailed(
                f"Its server sent {came:,} bytes in {PACE_SECONDS} seconds; the minimum is "
                f"{least:,}. Host the file on a faster server, or send it with POST /v2/uploads."
            )


class _TimedReader(io.RawIOBase):
    """Reads from a socket until a deadline.

    While it waits, it calls `check`, which may raise an error to stop the read.

    A plain socket timeout restarts with each read. So a server that sends one byte per second could
    block a worker for days.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline, check: Callable[[], None]) -> None:
        self._socket = sock
        self._deadline = deadline
        self._check = check
        self._pace = Pace()
        self._header_bytes_left: int | None = _MAX_HEADER_BYTES

    def end_headers(self) -> None:
        """Remove the size limit of the headers, because the body has its own limit."""
        self._header_bytes_left = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._receive(buffer)
        if self._header_bytes_left is not None and count:
            self._header_bytes_left -= count
            if self._header_bytes_left < 0:
                raise http.client.HTTPException("headers too long")
        return count

    def _receive(self, buffer: Any) -> int:
        """Wait for the next bytes, store them and return their number; 0 at the end."""
        while True:
            self._check()
            self._socket.settimeout(self._deadline.remaining(CHECK_SECONDS))
            began = time.monotonic()
            try:
                count = self._socket.recv_into(buffer)
            except TimeoutError:
                self._pace.note(time.monotonic() - began, 0)
                continue
            self._pace.note(time.monotonic() - began, count)
            return count


class _TimedSocket:
    """A socket, reduced to the methods that http.client.HTTPResponse calls."""

    def __init__(self, reader: _TimedReader) -> None:
        self._reader = reader

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the reader of the socket. The mode is always `rb`."""
        return io.BufferedReader(self._reader)


def open_socket(
    address: str, location: Location, tls: ssl.SSLContext | None, limit: float
) -> socket.socket:
    """Connect to an IP address.

    Args:
        address: numeric IP address.
        location: has the port, and the host name that the certificate must match.
        tls: settings of the certificate check; None for a connection without TLS.
        limit: maximum time in seconds to connect. A TLS handshake may take `limit` seconds more.

    Raises:
        OSError: the connection failed, or the certificate is not valid.
    """
    plain = socket.create_connection((address, location.port), timeout=limit)
    if tls is None:
        return plain
    try:
        return tls.wrap_socket(plain, server_hostname=location.host)
    except BaseException:
        plain.close()
        raise


@dataclass(frozen=True)
class Content:
    """The body of a request, and its headers."""

    body: bytes
    headers: Mapping[str, str]
    """Header names and values, in ASCII."""

    def sent(self) -> bytes:
        """Return the headers of the body, an empty line and the body, as they are sent."""
        headers = {**self.headers, "Content-Length": str(len(self.body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return lines.encode("ascii") + b"\r\n" + self.body


class Exchange:
    """A request and its response. As a context manager, it closes the socket."""

    def __init__(
        self,
        sock: socket.socket,
        location: Location,
        deadline: Deadline,
        check: Callable[[], None],
        content: Content | None = None,
    ) -> None:
        """Send a request, and read status and headers of the response.

        Args:
            sock: a connected socket, which is closed with the exchange.
            location: the requested URL.
            deadline: time until which the exchange must end.
            check: called while waiting for bytes; may raise an error to stop.
            content: body to POST; None for a GET request.

        Raises:
            DownloadFailed: the server sends too slowly.
            OSError: the connection broke, or the deadline has passed.
            http.client.HTTPException: the response is not valid HTTP.
        """
        self._socket = sock
        method = "GET" if content is None else "POST"
        request = (
            f"{method} {location.target} HTTP/1.1\r\nHost: {location.host_header}\r\n"
            "Accept: */*\r\nAccept-Encoding: identity\r\nUser-Agent: presage\r\n"
            "Connection: close\r\n"
        )
        sock.settimeout(deadline.remaining())
        sock.sendall(request.encode("ascii") + (b"\r\n" if content is None else content.sent()))
        self._reader = _TimedReader(sock, deadline, check)
        self.response = http.client.HTTPResponse(
            cast("socket.socket", _TimedSocket(self._reader)), method=method
        )
        try:
            self.response.begin()
        except BaseException:
            self.close()
            raise
        self._reader.end_headers()

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.response.close()
        self._reader.close()
        self._socket.close()
