"""The HTTP door of the local stack: every request becomes a real API Gateway event.

Runs as its own process; see infra/local/supervisor.py. Whatever the application raises becomes
a 500 in infra/local/http_server.py.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from chalicelib.domain.limits import MAX_BODY_BYTES
from chalicelib.errors import RouteNotFound
from infra.local.events import WORKER_SECONDS, LambdaContext
from infra.local.gateway import (
    HttpAnswer,
    HttpRequest,
    RouteTable,
    http_answer,
    proxy_event,
)
from infra.local.http_server import HEADERS_KEY, error_body, serve, too_large_message

GATEWAY_SECONDS = 29.0
"""API Gateway's longest wait for an answer, in seconds."""
GATEWAY_BODY_BYTES = 10 * 1024 * 1024
"""API Gateway's largest body."""
LAMBDA_EVENT_BYTES = 6 * 1024 * 1024
"""Largest body of an event as a function receives it, base64 included."""


class Front:
    """WSGI application that calls a Chalice application as API Gateway does."""

    def __init__(self, app: Any, function_name: str, has_gateway_limits: bool = False) -> None:
        self._app = app
        self._function_name = function_name
        self._has_gateway_limits = has_gateway_limits
        self._routes = RouteTable(app.routes)

    @property
    def max_body_bytes(self) -> int:
        """Largest body that is taken, in bytes."""
        return GATEWAY_BODY_BYTES if self._has_gateway_limits else MAX_BODY_BYTES

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request."""
        request = _read_request(environ)
        answer = self._answer(request)
        status = f"{answer.status} {_reason(answer.status)}"
        has_length = answer.status >= 200 and answer.status not in (204, 304)
        length = [("Content-Length", str(len(answer.body)))] if has_length else []
        start_response(status, [*answer.headers, *length])
        return [] if request.method == "HEAD" or not has_length else [answer.body]

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        """Call the application, or refuse what a gateway would refuse."""
        match = self._routes.match(request.method, request.path)
        if match is None:
            missing = RouteNotFound()
            return _refusal(missing.status, missing.message, missing.code)
        seconds = GATEWAY_SECONDS if self._has_gateway_limits else WORKER_SECONDS
        context = LambdaContext(self._function_name, seconds)
        event = proxy_event(
            request, match, self._app.api.binary_types, request_id=context.aws_request_id
        )
        if self._has_gateway_limits and len(event["body"] or "") > LAMBDA_EVENT_BYTES:
            message = too_large_message(LAMBDA_EVENT_BYTES, len(event["body"]))
            return _refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, "too_large")
        answer = http_answer(self._app(event, context))
        if self._has_gateway_limits and not context.get_remaining_time_in_millis():
            message = f"The work took longer than {GATEWAY_SECONDS:.0f} seconds."
            return _refusal(HTTPStatus.GATEWAY_TIMEOUT, message, "timed_out")
        answer.headers.append(("x-amzn-RequestId", context.aws_request_id))
        return answer


def _read_request(environ: dict[str, Any]) -> HttpRequest:
    """Read a request out of the WSGI environment, path and query as they were sent."""
    target = environ["REQUEST_URI"]
    if not target.startswith("/"):
        parts = urlsplit(target)
        target = f"{parts.path or '/'}?{parts.query}"
    path, _, query = target.partition("#")[0].partition("?")
    return HttpRequest(
        method=environ["REQUEST_METHOD"],
        path=path,
        query=query,
        headers=environ[HEADERS_KEY],
        body=environ["wsgi.input"].read(),
        address=environ["REMOTE_ADDR"],
    )


def _reason(status: int) -> str:
    """Phrase that follows the status on the wire."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _refusal(status: int, message: str, code: str) -> HttpAnswer:
    """Answer in the application's place."""
    headers = [("Content-Type", "application/json")]
    return HttpAnswer(int(status), headers, error_body(message, code))


def run(app: Any, listener: socket.socket, name: str, has_gateway_limits: bool) -> None:
    """Serve an application until the process ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    front = Front(app, f"{name}-api", has_gateway_limits)
    serve(front, listener, front.max_body_bytes)
