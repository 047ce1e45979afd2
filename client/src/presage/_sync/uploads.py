# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Sends files: small ones within a call, large ones straight into the service's bucket."""

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

LARGEST_IN_CALL = 4_000_000
"""Bytes of a file that go within a call; gateways pass little more."""


@dataclass
class Attached:
    """A file as a call takes it: as a part, or as a place that the service reads from."""

    fields: dict[str, Any]
    files: dict[str, Source]


class Uploads:
    """`/v2/uploads`: forms for files too large for a call."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, name: str | None = None) -> records.Upload:
        """Get a form; its `path` is given to an upload or a prediction once the file was sent."""
        request = Request("POST", "/v2/uploads", fields={"name": name})
        return self._transport.record(request, records.Upload)

    def send(self, file: File, *, progress: bool | None = None) -> str:
        """Send a file of up to 2 GB and return its `path`; it is read in bounded memory.

        Raises:
            FileError: it cannot be read, or is larger than the service takes.
            UnreachableError: the connection broke, again and again.
        """
        source = open_source(file, progress)
        try:
            return self._send_source(source, progress)
        finally:
            source.close()

    @contextmanager
    def attached(
        self, file: File, field: str, address_field: str, progress: bool | None = None
    ) -> Iterator[Attached]:
        """Give a file as fields and files of a call.

        Args:
            file: path, address, bytes, open file or folder.
            field: the field of a file that is sent in the call.
            address_field: the field of the address of one that is not.
            progress: whether to show a bar; None shows it on a terminal.
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

        form = self.create(source.name[:180] or None)
        if source.size > form.max_bytes:
            raise FileError(
                f"{source.name} has {source.size:,} bytes; at most {form.max_bytes:,} can be "
                "sent: divide it, and send the later parts with `add`."
            )
        for attempt in stamina.retry_context(
            on=UnreachableError, attempts=ATTEMPTS, timeout=None, wait_max=LONGEST_PAUSE
        ):
            with attempt, Bar(f"Sending {source.name}", progress, source.size) as bar:
                self._post_form(form, source, bar)
        return form.path

    def _post_form(self, form: records.Upload, source: Source, bar: Bar) -> None:
        """Post the whole file to the bucket; a repeat begins at its beginning."""
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
