"""A small HTTP client of the service, without dependencies.

It is used by the demo, by the command for tokens, and by the test of a new deployment.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Pause between two calls that poll for an end, in seconds.
POLL_SECONDS = 0.1
# Shortest time between two reports of progress, in seconds.
REPORT_SECONDS = 10.0


class CallFailed(Exception):
    """The service refused a call, did not answer, or did not finish in time."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status
        """Status of an error answer; 0 if there was no answer."""


@dataclass(frozen=True)
class Service:
    """A service, called by one account."""

    url: str
    """Address without a trailing slash."""
    token: str = ""
    """Access token; empty for calls that need no token."""

    def get(self, path: str) -> dict[str, Any]:
        """Read a record; raise CallFailed if the call failed."""
        return self._send(urllib.request.Request(self.url + path))  # noqa: S310 - our own service

    def post(
        self, path: str, fields: dict[str, str], file: Path | None = None, part: str = "data"
    ) -> dict[str, Any]:
        """Send a multipart form, with an optional file in the field `part`.

        Raises:
            CallFailed: the call failed.
        """
        boundary = uuid.uuid4().hex
        request = urllib.request.Request(  # noqa: S310 - our own service
            self.url + path,
            _multipart(boundary, fields, file, part),
            {"Content-Type": f"multipart/form-data; boundary={boundary}"},
        )
        return self._send(request)

    def post_words(self, path: str, fields: dict[str, str]) -> dict[str, Any]:
        """Send fields as application/x-www-form-urlencoded; raise CallFailed if the call failed."""
        body = urllib.parse.urlencode(fields).encode()
        return self._send(urllib.request.Request(self.url + path, body))  # noqa: S310 - as above

    def wait(
        self,
        path: str,
        is_final: Callable[[dict[str, Any]], bool],
        seconds: float,
        report: Callable[[dict[str, Any]], object] = lambda _: None,
    ) -> dict[str, Any]:
        """Read a record repeatedly, until it is final or makes no more progress.

        Args:
            path: path of the record.
            is_final: returns whether a record is final.
            seconds: longest time without a change of the record.
            report: called with changed records, at most every 10 seconds.

        Raises:
            CallFailed: the record did not change for too long.
        """
        before: dict[str, Any] = {}
        changed = reported = time.monotonic()
        while not is_final(record := self.get(path)):
            now = time.monotonic()
            if record != before:
                changed = now
                if before and now - reported >= REPORT_SECONDS:
                    reported = now
                    report(record)
            elif now - changed > seconds:
                raise CallFailed(f"{path} has not changed for {seconds:g} seconds: {record}")
            before = record
            time.sleep(POLL_SECONDS)
        return record

    def _send(self, request: urllib.request.Request) -> dict[str, Any]:
        """Send a request with the access token, and return the JSON answer."""
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
                return dict(json.load(answer))
        except urllib.error.HTTPError as refused:
            with refused:
                text = refused.read(2000).decode("utf-8", "replace")
            message = f"{request.full_url} answered {refused.code}: {text.strip()}"
            raise CallFailed(message, refused.code) from refused
        except (OSError, ValueError) as error:
            raise CallFailed(f"{request.full_url} does not answer ({error})") from error


def _multipart(boundary: str, fields: dict[str, str], file: Path | None, part: str) -> bytes:
    disposition = "Content-Disposition: form-data; name"
    parts = [
        f'--{boundary}\r\n{disposition}="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    if file is not None:
        head = f'--{boundary}\r\n{disposition}="{part}"; filename="{file.name}"\r\n\r\n'
        parts.append(head.encode() + file.read_bytes() + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode()
