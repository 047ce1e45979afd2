"""One HTTP request to an address that was chosen before, ended by a deadline.

The socket is dialled by address, so that no second look-up can lead elsewhere; Host header, SNI and
certificate check use the name of the URL.
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

# What a server must send at least, over any PACE_SECONDS that are spent waiting for it.
LEAST_BYTES_PER_SECOND = 10_000
# Whole seconds over which the least rate is measured.
PACE_SECONDS = 30
# How often a read that waits looks whether it may go on.
CHECK_SECONDS = 1.0
# http.client bounds a line and the number of lines, whose product is megabytes.
_MAX_HEADER_BYTES = 64 * 1024


class Deadline:
    """A moment after which nothing may go on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends_at = time.monotonic() + seconds

    def remaining(self, at_most: float = float("inf")) -> float:
        """Return the seconds that are left, above zero.

        Raises:
            TimeoutError: none are left.
        """
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, at_most)


class Pace:
    """Ends a download whose server sends less than the least rate.

    Only time that was spent waiting for the server counts: a machine that is busy itself must not
    make a server look slow.
    """

    def __init__(self, bytes_per_second: int = LEAST_BYTES_PER_SECOND) -> None:
        self._bytes_per_second = bytes_per_second
        self._waited = 0.0
        self._seconds = deque([0], PACE_SECONDS)  # bytes in each of the last seconds of waiting
        self._second = 0

    def note(self, waited_seconds: float, count: int) -> None:
        """Add what a wait brought.

        Raises:
            DownloadFailed: it was too little over PACE_SECONDS.
        """
        self._waited += waited_seconds
        while self._second + 1 <= self._waited:
            self._check()
            self._second += 1
            self._seconds.append(0)
        self._seconds[-1] += count

    def _check(self) -> None:
        """Look at the last PACE_SECONDS, once they are over."""
        least, came = self._bytes_per_second * PACE_SECONDS, sum(self._seconds)
        if self._second + 1 >= PACE_SECONDS and came < least:
            raise DownloadFailed(
                f"Its server sent {came:,} bytes in {PACE_SECONDS} seconds; the least is "
                f"{least:,}. Offer the file on a faster server, or send it by POST /v2/uploads."
            )


class _TimedReader(io.RawIOBase):
    """Reads from a socket; every single read has only what the deadline leaves.

    A socket's own timeout starts anew with each read, so that a server which sends a byte a
    second would hold a worker for days. Waiting is cut into slices, between which `check` may
    stop it.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline, check: Callable[[], None]) -> None:
        self._socket = sock
        self._deadline = deadline
        self._check = check
        self._pace = Pace()
        self._header_bytes_left: int | None = _MAX_HEADER_BYTES

    def end_headers(self) -> None:
        """Stop counting: what follows is the body, which has its own limit."""
        self._header_bytes_left = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read once within the remaining time."""
        count = self._receive(buffer)
        if self._header_bytes_left is not None and count:
            self._header_bytes_left -= count
            if self._header_bytes_left < 0:
                raise http.client.HTTPException("headers too long")
        return count

    def _receive(self, buffer: Any) -> int:
        """Wait for the next bytes; 0 when there are no more."""
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
    """The little of a socket that http.client.HTTPResponse uses."""

    def __init__(self, reader: _TimedReader) -> None:
        self._reader = reader

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the timed reader, buffered; `mode` is always rb."""
        return io.BufferedReader(self._reader)


def open_socket(
    address: str, location: Location, tls: ssl.SSLContext | None, limit: float
) -> socket.socket:
    """Connect to an address.

    Args:
        address: numeric IP address.
        location: names the port, and the host that the certificate must have.
        tls: settings of the certificate check; None sends plain text.
        limit: longest time for each of connecting and the handshake, in seconds.

    Returns:
        A connected socket.

    Raises:
        OSError: nobody answers, or the certificate is wrong.
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
    """A body that is sent, with its headers."""

    body: bytes
    """The body."""
    headers: Mapping[str, str]
    """Headers, in ASCII."""

    def sent(self) -> bytes:
        """Return what follows the usual headers."""
        headers = {**self.headers, "Content-Length": str(len(self.body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return lines.encode("ascii") + b"\r\n" + self.body


class Exchange:
    """A request that was sent and the answer to it; a context manager that closes the socket."""

    def __init__(
        self,
        sock: socket.socket,
        location: Location,
        deadline: Deadline,
        check: Callable[[], None],
        content: Content | None = None,
    ) -> None:
        """Send the request and read status and headers.

        Args:
            sock: connected; closed with this exchange.
            location: what is asked for.
            deadline: ends everything.
            check: called while bytes are waited for; raises to stop.
            content: what is sent by POST; None to GET.

        Raises:
            DownloadFailed: the server sends too slowly.
            OSError: the connection broke, or the time is over.
            http.client.HTTPException: the answer is no HTTP.
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
        """End the connection."""
        self.response.close()
        self._reader.close()
        self._socket.close()
