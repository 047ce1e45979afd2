"""A server on loopback whose files are traps for downloads; each path is one trap."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import time

from tests.pictures import draw, label_folders, make_zip

ROWS = b"where is it,delivery\nmoney back,refund\n"
PICTURE = draw()
ARCHIVE = make_zip(label_folders({"circle": 2, "square": 2}))
BOMB = gzip.compress(bytes(4_000_000))
SECONDS_A_BYTE = 1.0


class Tricks:
    """Answers each connection in a separate thread."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.paths: list[str] = []
        """What was asked for, in order."""
        self.targets: dict[str, str] = {}
        """Where the redirects lead, by path."""
        self._is_open = True
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        """Return the address of a trap."""
        return f"http://127.0.0.1:{self.port}{path}"

    def redirect(self, target: str) -> str:
        """Create a redirect and return its address."""
        path = f"/redirect/{len(self.targets)}"
        self.targets[path] = target
        return self.url(path)

    def close(self) -> None:
        """Stop listening."""
        self._is_open = False
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        """Accept connections until the listener is closed."""
        while self._is_open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        """Read one request and answer it with its trap; the client may disconnect at any time."""
        with contextlib.suppress(OSError), connection:
            connection.settimeout(5)
            request = b""
            while b"\r\n\r\n" not in request:
                part = connection.recv(4096)
                if not part:
                    return
                request += part
            path = request.decode("latin-1").split(" ")[1]
            self.paths.append(path)
            if path in self.targets:
                _head(
                    connection, "302 Found", f"Location: {self.targets[path]}", "Content-Length: 0"
                )
            else:
                getattr(self, f"_{path.strip('/').split('.')[0]}")(connection)

    def _honest(self, connection: socket.socket) -> None:
        """Send a valid file."""
        _head(connection, "200 OK", f"Content-Length: {len(ROWS)}")
        connection.sendall(ROWS)

    def _picture(self, connection: socket.socket) -> None:
        """Send a valid image."""
        _head(connection, "200 OK", f"Content-Length: {len(PICTURE)}")
        connection.sendall(PICTURE)

    def _archive(self, connection: socket.socket) -> None:
        """Send a valid archive of images."""
        _head(connection, "200 OK", f"Content-Length: {len(ARCHIVE)}")
        connection.sendall(ARCHIVE)

    def _missing(self, connection: socket.socket) -> None:
        """Send the status 404."""
        _head(connection, "404 Not Found", "Content-Length: 0")

    def _drip(self, connection: socket.socket) -> None:
        """Send one byte per second."""
        _head(connection, "200 OK")
        self._slowly(connection)

    def _slow_head(self, connection: socket.socket) -> None:
        """Send headers at one byte per second."""
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self._slowly(connection)

    def _slowly(self, connection: socket.socket) -> None:
        """Send bytes for longer than any caller waits."""
        for _ in range(40):
            connection.sendall(b"a")
            time.sleep(SECONDS_A_BYTE)

    def _silent(self, connection: socket.socket) -> None:
        """Send nothing."""
        with contextlib.suppress(OSError):
            connection.settimeout(40)
            connection.recv(1)

    def _endless(self, connection: socket.socket) -> None:
        """Send a body without end."""
        _head(connection, "200 OK")
        block = b"where is it,delivery\n" * 4096
        for _ in range(2000):
            connection.sendall(block)

    def _short(self, connection: socket.socket) -> None:
        """Send less than Content-Length announces."""
        _head(connection, "200 OK", "Content-Length: 5000")
        connection.sendall(ROWS)

    def _long(self, connection: socket.socket) -> None:
        """Send more than Content-Length announces."""
        _head(connection, "200 OK", f"Content-Length: {len(ROWS)}")
        connection.sendall(ROWS + b"more,than,promised\n" * 100)

    def _huge(self, connection: socket.socket) -> None:
        """Announce 5 GB and send nothing."""
        _head(connection, "200 OK", "Content-Length: 5368709120")

    def _two_lengths(self, connection: socket.socket) -> None:
        """Send two different lengths."""
        _head(connection, "200 OK", "Content-Length: 4", "Content-Length: 40")
        connection.sendall(ROWS)

    def _bomb(self, connection: socket.socket) -> None:
        """Send a small compressed body that unpacks to a large one."""
        _head(connection, "200 OK", "Content-Encoding: gzip", f"Content-Length: {len(BOMB)}")
        connection.sendall(BOMB)

    def _packed(self, connection: socket.socket) -> None:
        """Send the same bytes as a plain file."""
        _head(connection, "200 OK", f"Content-Length: {len(BOMB)}")
        connection.sendall(BOMB)

    def _page(self, connection: socket.socket) -> None:
        """Send a web page instead of a file."""
        page = b"<!DOCTYPE html><title>Log in</title>"
        _head(connection, "200 OK", f"Content-Length: {len(page)}")
        connection.sendall(page)

    def _empty(self, connection: socket.socket) -> None:
        """Send an empty file."""
        _head(connection, "200 OK", "Content-Length: 0")

    def _nonsense(self, connection: socket.socket) -> None:
        """Send bytes that are not HTTP."""
        connection.sendall(b"\x00\x01\x02 hello\r\n\r\n")

    def _headers(self, connection: socket.socket) -> None:
        """Send headers without end."""
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for number in range(200_000):
            connection.sendall(f"X-{number}: {'a' * 200}\r\n".encode())


def _head(connection: socket.socket, status: str, *lines: str) -> None:
    """Send a status line and headers."""
    text = "\r\n".join((f"HTTP/1.1 {status}", "Connection: close", *lines))
    connection.sendall(text.encode("latin-1") + b"\r\n\r\n")
