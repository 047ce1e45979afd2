"""Responses: errors in the documented form, headers for rate limits and links.

The body of an error is `{"message": …, "code": …}`, never a stack trace. See
contract, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from chalice.app import Request, Response

from chalicelib.domain.accounts.api_key import hide_keys
from chalicelib.domain.accounts.usage import Usage
from chalicelib.errors import InvalidScheme, MethodNotAllowed, ServiceError, Unauthorized
from chalicelib.web.http.access_log import body_size
from chalicelib.web.http.request import ApiRequest, UnsupportedEncoding
from chalicelib.web.records.dataset_records import PreviewRecord

RATE_LIMIT_HEADERS = {
    "X-RateLimit-Limit": "Predictions of the plan a month.",
    "X-RateLimit-Remaining": "Predictions left this month.",
    "X-RateLimit-Reset": "When predictions are next provisioned.",
}


def rate_limit_headers(usage: Usage) -> dict[str, str]:
    """Return the rate-limit headers. The reset is always on the first day of a month."""
    return {
        "X-RateLimit-Limit": str(usage.limit),
        "X-RateLimit-Remaining": str(usage.remaining),
        "X-RateLimit-Reset": usage.resets_at.strftime("%Y-%m-%d %H:%M:%S") + ".0",
    }


def next_link(request: ApiRequest, changes: Mapping[str, int]) -> dict[str, str]:
    """Return the `Link` header to the next page: the URL of this call with other parameters.

    `changes` has the new values of the parameters that change.
    """
    query = urlencode({**request.query, **changes})
    path = quote(request.path, safe="/%~:@!$&()*+,;=-._")
    return {"Link": f'<{request.base_url}{path}?{query}>; rel="next"'}


JSON = "application/json"
INTERNAL = "Something went wrong inside the service. Try again; the failure has been logged."

# Codes of errors that Chalice raises itself.
_CODES = {
    400: "bad_request",
    404: "route_not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_type",
}


class ErrorRecord(msgspec.Struct):
    """The body of every error."""

    message: str
    """Text for people."""
    code: str
    """Code for programs, which never changes."""
    detail: str | PreviewRecord | msgspec.UnsetType = msgspec.UNSET
    """The cause of an error whose `message` is prescribed, or the preview of a refused file."""


def error_response(error: ServiceError) -> Response:
    """Return the response of an error."""
    # A message may repeat a value of the call, which can be a key that was sent in a wrong place.
    message, detail = hide_keys(error.message), error.detail
    # The preview of a file (PreviewRecord) is shown unchanged.
    detail = hide_keys(detail) if isinstance(detail, str) else detail
    record = ErrorRecord(message, error.code, detail or msgspec.UNSET)
    return response(record, error.status, error_headers(error))


def internal_error() -> Response:
    """Return the response to an unexpected error, status 500."""
    return response(ErrorRecord(INTERNAL, "internal_error"), 500, {})


def response(record: object, status: int, headers: Mapping[str, str | list[str]]) -> Response:
    """Return a record as a JSON response."""
    body = msgspec.json.encode(record).decode("utf-8")
    return Response(body=body, status_code=status, headers={"Content-Type": JSON, **headers})


def error_headers(error: ServiceError) -> dict[str, str]:
    """Return the headers for an error: Retry-After, Accept-Encoding, Allow, WWW-Authenticate."""
    headers: dict[str, str] = {}
    seconds = getattr(error, "retry_after_seconds", None)
    if seconds is not None:
        headers["Retry-After"] = str(max(0, int(seconds)))
    if isinstance(error, UnsupportedEncoding):
        headers["Accept-Encoding"] = "identity"
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allowed)
    if isinstance(error, Unauthorized):
        # RFC 6750: without a token, the challenge names no error.
        challenge = "Bearer" if isinstance(error, InvalidScheme) else 'Bearer error="invalid_token"'
        headers["WWW-Authenticate"] = challenge
    return headers


def without_body(answer: Mapping[str, Any], *, has_length: bool) -> dict[str, Any]:
    """Return the answer to a HEAD request: the answer to GET without its body.

    Content-Length is the length of the removed body. If `has_length` is False, the header is left
    out, because GET could return another length. Source: RFC 9110, section 9.3.2.
    """
    length = {"Content-Length": str(body_size(answer))} if has_length else {}
    headers = {**answer["headers"], **length}
    return {**answer, "headers": headers, "body": "", "isBase64Encoded": False}


def reshape(request: Request, get_response: Callable[[Request], Response]) -> Response:
    """Convert errors that Chalice raises to the documented form. This is a middleware."""
    answer = get_response(request)
    body: Any = answer.body
    if not isinstance(body, dict) or "Message" not in body:
        return answer
    # The text of such an answer may contain a stack trace.
    if answer.status_code >= 500:
        return internal_error()
    code = _CODES.get(answer.status_code, "bad_request")
    headers = {name: value for name, value in answer.headers.items() if isinstance(value, str)}
    return response(ErrorRecord(str(body["Message"]), code), answer.status_code, headers)
