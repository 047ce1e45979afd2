# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Sends files: small files in the call, large files directly to the bucket of the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import httpx

from presage import records
from presage._sync.transport import Transport
from presage._files import open_source
from presage._progress import Bar, Watched
from presage._requests import ATTEMPTS, LONGEST_PAUSE, Request, unreachable
from presage._sources import File, Source, is_address
from presage.errors import FileError, PresageError, UnreachableError

# Bytes of a file that go in a call: API Gateway passes little more.
LARGEST_IN_CALL = 4_000_000


@dataclass
class Attached:
    """The part of a call that sends a file: the file itself, or a field with its URL or path."""

    fields: dict[str, Any]
    files: dict[str, Source]


class Uploads:
    """The calls below `/v2/uploads`, which upload files that are too large for other calls."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, name: str | None = None) -> records.Upload:
        """Create an upload form. Send a file with this form; then pass `path` to other calls."""
        request = Request("POST", "/v2/uploads", fields={"name": name})
        return self._transport.record(request, records.Upload)

    def send(self, file: File, *, progress: bool | None = None) -> str:
        """Send a file of up to 2 GB in bounded memory; return a path that other calls accept.

        Raises:
            FileError: the file cannot be read, or is too large.
            UnreachableError: the connection broke in every attempt.
        """
        source = open_source(file, progress)
        try:
            return self._send_source(source, progress)
        finally:
            source.close()

    @contextmanager
    def attached(
        self, file: File | Source, field: str, address_field: str, progress: bool | None = None
    ) -> Iterator[Attached]:
        """Yield fields and form parts with which a call sends a file.

        Args:
            file: path, URL, bytes, open file, folder or opened source.
            field: form field for a file that is sent in the call.
            address_field: form field for a URL, or for the path of a file sent to the bucket.
            progress: whether to show a progress bar; by default only on a terminal.
        """
        if is_address(file):
            yield Attached({address_field: file}, {})
            return
        source = open_source(file, progress)
        try:
            if source.size <= LARGEST_IN_CALL:
                yield Attached({}, {field: source})
            else:
                path = self._send_source(source, progress)
                yield Attached({address_field: path}, {})
        finally:
            source.close()

    def _send_source(self, source: Source, progress: bool | None) -> str:
        import stamina

        # The service accepts names of up to 180 characters.
        form = self.create(source.name[:180] or None)
        if source.size > form.max_bytes:
            raise FileError(
                f"{source.name} has {source.size:,} bytes; at most {form.max_bytes:,} can be "
                "sent. Split it, and send the later parts with `add`."
            )
        for attempt in stamina.retry_context(
            on=UnreachableError, attempts=ATTEMPTS, timeout=None, wait_max=LONGEST_PAUSE
        ):
            with attempt, Bar(f"Sending {source.name}", progress, source.size) as bar:
                self._post_form(form, source, bar)
        return form.path

    def _post_form(self, form: records.Upload, source: Source, bar: Bar) -> None:
        # `part` rewinds the file, so every attempt sends all of it.
        name, stream = source.part()
        watched = cast("BinaryIO", Watched(stream, bar))
        try:
            response = self._transport.http.post(
                form.url,
                data=form.fields,
                files={"file": (name, watched)},
                timeout=120.0,
            )
        except httpx.RequestError as error:
            raise unreachable(error, form.url) from error
        if response.status_code >= 500:
            raise UnreachableError(f"The bucket answered {response.status_code}.")
        if not response.is_success:
            raise PresageError(
                f"The bucket refused {name} with {response.status_code}: {response.text[:300]}"
            )
