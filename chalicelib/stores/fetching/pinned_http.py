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
from typing import Any, cast

from chalicelib.stores.fetching.urls import Location

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


class _TimedReader(io.RawIOBase):
    """Reads from a socket; every single read has only what the deadline leaves.

    A socket's own timeout starts anew with each read, so that a server which sends a byte a
    second would hold a worker for days.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._socket = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline
        self._header_bytes_left: int | None = _MAX_HEADER_BYTES

    def end_headers(self) -> None:
        """Stop counting: what follows is the body, which has its own limit."""
        self._header_bytes_left = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read once within the remaining time."""
        self._socket.settimeout(self._deadline.remaining())
        count = self._raw.readinto(buffer)
        if self._header_bytes_left is not None and count:
            self._header_bytes_left -= count
            if self._header_bytes_left < 0:
                raise http.client.HTTPException("headers too long")
        return count

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


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


class Exchange:
    """A request that was sent and the answer to it; a context manager that closes the socket."""

    def __init__(self, sock: socket.socket, location: Location, deadline: Deadline) -> None:
        """Send the request and read status and headers.

        Raises:
            OSError: the connection broke, or the time is over.
            http.client.HTTPException: the answer is no HTTP.
        """
        self._socket = sock
        request = (
            f"GET {location.target} HTTP/1.1\r\nHost: {location.host_header}\r\n"
            "Accept: */*\r\nAccept-Encoding: identity\r\nUser-Agent: presage\r\n"
            "Connection: close\r\n\r\n"
        )
        sock.settimeout(deadline.remaining())
        sock.sendall(request.encode("ascii"))
        self._reader = _TimedReader(sock, deadline)
        self.response = http.client.HTTPResponse(
            cast("socket.socket", _TimedSocket(self._reader)), method="GET"
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
