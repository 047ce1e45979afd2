"""Serves model files from an emulated bucket at a limited rate, and counts the sent bytes.

Model files are sent from this machine's disk. All other calls are passed to a running stack, so
`AWS_ENDPOINT_URL` can name this server instead of the stack.
"""

from __future__ import annotations

import http.client
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chalicelib.stores.fetching.model_downloads import PREBUILT_PREFIX, write_catalogue
from infra.deploying.artifacts import read_models

_CHUNK = 1 << 18
_OWN = ("connection", "transfer-encoding", "date", "server")
"""Headers that apply to one connection only."""


class SlowBucket:
    """A server that sends model files while the `with` block runs.

    Args:
        endpoint: URL of the stack that gets all other calls.
        models: folder of the installed model files.
        bytes_a_second: maximum rate of all connections together.
    """

    def __init__(self, endpoint: str, models: Path, bytes_a_second: float) -> None:
        catalogue, self._files = read_models(models)
        self.catalogue, content = write_catalogue(catalogue)
        self._contents = {self.catalogue: content}
        self._behind = urlsplit(endpoint)
        self._rate, self._lock, self._free_at = bytes_a_second, threading.Lock(), 0.0
        self.sent: Counter[str] = Counter()
        """Number of bytes sent of each object."""
        handler = type("Handler", (_Handler,), {"bucket": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> SlowBucket:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def twice(self) -> list[str]:
        """Return the keys of files of which some bytes were sent twice; reset the byte counts."""
        sizes = {key: path.stat().st_size for key, path in self._files.items()}
        found = [key for key, sent in self.sent.items() if sent > sizes.get(key, sent)]
        self.sent.clear()
        return found

    def find(self, path: str) -> tuple[str, bytes | Path] | None:
        """Return key and content of the model file with the URL path `path`; otherwise None."""
        key = urlsplit(path).path.partition(f"/{PREBUILT_PREFIX}")[2]
        key = f"{PREBUILT_PREFIX}{key}"
        found: bytes | Path | None = self._contents.get(key) or self._files.get(key)
        return None if found is None else (key, found)

    def wait(self, size: int) -> None:
        """Wait until `size` more bytes may be sent."""
        with self._lock:
            ends = max(self._free_at, time.monotonic()) + size / self._rate
            self._free_at = ends
        time.sleep(max(0.0, ends - time.monotonic()))

    def forward(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        """Pass a call to the stack; return the status, headers and content of the answer."""
        behind = http.client.HTTPConnection(self._behind.hostname or "", self._behind.port)
        try:
            behind.request(method, path, body, dict(headers))
            answer = behind.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            behind.close()


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    bucket: SlowBucket

    def log_message(self, *_: object) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """Send a model file, or pass the call to the stack."""
        found = self.bucket.find(self.path)
        if found is None:
            self.do_POST()
            return
        key, content = found
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(asked[1]), min(int(asked[2]), size - 1)) if asked else (0, size - 1)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        self.bucket.sent[key] += last - first + 1
        self._send(content, first, last + 1)

    def _send(self, content: bytes | Path, first: int, end: int) -> None:
        """Send the bytes of `content` from `first` to `end`, at the limited rate."""
        if isinstance(content, bytes):
            self.wfile.write(content[first:end])
            return
        with content.open("rb") as file:
            while first < end:
                size = min(_CHUNK, end - first)
                self.bucket.wait(size)
                first += os.sendfile(self.connection.fileno(), file.fileno(), first, size)

    def do_POST(self) -> None:
        """Pass the call to the stack."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, content = self.bucket.forward(
            self.command, self.path, dict(self.headers), body
        )
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in (*_OWN, "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_PUT = do_DELETE = do_HEAD = do_POST  # noqa: N815 - as the base class calls them
