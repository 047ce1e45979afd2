"""A local package index that cuts connections, or lacks what resuming needs."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class CuttingServer:
    """Serves one file below every path but `/simple/`, which is an index page that links to it.

    It sends neither `ETag` nor `Last-Modified`, like some mirrors. `cut_after` is the number of
    bytes after which a response ends too early, `cuts` how often.
    """

    name: str
    content: bytes
    cut_after: int = 0
    cuts: int = 0
    has_ranges: bool = True
    url: str = ""
    ranges: list[str | None] = field(default_factory=list)
    """The `Range` headers of all requests for the file."""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one GET."""
        if request.path.startswith("/simple/"):
            page = (
                f'<!DOCTYPE html><html><body><a href="/{self.name}">{self.name}</a></body></html>'
            )
            request.send_response(200)
            request.send_header("Content-Type", "text/html")
            request.send_header("Content-Length", str(len(page)))
            request.end_headers()
            request.wfile.write(page.encode())
            return
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        body = self._begin(request, asked)
        if request.command == "GET":
            self._write(request, body)

    def _begin(self, request: BaseHTTPRequestHandler, asked: str | None) -> bytes:
        """Send the headers, and return the body that belongs to them."""
        size = len(self.content)
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", asked or "") if self.has_ranges else None
        start, end = (int(span[1]), int(span[2] or size - 1)) if span else (0, size - 1)
        if start >= size:
            request.send_error(416)
            return b""
        request.send_response(206 if span else 200)
        if span:
            request.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        if self.has_ranges:
            request.send_header("Accept-Ranges", "bytes")
        body = self.content[start : end + 1]
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        return body

    def _write(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        if self.cuts and len(body) > self.cut_after:
            self.cuts -= 1
            body = body[: self.cut_after]
            request.close_connection = True
        request.wfile.write(body)


@contextlib.contextmanager
def serve(server: CuttingServer) -> Iterator[CuttingServer]:
    """Serve on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def do_HEAD(self) -> None:
            server.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def serve_archive(path: Path, **facts: object) -> contextlib.AbstractContextManager[CuttingServer]:
    """Serve an index that has one archive."""
    return serve(CuttingServer(path.name, path.read_bytes(), **facts))
