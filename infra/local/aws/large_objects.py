"""Uploads and downloads large objects without holding them in memory.

Moto stores an object above 16 MB in a temporary file, but its web framework reads complete forms
and downloads into memory. So the file of a large form becomes the object, and a download is read
from the object's file in blocks. Moto still determines the headers of such a download, and answers
all other requests. Check this module with each new version of moto.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3 import notifications
from moto.s3.models import FakeKey, s3_backends
from werkzeug.http import http_date, parse_date, parse_etags

from infra.local.aws.s3_access import Form, Spool

# Moto stores objects larger than this in a file: its S3_DEFAULT_KEY_BUFFER.
LARGE_BYTES = 16 * 1024 * 1024
_BLOCK = 1 << 20
_RANGE = re.compile(r"bytes ([0-9]+)-([0-9]+)/[0-9]+")
_CONDITIONS = (
    ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE"),
    ("HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE"),
)
_ONE_RANGE = re.compile(r"bytes=(?:0*([0-9]+)-(?:0*([0-9]+))?|-[0-9]+)")

Application = Callable[..., Iterable[bytes]]


class FileStream:
    """A range of an open file, read in blocks."""

    def __init__(self, descriptor: int, size: int) -> None:
        """Take over a file descriptor, which `close` closes, to read its first `size` bytes."""
        self._descriptor = descriptor
        self._start, self._end = 0, size

    def cut(self, first: int, last: int) -> None:
        """Limit the range to the bytes from `first` to `last`, both included."""
        self._start, self._end = first, last + 1

    def __len__(self) -> int:
        return self._end - self._start

    def __iter__(self) -> Iterator[bytes]:
        """Read the bytes, independently of the file's position."""
        place = self._start
        while place < self._end:
            block = os.pread(self._descriptor, min(_BLOCK, self._end - place), place)
            if not block:
                return
            yield block
            place += len(block)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def answer(
    moto: Application, environ: dict[str, Any], start_response: Callable[..., Any]
) -> FileStream | None:
    """Answer a download of a large object; return None for any other request.

    The caller must hold the lock of S3.
    """
    key = _find_key(environ)
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        _clear_conditions(environ, key)
    if environ["REQUEST_METHOD"] != "GET" or key is None or not _is_large(environ, key):
        return None
    status, headers = _headers(moto, environ)
    if status[:3] not in ("200", "206"):
        return None
    stream = FileStream(os.dup(key._value_buffer.fileno()), int(key.contentsize))
    given = {name.lower(): value for name, value in headers}
    if found := _RANGE.fullmatch(given.get("content-range", "")):
        stream.cut(int(found[1]), int(found[2]))
    start_response(status, headers)
    return stream


def etag(file: Spool) -> str:
    """Return the ETag of a file: its MD5."""
    file.seek(0)
    digest = hashlib.md5(usedforsecurity=False)
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def store(form: Form, version: str) -> bool:
    """Store the file of a form as an object, and notify the bucket's queues.

    The caller must hold the lock of S3. The object owns the file afterwards.

    Returns:
        Whether the bucket exists.
    """
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    bucket = backend.buckets.get(form.bucket)
    if bucket is None:
        return False
    key = backend.put_object(
        form.bucket,
        form.fields["key"],
        b"",
        etag=version,
        request_method="POST",
        disable_notification=True,
    )
    key._value_buffer.close()
    key._value_buffer = form.file
    key.contentsize = form.size
    key.set_metadata({"Content-Type": form.fields.get("content-type", "binary/octet-stream")})
    created = notifications.S3NotificationEvent.OBJECT_CREATED_POST_EVENT
    notifications.send_event(DEFAULT_ACCOUNT_ID, created, bucket, key)
    return True


def _find_key(environ: dict[str, Any]) -> FakeKey | None:
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    bucket_name, _, name = path.lstrip("/").partition("/")
    bucket = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets.get(bucket_name)
    key = bucket.keys.get(name) if bucket is not None else None
    return key if isinstance(key, FakeKey) else None


def _is_large(environ: dict[str, Any], key: FakeKey) -> bool:
    names = [name for name, _ in parse_qsl(environ["QUERY_STRING"], keep_blank_values=True)]
    # Otherwise the request is for a property or a version of the object, or needs other headers.
    is_plain = all(name.lower().startswith("x-") for name in names)
    return is_plain and int(key.contentsize) > LARGE_BYTES


def _clear_conditions(environ: dict[str, Any], key: FakeKey | None) -> None:
    """Rewrite the conditional headers of a download (RFC 9110) for moto, and remove invalid ones.

    Moto would apply ranges of any unit, and would fail at unusual date formats.
    """
    for tag_name, date_name in _CONDITIONS:
        date = parse_date(environ.pop(date_name, None))
        # If a condition on the ETag is present, the one on the date is ignored.
        if date is not None and tag_name not in environ:
            environ[date_name] = http_date(date)
    version = key.etag if key is not None else ""
    tag = version.strip('"')
    if parse_etags(environ.get("HTTP_IF_NONE_MATCH")).contains_weak(tag):
        environ["HTTP_IF_NONE_MATCH"] = version
    if parse_etags(environ.get("HTTP_IF_MATCH")).contains(tag):
        del environ["HTTP_IF_MATCH"]
    is_current = environ.get("HTTP_IF_RANGE", version) == version
    is_counted = is_current and environ["REQUEST_METHOD"] == "GET"
    if not is_counted or not _is_range(environ.get("HTTP_RANGE", "").lower()):
        environ["HTTP_RANGE"] = ""


def _is_range(text: str) -> bool:
    """Return whether a text is one range of bytes that does not end before its start."""
    found = _ONE_RANGE.fullmatch(text)
    if found is None:
        return False
    first, last = found.groups()
    # Without leading zeros the longer number is the larger one.
    return last is None or (len(first), first) <= (len(last), last)


def _headers(moto: Application, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """Return moto's status and headers of a download, without its content."""
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
        started.append((status, headers))

    parts = moto({**environ, "REQUEST_METHOD": "HEAD"}, start_response)
    if hasattr(parts, "close"):
        parts.close()
    return started[-1]
