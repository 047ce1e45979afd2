"""Serves HTTP for the local stack: passes every request to the application as API Gateway does.

The front is a separate process. infra/local/http/server.py turns exceptions of the application into
responses with status 500.
"""

from __future__ import annotations

import json
import logging
import re
import signal
import socket
import string
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from chalicelib.config import Settings
from chalicelib.domain.common.limits import MAX_BODY_BYTES
from chalicelib.errors import BadRequest, RouteNotFound, ServiceError, TimedOut, TooLarge
from chalicelib.web.http.cors import OPEN_HEADERS
from infra.local.events import WORKER_SECONDS, LambdaContext
from infra.local.http.dispatcher import HEAVY, SHORT, CallKind
from infra.local.http.gateway import (
    HttpAnswer,
    HttpRequest,
    RouteTable,
    http_answer,
    proxy_event,
    remap_headers,
)
from infra.local.http.listening import names_this_machine
from infra.local.http.public import PublicAddress
from infra.local.http.server import HEADERS_KEY, THREADS, error_body, make_server, too_large_message
from infra.local.http.storage import Storage, is_storage_path, make_storage, safe_headers
from infra.local.options import Options
from infra.template.functions import RECORDS, TEXTS
from infra.template.routing import function_of

# Longest time that API Gateway waits for an answer, in seconds.
GATEWAY_SECONDS = 29.0
# Largest body that API Gateway accepts.
GATEWAY_BODY_BYTES = 10 * 1024 * 1024
# Largest event and result of a function as JSON, with base64.
LAMBDA_EVENT_BYTES = 6 * 1024 * 1024

_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(f"{string.ascii_letters}{string.digits}-._~")

# Functions with short calls: while others call, one caller may run one such call at a time.
_SHORT = (RECORDS, TEXTS)
# Predictions of images and documents.
_HEAVY = re.compile(r"POST /v[12]/vision/(?:predict|detect|ocr)")
# Bodies larger than this contain a file, not its URL.
_URL_BYTES = 16 * 1024


@dataclass(frozen=True)
class GatewayLimits:
    """The limits of the gateway and of the functions behind it."""

    body_bytes: int = MAX_BODY_BYTES
    """Largest body on the wire, in bytes."""
    event_bytes: int | None = None
    """Largest event and result of a function, in bytes; None for no limit."""
    seconds: float | None = None
    """Longest wait for an answer, in seconds; None for no limit."""
    remaps_headers: bool = False
    """Whether some headers of answers, such as `WWW-Authenticate`, are renamed."""


class UnknownHost(BadRequest):
    """A request whose host is not the host of the service."""

    status = 421
    code = "unknown_host"


GATEWAY = GatewayLimits(GATEWAY_BODY_BYTES, LAMBDA_EVENT_BYTES, GATEWAY_SECONDS, True)


@dataclass(frozen=True)
class PublicOrigin:
    """The only origin at which callers reach the service and its storage."""

    address: PublicAddress
    storage: Storage | None = None
    """Application that answers below /storage/; None if the storage has another address."""


Page = Callable[[HttpRequest], HttpAnswer]


class Front:
    """A WSGI application that calls a Chalice application as API Gateway does."""

    def __init__(
        self,
        app: Any,
        function_name: str,
        limits: GatewayLimits,
        has_origins: bool = False,
        pages: Mapping[str, Page] | None = None,
        origin: PublicOrigin | None = None,
    ) -> None:
        self._app = app
        self._public = origin.address if origin else None
        self._storage = origin.storage if origin else None
        self._has_origins = has_origins
        self._pages = pages or {}
        self._function_name = function_name
        self._limits = limits
        self._routes = RouteTable(app.routes)
        self._runner = ThreadPoolExecutor(THREADS, "function")

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request."""
        path, query = _target(environ)
        is_stored = self._storage is not None and is_storage_path(path)
        refused = self._wrong_host(environ)
        if refused:
            answer = refused
            answer.headers.extend(safe_headers() if is_stored else [])
        elif self._storage is not None and is_stored:
            return self._storage(environ, start_response)
        else:
            answer = self._answer(_read_request(environ, path, query, self._public))
        return self._send(answer, environ["REQUEST_METHOD"], start_response)

    def _wrong_host(self, environ: dict[str, Any]) -> HttpAnswer | None:
        """Return the error for a request to another host, as in DNS rebinding; otherwise None.

        HTTP/1.0 needs no host.
        """
        given = str(environ.get("HTTP_HOST", ""))
        public = self._public
        if not given or (public.has_host(given) if public else names_this_machine(given)):
            return None
        known = f"Use {public.url}, as" if public else "Use 127.0.0.1, or another host that"
        return _refusal(
            UnknownHost(
                f"{given[:100]!r} is not this service's host. {known} PRESAGE_PUBLIC_URL names it."
            )
        )

    def _send(
        self, answer: HttpAnswer, method: str, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if answer.is_own and self._has_origins:
            answer.headers.extend(OPEN_HEADERS.items())
        status = f"{answer.status} {_reason(answer.status)}"
        has_body = answer.status >= 200 and answer.status not in (204, 304)
        is_head = method == "HEAD"
        length = answer.length if is_head and not answer.is_own else len(answer.body)
        lengths = [("Content-Length", str(length))] if has_body and length is not None else []
        start_response(status, [*answer.headers, *lengths])
        return [answer.body] if has_body and not is_head else []

    def kind_of(self, request: Any) -> CallKind | None:
        """Return the kind of a request. A caller's running calls are limited for each kind.

        None means that the request is not limited. A call that waits for a download from another
        host is not limited, because it uses no processor.
        """
        match = self._routes.match(request.command, request.path)
        if match is None:
            return None
        if function_of(request.command, match.resource) in _SHORT:
            return SHORT
        called = f"{request.command} {match.resource}"
        return HEAVY if _HEAVY.fullmatch(called) and not _names_host(request) else None

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        """Call the application, or return the error that API Gateway would return."""
        page = self._pages.get(request.path)
        if page is not None and request.method in ("GET", "HEAD"):
            return page(request)
        match = self._routes.match(request.method, request.path)
        if match is None:
            return _refusal(RouteNotFound())
        context = LambdaContext(self._function_name, self._limits.seconds or WORKER_SECONDS)
        event = proxy_event(
            request, match, self._app.api.binary_types, request_id=context.aws_request_id
        )
        if refused := self._too_large(request, event):
            return refused
        try:
            result = self._call(event, context)
        except TimeoutError:
            return _refusal(
                TimedOut(f"The work took longer than {self._limits.seconds:g} seconds.")
            )
        if refused := self._too_large_result(result):
            return refused
        answer = http_answer(result)
        if self._limits.remaps_headers:
            answer = remap_headers(answer)
        answer.headers.append(("x-amzn-RequestId", context.aws_request_id))
        return answer

    def _too_large(self, request: HttpRequest, event: dict[str, Any]) -> HttpAnswer | None:
        """Return the gateway's error if the event is too large for a function; otherwise None."""
        limit = self._limits.event_bytes
        if limit is None or (size := _json_bytes(event)) <= limit:
            return None
        if event["isBase64Encoded"]:
            limit, size = limit // 4 * 3, len(request.body)
        return _refusal(TooLarge(too_large_message(limit, size)))

    def _too_large_result(self, result: dict[str, Any]) -> HttpAnswer | None:
        """Return the gateway's error if a function's result is too large; otherwise None."""
        limit = self._limits.event_bytes
        if limit is None or (size := _json_bytes(result)) <= limit:
            return None
        text = f"The answer has {size} bytes; a function may return {limit}."
        headers = [("Content-Type", "application/json")]
        return HttpAnswer(502, headers, error_body(text, ServiceError.code), is_own=True)

    def _call(self, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Run the application within the time limit."""
        if self._limits.seconds is None:
            return dict(self._app(event, context))
        running = self._runner.submit(self._app, event, context)
        return dict(running.result(self._limits.seconds))


def _names_host(request: Any) -> bool:
    """Return whether a prediction call gives the URL of a file, which the service downloads."""
    stream = request.get_body_stream()
    start = stream.read(_URL_BYTES + 1)
    stream.seek(0)
    return len(start) <= _URL_BYTES and b"sampleLocation" in start and b"://" in start


def _target(environ: dict[str, Any]) -> tuple[str, str]:
    """Return path and query of a request as sent; only octets that need no encoding are decoded."""
    target = environ["REQUEST_URI"]
    if not target.startswith("/"):
        parts = urlsplit(target)
        target = f"{parts.path or '/'}?{parts.query}"
    path, _, query = target.partition("#")[0].partition("?")
    return _ENCODED.sub(_decode_unreserved, path), query


def _read_request(
    environ: dict[str, Any], path: str, query: str, public: PublicAddress | None
) -> HttpRequest:
    """Read a request from the WSGI environment; a public host replaces the host that was sent."""
    headers, address, scheme = environ[HEADERS_KEY], environ["REMOTE_ADDR"], "http"
    if public is not None:
        address, scheme = public.caller(address, headers), public.scheme
        others = ((name, value) for name, value in headers if name.lower() != "host")
        headers = [("Host", public.host), *others]
    return HttpRequest(
        method=environ["REQUEST_METHOD"],
        path=path,
        query=query,
        headers=headers,
        body=environ["wsgi.input"].read(),
        address=address,
        scheme=scheme,
    )


def _decode_unreserved(encoded: re.Match[str]) -> str:
    """Decode an octet that need not be encoded, so that equivalent paths are equal.

    Source: RFC 3986, section 6.2.2.
    """
    character = chr(int(encoded[1], 16))
    return character if character in _UNRESERVED else encoded[0]


def _json_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _refusal(error: ServiceError) -> HttpAnswer:
    headers = [("Content-Type", "application/json")]
    return HttpAnswer(error.status, headers, error_body(error.message, error.code), is_own=True)


def run(
    app: Any,
    listener: socket.socket,
    settings: Settings,
    options: Options,
    pages: Mapping[str, Page] | None = None,
) -> None:
    """Serve an application until SIGTERM; then answer the calls that are running.

    Args:
        app: the Chalice application.
        listener: bound socket.
        settings: the name of the stack, the allowed origins, and the public URL of the storage.
        options: limits, public address, and the time that running calls get after SIGTERM.
        pages: pages that the front itself returns to GET and HEAD, by path.
    """
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    limits = GATEWAY if options.has_gateway_limits else GatewayLimits()
    has_origins = bool(settings.allow_origins)
    origin = _origin(settings, options.public) if options.public else None
    front = Front(app, f"{settings.name}-api", limits, has_origins, pages, origin)
    error_headers = OPEN_HEADERS if has_origins else {}
    forms = origin.storage.forms if origin and origin.storage else None
    server = make_server(front, listener, limits.body_bytes, error_headers, forms)
    signal.signal(signal.SIGTERM, lambda *_: server.stop(options.drain_seconds))
    server.run()


def _origin(settings: Settings, public: PublicAddress) -> PublicOrigin:
    return PublicOrigin(public, make_storage(settings, public))
