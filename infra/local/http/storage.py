"""Passes presigned downloads and forms of the bucket through the front, below /storage/.

Callers then need one host name and one certificate. Nothing else of the storage can be reached:
no listing, no other bucket, no call that is signed in a header. The answers share the origin of the
console, so their headers keep browsers from showing or running what is stored.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from chalicelib.config import Settings
from infra.local.aws.origins import Headers, Origins
from infra.local.aws.s3_access import Form, Refused, S3Access, check_form
from infra.local.aws.signatures import KeyPair
from infra.local.http.forms import FormChecks
from infra.local.http.public import STORAGE_PATH, PublicAddress

# Headers of every answer, whatever was requested.
SAFE_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "sandbox; default-src 'none'"),
)
_ATTACHMENT = "attachment"
# Headers of a download that are passed to the storage.
_SENT = (
    "range",
    "if-range",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
)
# Headers of the storage's answer that are passed on: no cookies, no internal addresses.
_SHOWN = frozenset(
    (
        "accept-ranges",
        "cache-control",
        "content-length",
        "content-range",
        "content-type",
        "etag",
        "expires",
        "last-modified",
    )
)
_SIGNING_PREFIX = "x-amz-"
_PASSED_PREFIX = "response-"
_BLOCK = 256 * 1024
# A larger download occupies a thread until it is read, so only a few may run at the same time.
_LARGE_BYTES, _LARGE_DOWNLOADS = 32 * 1024 * 1024, 8
_TIMEOUT_SECONDS = 60.0
_URL_SECONDS = 60

Respond = Callable[..., Any]


def is_storage_path(path: str) -> bool:
    """Return whether a path is below /storage/."""
    return path == STORAGE_PATH or path.startswith(f"{STORAGE_PATH}/")


def safe_headers(disposition: str = "") -> Headers:
    """Return the headers of every answer below /storage/.

    Args:
        disposition: the storage's Content-Disposition, used if it declares an attachment.
    """
    is_attachment = disposition.partition(";")[0].strip().lower() == _ATTACHMENT
    given = disposition if is_attachment else _ATTACHMENT
    return [("Content-Disposition", given), *SAFE_HEADERS]


@dataclass(frozen=True)
class StorageRequest:
    """A request below /storage/."""

    method: str
    path: str
    """Path as sent, not decoded."""
    query: str
    headers: dict[str, str]
    """Headers by lower-case name."""


class Storage:
    """A WSGI application that passes presigned requests to the storage."""

    def __init__(self, settings: Settings, public: PublicAddress, keys: KeyPair) -> None:
        """Create the application for the bucket in the settings.

        Args:
            settings: endpoint and bucket; the origins whose pages may read answers.
            public: address for which the URLs are signed.
            keys: key pair with which URLs and forms must be signed.
        """
        self._endpoint = urlsplit(str(settings.endpoint_url))
        self._bucket = settings.bucket
        self._region = settings.region
        self._public = public
        self._keys = keys
        self._access = S3Access(keys)
        self._origins = Origins((public.url,), settings.allow_origins, None)
        self._path = f"{STORAGE_PATH}/{settings.bucket}"
        self._large = threading.BoundedSemaphore(_LARGE_DOWNLOADS)
        self.forms = FormChecks(self._path, settings.bucket, keys)

    def __call__(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer one request."""
        request = _storage_request(environ)
        try:
            return self._pass(request, environ, start_response)
        except Refused as refused:
            return _answer_refused(refused, environ, start_response)
        except (OSError, HTTPException):
            busy = Refused("The storage does not answer.", "ServiceUnavailable", "503 Unavailable")
            return _answer_refused(busy, environ, start_response)

    def _pass(
        self, request: StorageRequest, environ: dict[str, Any], start_response: Respond
    ) -> Iterable[bytes]:
        """Pass a presigned request to the storage.

        Raises:
            Refused: the request is not presigned, or its signature does not allow it.
            OSError, HTTPException: the storage does not answer.
        """
        if request.method == "OPTIONS":
            return self._preflight(environ, start_response)
        if "authorization" in request.headers:
            raise Refused("Only presigned URLs and forms are accepted here.")
        more = self._origins.headers(environ)
        if request.method == "GET":
            return self._download(request, start_response, more)
        if request.method == "POST":
            return self._upload(request, environ, start_response, more)
        raise Refused("Only GET and POST are supported.", "MethodNotAllowed", "405 Not Allowed")

    def _preflight(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer a browser that asks whether a page may send a presigned request."""
        headers = self._origins.preflight(environ)
        if headers is None:
            raise Refused("This CORS request is not allowed.", "AccessForbidden")
        start_response("200 OK", [*safe_headers(), *headers, ("Content-Length", "0")])
        return []

    def _download(
        self, request: StorageRequest, start_response: Respond, more: Headers
    ) -> Iterable[bytes]:
        """Check a presigned URL, and pass the object from the storage to the caller."""
        passed = self._check_url(request)
        url = f"{self._endpoint.geturl()}{request.path.removeprefix(STORAGE_PATH)}?{passed}"
        signed = AWSRequest("GET", url.removesuffix("?"))
        credentials = Credentials(self._keys.key_id, self._keys.secret)
        S3SigV4QueryAuth(credentials, "s3", self._region, _URL_SECONDS).add_auth(signed)
        parts = urlsplit(str(signed.url))
        connection = self._connect()
        try:
            headers = {name: request.headers[name] for name in _SENT if name in request.headers}
            connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
            answer = connection.getresponse()
            stream = Stream(connection, answer, self._slot(answer))
        except BaseException:
            connection.close()
            raise
        start_response(f"{answer.status} {answer.reason}", [*_shown(answer), *more])
        return stream

    def _check_url(self, request: StorageRequest) -> str:
        """Check a presigned URL and return the parameters that the storage may see."""
        query = parse_qs(request.query, keep_blank_values=True)
        key = request.path.removeprefix(f"{self._path}/")
        # A request without a key, or with parameters such as `list-type`, is for a listing or a
        # property of the bucket.
        known = (_SIGNING_PREFIX, _PASSED_PREFIX)
        is_object = bool(key) and key != request.path
        if not is_object or not all(name.lower().startswith(known) for name in query):
            raise Refused("Access Denied")
        self._access.check_url(
            {
                "REQUEST_METHOD": request.method,
                "RAW_URI": request.path,
                "QUERY_STRING": request.query,
                # The Host header of the request is not used: the URL was signed for the public
                # address.
                "HTTP_HOST": self._public.host,
            }
        )
        pairs = request.query.split("&")
        return "&".join(pair for pair in pairs if pair.lower().startswith(_PASSED_PREFIX))

    def _slot(self, answer: HTTPResponse) -> Callable[[], None]:
        """Reserve a slot for a large download; return the function that releases it."""
        if (answer.length or 0) <= _LARGE_BYTES:
            return lambda: None
        if not self._large.acquire(blocking=False):
            message = "Too many large downloads are running. Try again later."
            raise Refused(message, "SlowDown", "503 Slow Down")
        return self._large.release

    def _upload(
        self,
        request: StorageRequest,
        environ: dict[str, Any],
        start_response: Respond,
        more: Headers,
    ) -> Iterable[bytes]:
        """Check a presigned form, and pass its fields and file to the storage."""
        kind = request.headers.get("content-type", "")
        if request.path.removesuffix("/") != self._path or request.query:
            raise Refused("Access Denied")
        if not kind.lower().startswith("multipart/form-data"):
            raise Refused("Send the fields and the file as multipart/form-data.")
        form = check_form({**environ, "PATH_INFO": f"/{self._bucket}"}, self._keys)
        connection = self._connect()
        try:
            # The form is written again, so that the storage gets exactly the fields that were
            # checked.
            boundary = secrets.token_hex(16)
            head, tail = _envelope(form, boundary)
            headers = {
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Content-Length": str(len(head) + form.size + len(tail)),
            }
            body = _blocks(head, form, tail)
            connection.request("POST", f"/{self._bucket}", body, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
            form.file.close()
        start_response(f"{answer.status} {answer.reason}", [*_shown(answer), *more])
        return [content]

    def _connect(self) -> HTTPConnection:
        kind = HTTPSConnection if self._endpoint.scheme == "https" else HTTPConnection
        return kind(self._endpoint.netloc, timeout=_TIMEOUT_SECONDS)


class Stream:
    """The body of a download, read in blocks."""

    def __init__(
        self, connection: HTTPConnection, answer: HTTPResponse, release: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._answer = answer
        self._release = release

    def __iter__(self) -> Iterator[bytes]:
        while block := self._answer.read(_BLOCK):
            yield block

    def close(self) -> None:
        """Close the connection; called by the server, also when the client has gone."""
        self._connection.close()
        self._release()


def make_storage(settings: Settings, public: PublicAddress) -> Storage | None:
    """Return the application for /storage/; None if presigned URLs have another address."""
    if settings.public_storage_url != f"{public.url}{STORAGE_PATH}":
        return None
    keys = KeyPair(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    return Storage(settings, public, keys)


def _storage_request(environ: dict[str, Any]) -> StorageRequest:
    path, _, query = environ["REQUEST_URI"].partition("#")[0].partition("?")
    headers = {
        name.removeprefix("HTTP_").lower().replace("_", "-"): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")
    }
    return StorageRequest(environ["REQUEST_METHOD"], path, query, headers)


def _shown(answer: HTTPResponse) -> Headers:
    """Return the headers for the caller: some headers of the storage, and `safe_headers`."""
    passed = [(name, value) for name, value in answer.getheaders() if name.lower() in _SHOWN]
    return [*passed, *safe_headers(answer.getheader("Content-Disposition", ""))]


def _envelope(form: Form, boundary: str) -> tuple[bytes, bytes]:
    """Return the bytes before and after the file of a form."""
    disposition = f"--{boundary}\r\nContent-Disposition: form-data; name="
    fields = "".join(
        f'{disposition}"{name}"\r\n\r\n{value}\r\n'
        for name, value in form.fields.items()
        # No rule restricts ignored fields, so their names could contain anything.
        if name != "file" and not name.startswith("x-ignore-")
    )
    start = f'{fields}{disposition}"file"; filename="file"\r\n'
    start += "Content-Type: application/octet-stream\r\n\r\n"
    return start.encode("utf-8"), f"\r\n--{boundary}--\r\n".encode("ascii")


def _blocks(head: bytes, form: Form, tail: bytes) -> Iterator[bytes]:
    yield head
    form.file.seek(0)
    while block := form.file.read(_BLOCK):
        yield block
    yield tail


def _answer_refused(
    refusal: Refused, environ: dict[str, Any], start_response: Respond
) -> Iterable[bytes]:
    body = b"" if environ["REQUEST_METHOD"] == "HEAD" else refusal.body
    headers = [("Content-Type", "application/xml"), *safe_headers()]
    start_response(refusal.status, [*headers, ("Content-Length", str(len(refusal.body)))])
    return [body]
