"""Writes one log line per request: route, status, time, size, account.

A path can contain a refresh token. So the line has the template of the route, and never path,
query or body. operation.py adds the account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib import log, metrics
from chalicelib.web.http.request import OLD_PATHS, VERSION_1, VERSION_2

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
# Replaces unknown methods and routes, which may have any content.
OTHER = "other"
# Some of the ids come from headers, which callers choose.
_MAX_ID = 100


def call_ids(event: Mapping[str, Any], context: Any) -> dict[str, object]:
    """Return the ids of request and invocation, which every log line of the request contains."""
    ids = {
        "request_id": str(event["requestContext"].get("requestId") or ""),
        "invocation_id": str(getattr(context, "aws_request_id", "") or ""),
    }
    return {name: value[:_MAX_ID] for name, value in ids.items() if value}


def write_access(
    event: Mapping[str, Any],
    answer: Mapping[str, Any],
    seconds: float,
    *,
    is_known: bool,
    operation: tuple[str, str] = (OTHER, ""),
) -> None:
    """Write the log line of a request.

    `event` and `answer` are the proxy event and the result of API Gateway. `operation` is the name
    of the operation that answered, and its family.
    """
    context, status = event["requestContext"], int(answer["statusCode"])
    route = context["resourcePath"] if is_known else OTHER
    # One value for both versions of a path, because each value is billed as a separate metric.
    metric = route.replace(VERSION_1, VERSION_2, 1) if route.startswith(OLD_PATHS) else route
    milliseconds = round(1000 * seconds, 3)
    figures = {metrics.REQUEST_MILLISECONDS: milliseconds}
    if status >= 400:
        figures[metrics.SERVER_ERRORS if status >= 500 else metrics.CLIENT_ERRORS] = 1
    if metrics.Emission.recorder is not None:
        call = {"Operation": operation[0], "Family": operation[1] or "none"}
        metrics.record({metrics.CALL_MILLISECONDS: milliseconds}, **call)
        metrics.record({metrics.CALLS: 1}, Status=f"{status // 100}xx", **call)
    log.record(
        "request",
        method=context["httpMethod"] if context["httpMethod"] in METHODS else OTHER,
        route=route,
        status=status,
        milliseconds=milliseconds,
        bytes=body_size(answer),
        **metrics.embedded(figures, Route=metric),
    )


def body_size(answer: Mapping[str, Any]) -> int:
    """Return the size of an answer's body in bytes, as the caller receives it."""
    body = str(answer.get("body") or "")
    if answer.get("isBase64Encoded"):
        return len(body) * 3 // 4 - body[-2:].count("=")
    # Most bodies are ASCII, and large ones would be copied only to be counted.
    return len(body) if body.isascii() else len(body.encode("utf-8", "surrogatepass"))
