"""The one line of each request: route, status, time, size, account; never path, query or body.

A token may travel in a path, so a line names the route's template. The account is added where it
becomes known: chalicelib/web/operations/operation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib import log, metrics
from chalicelib.web.http.request import OLD_PATHS, VERSION_1, VERSION_2

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
OTHER = "other"
"""In place of a method or route that is none of ours: it may be anything."""
_MAX_ID = 100  # Callers choose the headers that some of these come from.


def call_ids(event: Mapping[str, Any], context: Any) -> dict[str, object]:
    """Return the ids that every line of a request has: the gateway's and the function's.

    Args:
        event: a whole event.
        context: the function's, or None.
    """
    ids = {
        "request_id": str(event["requestContext"].get("requestId") or ""),
        "invocation_id": str(getattr(context, "aws_request_id", "") or ""),
    }
    return {name: value[:_MAX_ID] for name, value in ids.items() if value}


def write_access(
    event: Mapping[str, Any], answer: Mapping[str, Any], seconds: float, *, is_known: bool
) -> None:
    """Write a request's line.

    Args:
        event: a whole event.
        answer: as the gateway gets it.
        seconds: from the event to the answer.
        is_known: whether the event names a route of ours.
    """
    context, status = event["requestContext"], int(answer["statusCode"])
    route = context["resourcePath"] if is_known else OTHER
    # One value for a call's two versions: each would be paid for as a metric of its own.
    metric = route.replace(VERSION_1, VERSION_2, 1) if route.startswith(OLD_PATHS) else route
    milliseconds = round(1000 * seconds, 3)
    figures = {metrics.REQUEST_MILLISECONDS: milliseconds}
    if status >= 400:
        figures[metrics.SERVER_ERRORS if status >= 500 else metrics.CLIENT_ERRORS] = 1
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
    """Return the size of the body of a function's answer as the caller gets it, in bytes."""
    body = str(answer.get("body") or "")
    if answer.get("isBase64Encoded"):
        return len(body) * 3 // 4 - body[-2:].count("=")
    return len(body) if body.isascii() else len(body.encode("utf-8", "surrogatepass"))
