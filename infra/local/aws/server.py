"""Serves the emulated AWS of the local stack on 127.0.0.1: moto, behind the checks of guard.py.

The server is a separate process. guard.py also holds the locks around moto.
"""

from __future__ import annotations

import ctypes
import logging
import os
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from moto import backends
from moto.core.common_models import BaseModel
from moto.moto_server import werkzeug_app
from werkzeug.serving import ThreadedWSGIServer

from chalicelib.config import Settings
from chalicelib.domain.common.saving import FindUnsaved
from infra.backups.folder import BackupFolder
from infra.local.aws import item_calls
from infra.local.aws.bodies import SPOOL_BYTES, Body, WrongBody
from infra.local.aws.guard import Guard
from infra.local.aws.large_objects import FileStream
from infra.local.aws.origins import Origins
from infra.local.aws.polls import Polls
from infra.local.aws.s3_access import Refused
from infra.local.aws.saved_data import SavedData
from infra.local.aws.signatures import KeyPair
from infra.resources import own_pages

_M_MMAP_THRESHOLD = -3  # an option of glibc's mallopt
# Larger blocks are returned to the system as soon as they are free: glibc's initial value.
_BLOCK_BYTES = 128 * 1024
# Most bytes of an unread body that are dropped, and seconds to wait for them, before a connection
# is closed. Otherwise the client would get a reset in place of the answer.
DROPPED_BYTES, DROPPING_SECONDS = 1 << 20, 2.0
# Seconds without data after which a connection is closed.
STALLED_SECONDS = 300.0
_IDLE = "Request timed out"  # how http.server begins the line for an idle connection


def bound_memory() -> None:
    """Prevent moto from storing all model instances; free the memory of deleted objects at once."""
    # Moto keeps every instance for its dashboard and its reset, which are not used here: deleted
    # objects and messages, earlier states of rows, and a copy of every table for each transaction.
    setattr(BaseModel, "__new__", _make)  # noqa: B010 - a method of another package
    # Without this call glibc raises the limit to the largest block freed so far. Objects would then
    # be between small blocks, and their memory would stay with the process.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _BLOCK_BYTES)


def _make(model: type[BaseModel], *_: Any, **__: Any) -> BaseModel:
    """Create an instance without adding it to moto's list of all instances."""
    return super(BaseModel, model).__new__(model)


class Handler(werkzeug_app.MotoRequestHandler):
    """Serves one connection with keep-alive; closes it if the body of a request was not read."""

    # Werkzeug's own handler closes the connection after every answer and waits for stray data.

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = STALLED_SECONDS
    wbufsize = -1
    is_awaited = False
    """Whether the client sends the body only after a 100 Continue."""

    def handle_expect_100(self) -> bool:
        """Remember that the client waits for 100 Continue. A refused request does not get it."""
        self.is_awaited = True
        del self.headers["Expect"]
        return True

    def run_wsgi(self) -> None:
        """Call the application, which reads the body, and write the complete answer."""
        content: bytes | FileStream
        is_read = False
        try:
            environ = self.make_environ()
            with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
                body = Body(environ, cast(IO[bytes], self.rfile), spool, self._proceed)
                environ["wsgi.input"] = body
                status, headers, content = call(self.server.app, environ)
                is_read = body.is_read
        except WrongBody as wrong:
            status, headers = "400 Bad Request", [("Content-Type", "application/xml")]
            content = Refused(str(wrong), "IncompleteBody").body
        self.is_awaited = False  # the connection may carry further requests
        self.close_connection |= not is_read
        try:
            self._write(status, headers, content)
        finally:
            if isinstance(content, FileStream):
                content.close()
        if not is_read:
            self._drop()

    def _proceed(self) -> None:
        """Send 100 Continue if the client waits for this before sending the body."""
        if self.is_awaited:
            self.is_awaited = False
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()  # the buffer would keep the line until the answer

    def _drop(self) -> None:
        """Read and discard the rest of an unread body, so that the client can read the answer."""
        left, deadline = DROPPED_BYTES, time.monotonic() + DROPPING_SECONDS
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while left > 0 and (seconds := deadline - time.monotonic()) > 0:
                self.connection.settimeout(seconds)
                left -= len(self.rfile.read1(left)) or left

    def _write(
        self, status: str, headers: list[tuple[str, str]], content: bytes | FileStream
    ) -> None:
        """Write one answer with its length."""
        code, _, reason = status.partition(" ")
        self.send_response(int(code), reason)
        dropped = {"content-length", "connection", "transfer-encoding", "date", "server"}
        is_head = self.command == "HEAD"
        length = _length_of_head(headers) if is_head else str(len(content))
        for name, value in headers:
            if name.lower() not in dropped:
                self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        if int(code) not in (204, 304) and length is not None:
            self.send_header("Content-Length", length)
        self.end_headers()
        if not is_head:
            self.wfile.writelines([content] if isinstance(content, bytes) else content)
        self.wfile.flush()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing: the services log their calls."""

    def log_error(self, format: str, *args: Any) -> None:
        """Log an error; ignore closed idle connections, because clients reconnect."""
        if not format.startswith(_IDLE):
            super().log_error(format, *args)


def _length_of_head(headers: list[tuple[str, str]]) -> str | None:
    return next((value for name, value in headers if name.lower() == "content-length"), None)


def call(
    application: Any, environ: dict[str, Any]
) -> tuple[str, list[tuple[str, str]], bytes | FileStream]:
    """Call a WSGI application; return status, headers, and the body as bytes or as a stream."""
    started: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], _: Any = None) -> Any:
        started[:] = [status, headers]
        return None

    parts = application(environ, start_response)
    if isinstance(parts, FileStream):
        return started[0], started[1], parts
    try:
        content = b"".join(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()
    return started[0], started[1], content


def run(
    listener: socket.socket,
    front_port: int,
    settings: Settings,
    data: Path,
    find_unsaved: FindUnsaved,
) -> None:
    """Serve the emulated AWS until the process ends.

    Args:
        listener: bound socket.
        front_port: port of the service, whose pages may read presigned objects.
        settings: settings of the stack; the keys that must sign requests are in the environment.
        data: folder of the saved data, which is loaded when the stack asks for it.
        find_unsaved: returns unsaved data, or None. While data is unsaved, uploads are refused.
    """
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # Moto lists a folder of its package in every request, although the result never changes.
    modules = tuple(backends.list_of_moto_modules())
    backends.list_of_moto_modules = lambda: modules
    bound_memory()
    item_calls.install()
    moto = werkzeug_app.DomainDispatcherApplication(werkzeug_app.create_backend_app)
    keys = KeyPair(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    origins = Origins(own_pages(front_port), settings.allow_origins, settings.public_storage_url)
    saved = SavedData(settings, BackupFolder(data))
    guard = Guard(moto, Polls(settings.region), keys, origins, saved, find_unsaved)
    host, port = listener.getsockname()[:2]
    server = ThreadedWSGIServer(host, port, guard, handler=Handler, fd=listener.fileno())
    server.socket.listen(256)
    server.serve_forever()
