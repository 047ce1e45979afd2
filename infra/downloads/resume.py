"""Downloads one file over HTTP, and resumes interrupted downloads.

The sha256 of the complete file shows whether its parts come from the same version. `ETag` and
`Last-Modified` would show this too, but mirrors of package registries may not send them.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

Received = Callable[[int], None]  # takes the number of bytes of a file received so far

_BLOCK_BYTES = 1 << 18
_TIMEOUT_SECONDS = 60.0
_WAIT_SECONDS = 1.0
# Consecutive attempts that may end without more bytes than before.
_ATTEMPTS = 4
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_NETWORK_ERRORS = (urllib.error.URLError, http.client.HTTPException, ConnectionError,
                   TimeoutError, ssl.SSLError)  # fmt: skip


def partial_path(target: Path) -> Path:
    """Return the path at which a download stores the incomplete file."""
    return target.with_name(f"{target.name}.part")


def download(url: str, target: Path, digests: Collection[str], received: Received) -> bool:
    """Download a file, and continue where an earlier call was interrupted.

    Args:
        url: address of the file; other schemes than http and https are not opened.
        target: path of the complete file, in an existing folder.
        digests: the sha256 values that the file may have.
        received: called with the number of bytes received so far.

    Returns:
        Whether the target has the file. False means that the server did not send a file with one of
        the digests, or that the connection failed several times in a row.

    Raises:
        OSError: the file could not be written.
    """
    if not url.startswith(("https://", "http://")):
        return False
    part = partial_path(target)
    # A server that cannot resume starts over each time. So an attempt counts only if it brings more
    # bytes than any before.
    failures, most, may_start_over = 0, file_bytes(part), True
    while failures < _ATTEMPTS:
        before = file_bytes(part)
        is_complete = _attempt(url, part, received)
        if is_complete is None:
            return False
        if is_complete:
            if _finish(part, target, digests):
                return True
            # Joined bytes may be of two versions of the file.
            if not (before and may_start_over):
                return False
            most, may_start_over = 0, False
        elif (size := file_bytes(part)) > most:
            failures, most = 0, size
        else:
            failures += 1
            time.sleep(_WAIT_SECONDS)
    return False


def file_bytes(path: Path) -> int:
    """Return the size of a file; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def _attempt(url: str, part: Path, received: Received) -> bool | None:
    """Request a file once; return whether it is complete, or None if the server refuses it."""
    try:
        return _receive(url, part, received)
    except _NETWORK_ERRORS as error:
        return None if _is_refused(error) else False


def _is_refused(error: Exception) -> bool:
    """Return whether a repeated request would get the same answer, such as 401 or 404."""
    return isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429


def _finish(part: Path, target: Path, digests: Collection[str]) -> bool:
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest not in digests:
        # Removed, so that the next call does not resume a wrong file.
        part.unlink()
        return False
    os.replace(part, target)
    return True


def _receive(url: str, part: Path, received: Received) -> bool:
    """Receive bytes until the connection ends; return whether the partial file is complete."""
    start = file_bytes(part)
    try:
        response = _open(url, start)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        # The file on the server is not longer than the partial file: it was complete or replaced.
        response, start = _open(url, 0), 0
    with response:
        offset, size = _read_range(response)
        if offset not in (0, start):
            # The next attempt begins at 0.
            part.unlink(missing_ok=True)
            raise ConnectionError(f"the server sent bytes from {offset}, not from {start}")
        with part.open("ab" if offset else "wb") as output:
            return _copy(response, output, size, received)


def _open(url: str, start: int) -> Any:
    opener = urllib.request.build_opener()
    # Headers of the opener are sent again after a redirect.
    opener.addheaders = [("User-Agent", "presage"), ("Accept-Encoding", "identity")]
    if start:
        opener.addheaders.append(("Range", f"bytes={start}-"))
    return opener.open(url, timeout=_TIMEOUT_SECONDS)


def _read_range(response: Any) -> tuple[int, int | None]:
    """Return the offset of the body in the file, and the size of the file (None if unknown)."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status == http.client.PARTIAL_CONTENT and found:
        return int(found[1]), int(found[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _copy(response: Any, output: Any, size: int | None, received: Received) -> bool:
    """Append the body of a response to a file; return whether the file is complete."""
    while block := _read(response):
        output.write(block)
        received(output.tell())
    # A connection that is cut ends the body without an error.
    return size is None or output.tell() == size


def _read(response: Any) -> bytes:
    """Read the next bytes; raise ConnectionError for any network failure, such as a lost route."""
    try:
        return bytes(response.read(_BLOCK_BYTES))
    except OSError as error:
        raise ConnectionError(str(error)) from error
