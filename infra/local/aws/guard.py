"""Guards moto with access checks, locks and long polls.

Every request must name this machine as its host, and be signed with the stack's key pair.
Moto is not thread-safe: eight threads lost 4 of 800 counter updates, and 101 calls passed
a limit of 100. So one lock serialises the calls to DynamoDB and SQS, and a second lock serialises
the calls to S3. A long poll waits outside the lock.
"""

from __future__ import annotations

import hmac
import io
import json
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from chalicelib.domain.common.saving import FindUnsaved, all_is_saved
from infra.backups.folder import BackupError
from infra.local.aws import item_calls, large_objects
from infra.local.aws.origins import Origins, with_headers
from infra.local.aws.polls import Poll, Polls
from infra.local.aws.s3_access import Form, Refused, S3Access
from infra.local.aws.saved_data import SavedData
from infra.local.aws.signatures import KeyPair, Signatures, WrongSignature
from infra.local.aws.write_pause import (
    BUCKET,
    CONTROL_HEADER,
    HEADER,
    PATH,
    TABLE_HEADER,
    WritePause,
    control_secret,
)
from infra.local.events import WAKE_HEADER

# Authorization header by which moto recognizes S3, set after a presigned request was checked.
S3_SCOPE = "AWS4-HMAC-SHA256 Credential=stack/20260101/us-east-1/s3/aws4_request, Signature=0"
# SQS actions after which a message may be available.
WAKING_ACTIONS = frozenset(("SendMessage", "SendMessageBatch", "ChangeMessageVisibility"))
# Prefixes of DynamoDB actions that change nothing.
READING_TARGETS = ("GetItem", "BatchGetItem", "Query", "Scan", "Describe", "List")

_NOT_SAVED = "New data is not taken now, because nothing can be saved. Try again later."

Respond = Callable[..., Any]


class Guard:
    """A WSGI application that checks requests before it passes them to moto."""

    def __init__(
        self,
        moto: Callable[..., Any],
        polls: Polls,
        keys: KeyPair,
        origins: Origins,
        saved_data: SavedData,
        find_unsaved: FindUnsaved = all_is_saved,
    ) -> None:
        self._moto = moto
        self._polls = polls
        self._signatures = Signatures(keys)
        self._s3_access = S3Access(keys)
        self._control_secret = control_secret(keys.secret)
        self._origins = origins
        self._saved_data = saved_data
        self._find_unsaved = find_unsaved
        self._data_lock = threading.Lock()
        self._s3_lock = threading.Lock()
        self._write_pause = WritePause()

    def __call__(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer one request if it is allowed."""
        if not self._origins.has_host(environ):
            message = (
                f"{environ.get('HTTP_HOST', '')!r} is not a name of this machine. Use 127.0.0.1, "
                "or set PRESAGE_PUBLIC_STORAGE_URL."
            )
            return _refuse(Refused(message), start_response)
        if environ.get("PATH_INFO") == PATH:
            return self._control(environ, start_response)
        if environ.get("HTTP_AUTHORIZATION"):
            return self._signed(environ, start_response)
        if environ["REQUEST_METHOD"] == "OPTIONS":
            return self._preflight(environ, start_response)
        start_response = with_headers(start_response, self._origins.headers(environ))
        try:
            form = self._s3_access.check(environ)
        except Refused as refused:
            return _refuse(refused, start_response)
        return self._s3(environ, start_response, form)

    def _signed(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Check the signature of a request, and call the AWS service that it names."""
        try:
            self._check_page(environ)
            service = self._signatures.check(environ)
        except WrongSignature as wrong:
            return _refuse_signed(wrong, environ, start_response)
        if service == "dynamodb":
            with self._admitted(environ, _written_tables(environ)), self._data_lock:
                return item_calls.answer(environ, start_response)
        # Web pages may not read answers to signed requests, but moto would allow it to every page.
        start_response = with_headers(start_response, [])
        if service == "sqs":
            return self._sqs(environ, start_response)
        if service != "s3":
            return self._locked(self._data_lock, environ, start_response)
        return self._s3(environ, start_response, None)

    def _check_page(self, environ: dict[str, Any]) -> None:
        """Refuse requests, even signed requests, from web pages that may not use the service."""
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and not self._origins.allows(origin):
            raise WrongSignature(f"Pages of {origin} may not send requests.", "AccessDenied")

    def _preflight(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer a browser that asks whether a page may send a presigned request."""
        headers = self._origins.preflight(environ)
        if headers is None:
            refused = Refused("This CORS request is not allowed.", "AccessForbidden")
            return _refuse(refused, start_response)
        if environ["HTTP_ACCESS_CONTROL_REQUEST_METHOD"] == "GET":
            try:
                self._s3_access.check_url({**environ, "REQUEST_METHOD": "GET"})
            except Refused as refused:
                return _refuse(refused, start_response)
        start_response("200 OK", headers)
        return []

    def _s3(
        self, environ: dict[str, Any], start_response: Respond, form: Form | None
    ) -> Iterable[bytes]:
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
            # Moto would parse the object's bytes as a form and store nothing (curl --data-binary).
            environ["CONTENT_TYPE"] = "binary/octet-stream"
        written = () if environ["REQUEST_METHOD"] in ("GET", "HEAD") else (BUCKET,)
        with self._admitted(environ, written):
            with self._s3_lock:
                stream = large_objects.answer(self._moto, environ, start_response)
            if stream is not None:
                return stream
            return self._locked(self._s3_lock, environ, start_response)

    def _store(self, form: Form, start_response: Respond) -> Iterable[bytes]:
        """Store the file of a large form as an object."""
        version = large_objects.etag(form.file)
        with self._admitted({}, (BUCKET,)), self._s3_lock:
            is_stored = large_objects.store(form, version)
        if not is_stored:
            form.file.close()
            missing = Refused("The bucket does not exist.", "NoSuchBucket", "404 Not Found")
            return _refuse(missing, start_response)
        start_response("204 No Content", [("ETag", f'"{version}"')])
        return []

    def _admitted(
        self, environ: dict[str, Any], targets: Iterable[str]
    ) -> AbstractContextManager[None]:
        token = environ.get("HTTP_" + HEADER.upper().replace("-", "_"))
        return self._write_pause.passing(token, targets)

    def _control(self, environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        """Answer requests of the processes that restore and copy the stack's data."""
        method, status, token, message = environ["REQUEST_METHOD"], "200 OK", "", ""
        given = str(environ.get("HTTP_" + CONTROL_HEADER.upper().replace("-", "_"), ""))
        is_page = "HTTP_ORIGIN" in environ
        if is_page or not hmac.compare_digest(given.encode(), self._control_secret.encode()):
            return _refuse(Refused("Access Denied"), start_response)
        table = str(environ.get("HTTP_" + TABLE_HEADER.upper().replace("-", "_"), ""))
        if table:
            with self._data_lock:
                packed = self._saved_data.pieces(table)
            start_response(status, [("Content-Type", "application/octet-stream")])
            return [packed]
        if method == "POST":
            token = self._write_pause.close() or ""
            status = status if token else "409 Conflict"
        elif method == "DELETE":
            given = environ.get("HTTP_" + HEADER.upper().replace("-", "_"), "")
            status = status if self._write_pause.open(given) else "410 Gone"
        elif method == "PUT":
            message, status = self._restore()
        with self._data_lock:
            queues = self._polls.lengths() if method == "GET" else {}
        start_response(status, [("Content-Type", "application/json")])
        answer = {
            "token": token,
            "queues": queues,
            "writes": dict(self._write_pause.writes),
            "message": message,
            "restored": self._saved_data.seal,
            "unread": self._saved_data.unread(),
        }
        return [json.dumps(answer).encode()]

    def _restore(self) -> tuple[str, str]:
        """Load the saved data; return a line for the user, and the HTTP status."""
        with self._data_lock, self._s3_lock:
            try:
                message = self._saved_data.load()
            except BackupError as error:
                return str(error), "422 Unprocessable Content"
        # Creating the tables does not count as a change of the saved data.
        self._write_pause.writes.clear()
        return message, "200 OK"

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


def _refuse(refusal: Refused, start_response: Respond) -> Iterable[bytes]:
    start_response(refusal.status, [("Content-Type", "application/xml")])
    return [refusal.body]


def _refuse_signed(
    wrong: WrongSignature, environ: dict[str, Any], start_response: Respond
) -> Iterable[bytes]:
    """Refuse a request in the error format of its AWS service, so that clients can show it."""
    if not environ.get("HTTP_X_AMZ_TARGET"):
        return _refuse(Refused(str(wrong), wrong.code), start_response)
    start_response("403 Forbidden", [("Content-Type", "application/x-amz-json-1.0")])
    return [json.dumps({"__type": wrong.code, "message": str(wrong)}).encode()]


def _written_tables(environ: dict[str, Any]) -> set[str]:
    """Return the names of the tables that a DynamoDB call may change."""
    action = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    if action.startswith(READING_TARGETS):
        return set()
    request = _json_body(environ) or {}
    changes = [change for item in request.get("TransactItems", ()) for change in item.values()]
    named = [request, *changes]
    names = {str(one["TableName"]) for one in named if "TableName" in one}
    # A table may be named by its ARN.
    return {name.rpartition("/")[2] for name in names | set(request.get("RequestItems", ()))}


def _json_body(environ: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON object in a body; None if the body is not a JSON object.

    Moto can still read the body afterwards.
    """
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
