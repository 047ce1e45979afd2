"""Downloads files from callers' URLs without connecting to private addresses (SSRF).

Used for `path` (files of uploads, batches, imports and others), `sampleLocation` (predictions) and
webhooks. Every address that a host name resolves to is checked, and the connection uses a checked
address. Redirects are checked, too.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from chalicelib.errors import DownloadFailed, TooLarge
from chalicelib.stores.fetching.pinned_http import Content, Deadline, Exchange, open_socket
from chalicelib.stores.fetching.urls import (
    AllowList,
    Location,
    is_public,
    read_attachment_name,
    read_location,
)

# Each redirect is resolved and checked like the first URL, and costs a connection.
_MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Enough to detect the format of a file before the rest of it is downloaded.
_HEAD_BYTES = 4096
# Small, because deadline and cancellation are checked between two chunks.
_CHUNK_BYTES = 256 * 1024
_NOT_PUBLIC = "Its address is not on the public internet."

# Has the signature of socket.getaddrinfo.
Resolver = Callable[..., Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Probe:
    """Name, size and first bytes of a remote file, read without downloading the whole file."""

    file_name: str
    """Name in Content-Disposition, otherwise the last part of the URL's path; may be empty."""
    size_bytes: int | None
    """Size that the server announces; None if it announces none."""
    head: bytes
    """First bytes of the file, up to 4,096; empty for an empty file."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Name and size of a downloaded file."""

    file_name: str
    """Name in Content-Disposition, otherwise the last part of the URL's path; may be empty."""
    size_bytes: int
    """Number of bytes written."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response with status 200 whose body has not been read."""

    location: Location
    response: http.client.HTTPResponse
    deadline: Deadline


class Downloader:
    """Reads files from public URLs, and posts to URLs, within limits of size and time."""

    def __init__(
        self,
        allowed: Sequence[str] = (),
        connect_timeout_seconds: float = 3.0,
        resolver: Resolver = socket.getaddrinfo,
        tls: ssl.SSLContext | None = None,
        check_seconds: float = 10.0,
    ) -> None:
        """Set the rules for all downloads.

        Args:
            allowed: entries of an AllowList, which permits addresses that are not public.
            connect_timeout_seconds: maximum time to connect to one address.
            resolver: resolves host names like socket.getaddrinfo; called once per URL.
            tls: settings of the certificate check; None for the settings of the system.
            check_seconds: maximum time of `check`, including redirects.

        Raises:
            ValueError: an entry of the allow-list is not valid.
        """
        self._allowed = AllowList(allowed)
        self._connect_timeout_seconds = connect_timeout_seconds
        self._resolver = resolver
        self._tls = tls
        self._check_seconds = check_seconds

    def check(self, url: str, max_bytes: int, file_name: str = "the dataset") -> Probe:
        """Check that a file can be read from a URL.

        The address, the status, the announced size and the first bytes are checked. The check takes
        at most the `check_seconds` of the constructor. Error texts call the file `file_name`.

        Returns:
            Name, size and first bytes of the file.

        Raises:
            DownloadFailed: the file cannot be read; the message says why.
            TooLarge: the server announces a size above the limit.
        """
        with self._open(url, Deadline(self._check_seconds), file_name) as answer:
            size_bytes = _read_size(answer, max_bytes)
            head = b"".join(_read_body(answer, _HEAD_BYTES, size_bytes, must_be_complete=False))
            return Probe(_read_name(answer), size_bytes, head[:_HEAD_BYTES])

    def fetch(
        self,
        url: str,
        target: BinaryIO,
        max_bytes: int,
        total_seconds: float,
        file_name: str = "the dataset",
        check: Callable[[], None] = lambda: None,
    ) -> Fetched:
        """Download a file.

        Args:
            url: http or https URL without credentials.
            target: is written from its current position. After an error it may contain a part of
                the file.
            max_bytes: maximum size of the file, whatever size the server announces.
            total_seconds: maximum time of the download.
            file_name: name of the file in error texts.
            check: called at least once per second; may raise an error to stop.

        Returns:
            Name and size of the file.

        Raises:
            DownloadFailed: the file cannot be read, or arrives too slowly; the message says why.
            TooLarge: the file is above the limit; it was written up to the limit.
        """
        with self._open(url, Deadline(total_seconds), file_name, check) as answer:
            size_bytes = _read_size(answer, max_bytes)
            written_bytes = 0
            for chunk in _read_body(answer, max_bytes + 1, size_bytes, must_be_complete=True):
                if written_bytes + len(chunk) > max_bytes:
                    raise _too_large(max_bytes, None)
                target.write(chunk)
                written_bytes += len(chunk)
            return Fetched(_read_name(answer), written_bytes)

    def check_address(self, url: str, seconds: float) -> None:
        """Raise an error unless Presage may post to a URL.

        Every address of the host must be public or on the allow-list. A URL may use http only if
        none of the addresses is public.

        Raises:
            DownloadFailed: the URL is not allowed; the message says why.
        """
        location, deadline = read_location(url), Deadline(seconds)
        addresses = self._resolve(location, deadline)
        is_open = all(not is_public(ipaddress.ip_address(one)) for one in addresses)
        if location.scheme != "https" and not is_open:
            raise DownloadFailed("Use an https URL.")

    def post(self, url: str, content: Content, seconds: float) -> int:
        """Post a body to a URL that `check_address` accepts. Redirects are not followed.

        The call takes at most `seconds`.

        Returns:
            The status of the response. Its body is not read.

        Raises:
            DownloadFailed: the URL is not allowed, or there was no response.
        """
        self.check_address(url, seconds)
        location, deadline = read_location(url), Deadline(seconds)
        with (
            _network_errors(deadline),
            self._exchange(location, deadline, lambda: None, content) as exchange,
        ):
            return exchange.response.status

    @contextmanager
    def _open(
        self, url: str, deadline: Deadline, file_name: str, check: Callable[[], None] = lambda: None
    ) -> Iterator[_Answer]:
        """Open a URL, follow redirects, and yield the response; close it after the `with` block."""
        try:
            location = read_location(url)
            for redirect_count in range(_MAX_REDIRECTS + 1):
                with _network_errors(deadline):
                    exchange = self._exchange(location, deadline, check)
                with exchange:
                    response = exchange.response
                    if response.status not in _REDIRECTS:
                        _check_answer(response)
                        yield _Answer(location, response, deadline)
                        return
                    location = _follow(location, response, redirect_count)
        except DownloadFailed as error:
            raise DownloadFailed(error.reason, file_name) from error

    def _exchange(
        self,
        location: Location,
        deadline: Deadline,
        check: Callable[[], None],
        content: Content | None = None,
    ) -> Exchange:
        """Send a request to a host, at the first of its addresses that accepts a connection."""
        addresses = self._resolve(location, deadline)
        tls = self._find_tls(location)
        connecting = Deadline(deadline.remaining(self._connect_timeout_seconds))
        failure = OSError("no address")
        for position, address in enumerate(addresses):
            try:
                # The time is divided, so that a dead address leaves some for the next one.
                limit = connecting.remaining() / (len(addresses) - position)
                sock = open_socket(address, location, tls, limit)
            except ssl.SSLError:
                raise
            except OSError as error:
                failure = error
                continue
            return self._send(sock, location, deadline, check, content)
        raise ConnectionError("no connection") from failure

    @staticmethod
    def _send(
        sock: socket.socket,
        location: Location,
        deadline: Deadline,
        check: Callable[[], None],
        content: Content | None,
    ) -> Exchange:
        try:
            return Exchange(sock, location, deadline, check, content)
        except BaseException:
            sock.close()
            raise

    def _find_tls(self, location: Location) -> ssl.SSLContext | None:
        if location.scheme == "http":
            return None
        # Loading the certificates is slow, so they are loaded once, when first needed.
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _resolve(self, location: Location, deadline: Deadline) -> list[str]:
        """Return the addresses of a host; raise DownloadFailed unless all of them are allowed."""
        resolved = _look_up(self._resolver, location, deadline.remaining(self._check_seconds))
        addresses: list[str] = []
        for family, _, _, _, sockaddr in resolved:
            if family not in {socket.AF_INET, socket.AF_INET6}:
                continue
            text = str(sockaddr[0])
            address = ipaddress.ip_address(text)
            # One private address among public ones is enough for an attack.
            if not self._allowed.permits(location.host, address, location.port):
                raise DownloadFailed(_NOT_PUBLIC)
            if text not in addresses:
                addresses.append(text)
        if not addresses:
            raise DownloadFailed("Its host name cannot be resolved.")
        return addresses


@contextmanager
def _network_errors(deadline: Deadline) -> Iterator[None]:
    # Wraps network calls only, so that an OSError of the target file is not translated.
    try:
        yield
    except TimeoutError as error:
        reason = f"It took longer than {deadline.seconds:g} seconds."
        raise DownloadFailed(reason) from error
    except ssl.SSLCertVerificationError as error:
        raise DownloadFailed(f"Its certificate is not valid: {error.verify_message}.") from error
    except http.client.IncompleteRead as error:
        raise DownloadFailed("The connection ended before the file did.") from error
    except http.client.HTTPException as error:
        raise DownloadFailed("The server's answer is not valid HTTP.") from error
    except OSError as error:
        raise DownloadFailed("The connection failed.") from error


def _look_up(resolver: Resolver, location: Location, limit: float) -> Sequence[Any]:
    # In a separate thread, because the system's resolver has no timeout.
    answers: list[Sequence[Any]] = []

    def _run() -> None:
        try:
            answers.append(resolver(location.host, location.port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError, ValueError):
            answers.append(())

    thread = threading.Thread(target=_run, daemon=True, name="look-up")
    thread.start()
    thread.join(limit)
    if not answers:
        raise DownloadFailed(f"Its host name was looked up for longer than {limit:.3g} seconds.")
    return answers[0]


def _follow(
    location: Location, response: http.client.HTTPResponse, redirect_count: int
) -> Location:
    if redirect_count == _MAX_REDIRECTS:
        raise DownloadFailed(f"It redirects more than {_MAX_REDIRECTS} times.")
    return location.join(response.getheader("Location", ""))


def _check_answer(response: http.client.HTTPResponse) -> None:
    """Raise DownloadFailed unless a response has status 200 and a body that can be read."""
    if response.status != 200:
        raise DownloadFailed(f"The server answered with status {response.status}.")
    encoding = response.getheader("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        raise DownloadFailed("The server sends it compressed; serve the file uncompressed.")
    transfer = response.getheader("Transfer-Encoding", "").strip().lower()
    lengths = set(response.headers.get_all("Content-Length", []))
    if transfer not in {"", "identity", "chunked"} or len(lengths) > 1:
        raise DownloadFailed("The server's answer is not valid HTTP.")


def _read_size(answer: _Answer, max_bytes: int) -> int | None:
    # Read first, because some versions of http.client decrease `length` while reading the body.
    size_bytes = answer.response.length
    if size_bytes is not None and size_bytes > max_bytes:
        raise _too_large(max_bytes, size_bytes)
    return size_bytes


def _read_body(
    answer: _Answer, limit: int, size_bytes: int | None, *, must_be_complete: bool
) -> Iterator[bytes]:
    """Yield the body in chunks until it ends or `limit` bytes were read.

    The last chunk may exceed `limit`. `size_bytes` is the length that the server announced; None if
    it announced none. With `must_be_complete`, a body shorter than announced raises DownloadFailed.
    """
    done_bytes = 0
    while done_bytes < limit and done_bytes != size_bytes:
        wanted_bytes = _CHUNK_BYTES if size_bytes is None else size_bytes - done_bytes
        with _network_errors(answer.deadline):
            chunk = answer.response.read1(min(wanted_bytes, _CHUNK_BYTES))
        if not chunk:
            break
        done_bytes += len(chunk)
        yield chunk
    if must_be_complete and size_bytes is not None and done_bytes < min(size_bytes, limit):
        raise DownloadFailed(f"The connection ended after {done_bytes:,} of {size_bytes:,} bytes.")


def _read_name(answer: _Answer) -> str:
    disposition = answer.response.getheader("Content-Disposition")
    return read_attachment_name(disposition) or answer.location.file_name


def _too_large(max_bytes: int, size_bytes: int | None) -> TooLarge:
    size = "larger" if size_bytes is None else f"{size_bytes:,} bytes"
    return TooLarge(
        f"The limit of a file from this URL is {max_bytes:,} bytes, it is {size}. "
        "Make the file smaller or split it."
    )
