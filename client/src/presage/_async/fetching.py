"""Downloads files that the service has written to its bucket."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import httpx

from presage._async.transport import AsyncTransport
from presage._progress import Bar
from presage._requests import ATTEMPTS, LONGEST_PAUSE, unreachable
from presage.errors import FileError, PresageError, UnreachableError


async def save(
    transport: AsyncTransport,
    url: str,
    size: int,
    file: str | os.PathLike[str] | BinaryIO,
    progress: bool | None,
) -> int:
    """Download a file in bounded memory, and return its size in bytes.

    Args:
        transport: provides the connections.
        url: URL of the file.
        size: expected size in bytes, for the progress bar.
        file: a path, or a seekable open file. An existing file at the path is replaced only after a
            complete download.
        progress: whether to show a progress bar; by default only on a terminal.

    Raises:
        FileError: the file cannot be written.
        UnreachableError: the connection broke in every attempt.
    """
    if not isinstance(file, (str, os.PathLike)):
        return await fetch(transport, url, size, file, progress)
    place = Path(file).expanduser()
    # An interrupted download must not replace a complete file.
    draft = place.with_name(f"{place.name}.part")
    try:
        with draft.open("wb") as stream:
            written = await fetch(transport, url, size, stream, progress)
        draft.replace(place)
    except OSError as error:
        raise FileError(f"{place} cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)
    return written


async def fetch(
    transport: AsyncTransport, url: str, size: int, stream: BinaryIO, progress: bool | None
) -> int:
    """Download a file into an open file, and return its size in bytes.

    If the connection breaks, the next attempt starts at the beginning of the file.
    """
    import stamina

    async for attempt in stamina.retry_context(
        on=UnreachableError, attempts=ATTEMPTS, timeout=None, wait_max=LONGEST_PAUSE
    ):
        with attempt, Bar("Downloading", progress, size or 1) as bar:
            # A new attempt overwrites what the interrupted one has written.
            stream.seek(0)
            stream.truncate()
            await _download(transport, url, stream, bar)
    return stream.tell()


async def _download(transport: AsyncTransport, url: str, stream: BinaryIO, bar: Bar) -> None:
    try:
        async with transport.http.stream("GET", url) as response:
            if response.status_code >= 500:
                raise UnreachableError(f"The bucket answered {response.status_code}.")
            if not response.is_success:
                raise PresageError(f"The bucket refused with {response.status_code}.")
            async for part in response.aiter_bytes(1 << 16):
                stream.write(part)
                bar.show(stream.tell())
    except httpx.RequestError as error:
        raise unreachable(error, url.partition("?")[0]) from error
