"""Errors as HTTP answers, and the middleware that gives Chalice's own errors the same shape.

Contract section 3: `{"message": …, "code": …}` with the status; never a stack trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from chalice.app import Request, Response

from chalicelib.errors import InvalidScheme, MethodNotAllowed, ServiceError, Unauthorized

JSON = "application/json"
INTERNAL = "Something went wrong inside the service. Try again; the failure has been logged."

_CODES = {
    400: "bad_request",
    404: "route_not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_type",
}


class ErrorRecord(msgspec.Struct):
    """Every answer that is not a success."""

    message: str
    """For a person."""
    code: str
    """Stable, for programs."""
    detail: str | msgspec.UnsetType = msgspec.UNSET
    """More about the cause, where the message is a documented text."""


def error_response(error: ServiceError) -> Response:
    """Turn an error into its answer."""
    record = ErrorRecord(error.message, error.code, error.detail or msgspec.UNSET)
    return response(record, error.status, error_headers(error))


def internal_error() -> Response:
    """Answer what nobody foresaw."""
    return response(ErrorRecord(INTERNAL, "internal_error"), 500, {})


def response(record: object, status: int, headers: Mapping[str, str | list[str]]) -> Response:
    """Encode a record as a JSON answer."""
    body = msgspec.json.encode(record).decode("utf-8")
    return Response(body=body, status_code=status, headers={"Content-Type": JSON, **headers})


def error_headers(error: ServiceError) -> dict[str, str]:
    """Headers that RFC 9110 asks for with some statuses."""
    headers: dict[str, str] = {}
    seconds = getattr(error, "retry_after_seconds", None)
    if seconds is not None:
        headers["Retry-After"] = str(max(0, int(seconds)))
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allowed)
    if isinstance(error, Unauthorized):
        challenge = "Bearer" if isinstance(error, InvalidScheme) else 'Bearer error="invalid_token"'
        headers["WWW-Authenticate"] = challenge
    return headers


def reshape(request: Request, get_response: Callable[[Request], Response]) -> Response:
    """Middleware: give errors that Chalice makes itself the service's body."""
    answer = get_response(request)
    body: Any = answer.body
    if not isinstance(body, dict) or "Message" not in body:
        return answer
    if answer.status_code >= 500:
        return internal_error()
    code = _CODES.get(answer.status_code, "bad_request")
    headers = {name: value for name, value in answer.headers.items() if isinstance(value, str)}
    return response(ErrorRecord(str(body["Message"]), code), answer.status_code, headers)
