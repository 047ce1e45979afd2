"""Converts an HTTP request into the proxy event of API Gateway, and a result into an answer.

This module has only pure functions; front.py contains the server.
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from infra.local.events import ACCOUNT

STAGE = "api"
# Headers that a gateway does not pass on, in lower case.
HOP_BY_HOP = frozenset(
    (
        "connection",
        "expect",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)

# Headers of a function's answer that a REST API sends as `x-amzn-Remapped-NAME` ("Important notes"
# of the API Gateway developer guide, read 2026-11-28). No setting of a proxy integration avoids it.
REMAPPED = frozenset(
    (
        "authorization",
        "content-md5",
        "date",
        "host",
        "max-forwards",
        "proxy-authenticate",
        "referer",
        "server",
        "user-agent",
        "via",
        "warn",
        "www-authenticate",
    )
)
REMAPPED_PREFIX = "x-amzn-Remapped-"


@dataclass(frozen=True)
class HttpRequest:
    """One request as it was sent."""

    method: str
    """Method in capital letters."""
    path: str
    """Path as sent, not decoded, without the query."""
    query: str
    """Query as sent, without the question mark."""
    headers: Sequence[tuple[str, str]]
    """Headers as sent, in order."""
    body: bytes
    """Body, without transfer encoding."""
    address: str = "127.0.0.1"
    scheme: str = "http"
    """Scheme by which the caller reached the service."""


@dataclass(frozen=True)
class Match:
    """The path template that a request matches, and the values of its variables."""

    resource: str
    """Path template."""
    parameters: dict[str, str]
    """Path parameters, not decoded."""


class RouteTable:
    """Finds the path template of a request; literal segments have priority over variables."""

    def __init__(self, routes: Mapping[str, Iterable[str]]) -> None:
        self._methods = {template: frozenset(methods) for template, methods in routes.items()}
        self._by_length: dict[int, list[tuple[str, list[str]]]] = {}
        for template in sorted(self._methods, key=_rank):
            segments = template.split("/")
            self._by_length.setdefault(len(segments), []).append((template, segments))

    def match(self, method: str, path: str) -> Match | None:
        """Return the path template that a request matches, or None; every path accepts OPTIONS."""
        if len(path) > 1:
            path = path.removesuffix("/")
        parts = path.split("/")
        for template, segments in self._by_length.get(len(parts), ()):
            parameters = _parameters(segments, parts)
            if parameters is not None and method in self._methods[template] | {"OPTIONS"}:
                return Match(template, parameters)
        return None


def _rank(template: str) -> list[bool]:
    """Return a sort key that puts literal segments before variables, from left to right."""
    return [segment.startswith("{") for segment in template.split("/")]


def _parameters(segments: list[str], parts: list[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for segment, part in zip(segments, parts, strict=True):
        if segment.startswith("{") and part:
            found[segment[1:-1]] = part
        elif segment != part:
            return None
    return found


def proxy_event(
    request: HttpRequest, match: Match, binary_types: Sequence[str], request_id: str
) -> dict[str, Any]:
    """Build the event that API Gateway passes to a function.

    Args:
        request: the request.
        match: the path template that the request matches.
        binary_types: content types whose bodies are passed in base64.
        request_id: id of the invocation.
    """
    headers = _passed_headers(request)
    query = parse_qsl(request.query, keep_blank_values=True, errors="replace")
    body, is_base64 = _body(request, binary_types)
    return {
        "resource": match.resource,
        "path": request.path,
        "httpMethod": request.method,
        "headers": dict(headers) or None,
        "multiValueHeaders": _grouped(headers),
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": _grouped(query),
        "pathParameters": match.parameters or None,
        "stageVariables": None,
        "requestContext": _request_context(request, match, request_id),
        "body": body,
        "isBase64Encoded": is_base64,
    }


def _request_context(request: HttpRequest, match: Match, request_id: str) -> dict[str, Any]:
    agent = next((v for n, v in request.headers if n.lower() == "user-agent"), None)
    now = datetime.now(UTC)
    return {
        "resourceId": "local",
        "resourcePath": match.resource,
        "httpMethod": request.method,
        "path": request.path,  # without the stage, as with a custom domain
        "accountId": ACCOUNT,
        "apiId": "local",
        "stage": STAGE,
        "protocol": "HTTP/1.1",
        "requestId": request_id,
        "extendedRequestId": uuid.uuid4().hex[:16],
        "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "requestTimeEpoch": int(time.time() * 1000),
        "identity": {"sourceIp": request.address, "userAgent": agent},
    }


def _passed_headers(request: HttpRequest) -> list[tuple[str, str]]:
    passed = [(n, v) for n, v in request.headers if n.lower() not in HOP_BY_HOP]
    return [
        *((n, v) for n, v in passed if not n.lower().startswith("x-forwarded-")),
        ("X-Forwarded-For", request.address),
        ("X-Forwarded-Proto", request.scheme),
    ]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]] | None:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped or None


def _body(request: HttpRequest, binary_types: Sequence[str]) -> tuple[str | None, bool]:
    """Return the body as text, or in base64 if it is binary or not UTF-8; None if there is no body.

    The second value says whether the body is in base64.
    """
    if not request.body:
        return None, False
    kind = next((v for n, v in request.headers if n.lower() == "content-type"), "")
    if not _is_binary(kind, binary_types):
        try:
            return request.body.decode("utf-8"), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(request.body).decode("ascii"), True


def _is_binary(content_type: str, binary_types: Sequence[str]) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    family = kind.partition("/")[0]
    return any(listed in (kind, f"{family}/*", "*/*") for listed in binary_types)


@dataclass(frozen=True)
class HttpAnswer:
    """One HTTP answer."""

    status: int
    headers: list[tuple[str, str]]
    """Headers, without hop-by-hop headers and Content-Length."""
    body: bytes
    is_own: bool = False
    """Whether the gateway answers without calling the service."""
    length: int | None = None
    """For an answer to HEAD: length of the body that GET would return; otherwise None."""


def http_answer(result: Mapping[str, Any]) -> HttpAnswer:
    """Convert a function's proxy result into an answer.

    Raises:
        ValueError: the result is malformed, for which the gateway answers 502.
    """
    multiple = result.get("multiValueHeaders") or {}
    pairs = [(n, v) for n, values in multiple.items() for v in values]
    pairs += [(n, v) for n, v in (result.get("headers") or {}).items() if n not in multiple]
    dropped = HOP_BY_HOP | {"content-length"}
    headers = [(n, str(v)) for n, v in pairs if n.lower() not in dropped]
    body = result.get("body") or ""
    if not isinstance(body, str):
        raise ValueError("the body of a proxy result must be a text")  # noqa: TRY004 - as a gateway
    content = base64.b64decode(body) if result.get("isBase64Encoded") else body.encode("utf-8")
    lengths = [str(v) for n, v in pairs if n.lower() == "content-length"]
    length = int(lengths[0]) if lengths else None
    return HttpAnswer(int(result["statusCode"]), headers, content, length=length)


def remap_headers(answer: HttpAnswer) -> HttpAnswer:
    """Rename the headers of a function's answer that API Gateway renames."""
    renamed = [
        (f"{REMAPPED_PREFIX}{name}" if name.lower() in REMAPPED else name, value)
        for name, value in answer.headers
    ]
    return replace(answer, headers=renamed)
