"""Reads the bodies of requests to the emulated AWS.

Before the signature is checked, only these bytes are read, so that strangers cannot fill memory or
disk:

- Presigned form: the beginning, which contains the signed policy.
- Request with a signature and the digest of the body in headers: nothing.
- Any other request: the whole body, at most 16 MiB, to compute its digest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import IO, Any

# Larger bodies are stored on disk while they are read.
SPOOL_BYTES = 16 * 1024 * 1024
_BLOCK = 65_536
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;.*)?\r?\n", re.DOTALL)


class WrongBody(Exception):
    """A body is incomplete or too large, or its length cannot be read."""


class Body:
    """The body of one request. Only `fill` and `load` read from the connection.

    Args:
        environ: WSGI environment of the request.
        source: connection from which the body is read.
        spool: empty file for what was read.
        proceed: sends `100 Continue` if the client waits for it; called before the first read.

    Raises:
        WrongBody: Content-Length is not a number.
    """

    def __init__(
        self,
        environ: dict[str, Any],
        source: IO[bytes],
        spool: IO[bytes],
        proceed: Callable[[], None],
    ) -> None:
        length = environ.get("CONTENT_LENGTH") or "0"
        if _LENGTH.fullmatch(length) is None:
            raise WrongBody("Content-Length is not a number.")
        is_chunked = "chunked" in environ.pop("HTTP_TRANSFER_ENCODING", "").lower()
        self.is_read = not is_chunked and int(length) == 0
        """Whether the connection holds no more of the body."""
        self._source = source
        self._blocks = self._read(None if is_chunked else int(length), proceed)
        self._spool = spool

    def fill(self, size: int) -> bytes:
        """Read at least `size` bytes, or the whole body; return what has been read so far."""
        self._fill(size)
        self._spool.seek(0)
        return self._spool.read()

    def load(self, environ: dict[str, Any], max_bytes: int | None = None) -> None:
        """Read the whole body; put the body and its length into a WSGI environment.

        Raises:
            WrongBody: the body is incomplete, or larger than `max_bytes`.
        """
        self._fill(None if max_bytes is None else max_bytes + 1)
        if not self.is_read:
            raise WrongBody(f"A request of this kind has at most {max_bytes} bytes.")
        environ["CONTENT_LENGTH"] = str(self._spool.tell())
        self._spool.seek(0)
        environ["wsgi.input"] = self._spool

    def _fill(self, size: int | None) -> None:
        """Read until `size` bytes, or all of the body, are stored."""
        self._spool.seek(0, 2)
        while (size is None or self._spool.tell() < size) and not self.is_read:
            self._spool.write(next(self._blocks, b""))

    def _read(self, length: int | None, proceed: Callable[[], None]) -> Iterator[bytes]:
        """Yield blocks of the body. If `length` is None, the body has the chunked coding."""
        proceed()
        if length is not None:
            yield from self._exactly(length)
        else:
            while size := self._chunk_size():
                yield from self._exactly(size)
                self._end_line()
            while self._end_line(is_trailer=True):
                pass
        self.is_read = True

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size:
            block = self._source.read(min(size, _BLOCK))
            if not block:
                raise WrongBody("The body ends early.")
            size -= len(block)
            yield block

    def _chunk_size(self) -> int:
        found = _CHUNK.fullmatch(self._source.readline(1000))
        if found is None:
            raise WrongBody("The body has a wrong chunk, or ends early.")
        return int(found[1], 16)

    def _end_line(self, *, is_trailer: bool = False) -> bool:
        """Read the line end of a chunk, or a trailer line; return whether the line has content."""
        line = self._source.readline(_BLOCK)
        if not line.endswith(b"\n") or (not is_trailer and line.strip(b"\r\n")):
            raise WrongBody("The body has a wrong chunk, or ends early.")
        return bool(line.strip(b"\r\n"))
