"""Guards moto with locks, long polls and the access checks of S3.

Moto is not thread-safe: eight threads lost 4 of 800 counter updates, and a limit of 100 admitted
101. So one lock serialises the calls to DynamoDB and SQS, and another one those to S3. A long poll
waits outside the lock.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from chalicelib.domain.common.saving import FindUnsaved, all_is_saved
from infra.local.aws import item_calls, large_objects
from infra.local.aws.polls import Poll, Polls
from infra.local.aws.s3_access import Form, Refused, S3Access
from infra.local.aws.write_pause import HEADER, PATH, WritePause
from infra.local.events import WAKE_HEADER

# Authorization header that presigned requests get after they have been checked.
S3_SCOPE = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, Signature=0"
# SQS actions after which a message may be available.
WAKING_ACTIONS = frozenset(("SendMessage", "SendMessageBatch", "ChangeMessageVisibility"))
# Prefixes of DynamoDB actions that change nothing.
READING_TARGETS = ("GetItem", "BatchGetItem", "Query", "Scan", "Describe", "List")

# Prefix of the headers that let pages of other origins read an answer.
_CORS_PREFIX = "access-control-"
_NOT_SAVED = "New data is not taken now, because nothing can be saved. Try again later."

Respond = Callable[..., Any]


class Guard:
    """A WSGI application around moto's."""

    def __init__(
        self,
        moto: Callable[..., Any],
        polls: Polls,
        s3_access: S3Access,
        find_unsaved: FindUnsaved = all_is_saved,
    ) -> None:
        self._moto = moto
        self._polls = polls
        self._s3_access = s3_access
        self._find_unsaved = find_unsaved
        self._data_lock = threading.Lock()
        self._s3_lock = threading.Lock()
        self._write_pause = WritePause()

    def __call__(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer one request."""
        if environ.get("PATH_INFO") == PATH:
            return self._pause_writes(environ, start_response)
        service = _service(environ)
        if service == "sqs":
            return self._sqs(environ, start_response)
        if service == "dynamodb":
            with self._admitted(environ, _is_row_write(environ)), self._data_lock:
                return item_calls.answer(environ, start_response)
        if service is not None and service != "s3":
            return self._locked(self._data_lock, environ, start_response)
        return self._s3(environ, start_response)

    def _s3(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Call S3 if the request's signature or policy allows it."""
        if environ["REQUEST_METHOD"] == "POST" and environ.get("HTTP_ORIGIN"):
            start_response = self._with_cors(environ, start_response)
        try:
            form = self._s3_access.check(environ)
        except Refused as refused:
            return _refuse(refused, start_response)
        if form is not None and self._find_unsaved():
            form.file.close()
            busy = Refused(_NOT_SAVED, "ServiceUnavailable", "503 Service Unavailable")
            return _refuse(busy, start_response)
        if form is not None and form.size > large_objects.LARGE_BYTES:
            return self._store(form, start_response)
        if form is not None:
            form.file.close()
        # Without a scope, moto guesses the service from the body, which damages binary ones.
        environ.setdefault("HTTP_AUTHORIZATION", S3_SCOPE)
        if environ["REQUEST_METHOD"] == "PUT" and "form" in environ.get("CONTENT_TYPE", ""):
            # Moto would read the object's bytes as a form and store nothing (curl --data-binary).
            environ["CONTENT_TYPE"] = "binary/octet-stream"
        is_write = environ["REQUEST_METHOD"] not in ("GET", "HEAD")
        with self._admitted(environ, is_write):
            with self._s3_lock:
                stream = large_objects.answer(self._moto, environ, start_response)
            if stream is not None:
                return stream
            return self._locked(self._s3_lock, environ, start_response)

    def _with_cors(self, environ: dict[str, Any], start_response: Respond) -> Respond:
        """Let a page read the answer to a form if the bucket's rules allow its origin."""
        allowed: list[tuple[str, str]] = []

        def note(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            if status.startswith("200"):
                allowed.extend(one for one in headers if one[0].lower().startswith(_CORS_PREFIX))

        asked = {**environ, "REQUEST_METHOD": "OPTIONS", "wsgi.input": io.BytesIO()}
        self._locked(self._s3_lock, {**asked, "CONTENT_LENGTH": "0"}, note)

        def respond(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            others = [one for one in headers if not one[0].lower().startswith(_CORS_PREFIX)]
            return start_response(status, others + allowed, *rest)

        return respond

    def _store(self, form: Form, start_response: Respond) -> Iterable[bytes]:
        """Store the file of a large form as an object."""
        version = large_objects.etag(form.file)
        with self._admitted({}, is_write=True), self._s3_lock:
            is_stored = large_objects.store(form, version)
        if not is_stored:
            form.file.close()
            missing = Refused("The bucket does not exist.", "NoSuchBucket", "404 Not Found")
            return _refuse(missing, start_response)
        start_response("204 No Content", [("ETag", f'"{version}"')])
        return []

    def _admitted(self, environ: dict[str, Any], is_write: bool) -> AbstractContextManager[None]:
        token = environ.get("HTTP_" + HEADER.upper().replace("-", "_"))
        return self._write_pause.passing(token, is_write)

    def _pause_writes(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer the process that copies the data."""
        method, status, token = environ["REQUEST_METHOD"], "200 OK", ""
        if method == "POST":
            token = self._write_pause.close() or ""
            status = status if token else "409 Conflict"
        elif method == "DELETE":
            given = environ.get("HTTP_" + HEADER.upper().replace("-", "_"), "")
            status = status if self._write_pause.open(given) else "410 Gone"
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps({"token": token, "writes": self._write_pause.writes}).encode()]

    def _locked(
        self, lock: threading.Lock, environ: dict[str, Any], start_response: Respond
    ) -> Iterable[bytes]:
        """Call moto under a lock and return the complete answer."""
        with lock:
            parts = self._moto(environ, start_response)
            try:
                return [b"".join(parts)]
            finally:
                if hasattr(parts, "close"):
                    parts.close()

    def _sqs(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Call SQS; a long poll waits here first, then calls moto without waiting."""
        action = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        request = _json_body(environ)
        if request is None:
            start_response("400 Bad Request", [("Content-Type", "application/json")])
            return [b'{"__type": "InvalidRequest", "message": "Only the JSON protocol is spoken."}']
        queue = str(request.get("QueueUrl", "")).rpartition("/")[2]
        if action == "ReceiveMessage":
            self._wait(queue, int(request.get("WaitTimeSeconds") or 0), environ)
            _replace_body(environ, {**request, "WaitTimeSeconds": 0})
        answer = self._locked(self._data_lock, environ, start_response)
        if action in WAKING_ACTIONS:
            self._polls.wake()
        return answer

    def _wait(self, queue: str, seconds: int, environ: dict[str, Any]) -> None:
        others = environ.get("HTTP_" + WAKE_HEADER.upper().replace("-", "_"), "")
        watched = (queue, *(name for name in others.split(",") if name))
        poll = Poll(watched, min(seconds, 20), environ["werkzeug.socket"])
        self._polls.wait(poll, self._data_lock)


def _refuse(refused: Refused, start_response: Respond) -> Iterable[bytes]:
    start_response(refused.status, [("Content-Type", "application/xml")])
    return [refused.body]


def _service(environ: dict[str, Any]) -> str | None:
    """Return the service of a signed request; None for one that only S3 can accept."""
    scope = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2]
    parts = scope.partition(",")[0].split("/")
    return parts[3].lower() if len(parts) == 5 else None


def _is_row_write(environ: dict[str, Any]) -> bool:
    action = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    return not action.startswith(READING_TARGETS)


def _json_body(environ: dict[str, Any]) -> dict[str, Any] | None:
    """Return a JSON request, whose body can be read again; None for another body."""
    body = environ["wsgi.input"].read()
    environ["wsgi.input"] = io.BytesIO(body)
    try:
        request = json.loads(body)
    except ValueError:
        return None
    return request if isinstance(request, dict) else None


def _replace_body(environ: dict[str, Any], request: dict[str, Any]) -> None:
    body = json.dumps(request).encode("utf-8")
    environ["wsgi.input"] = io.BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
