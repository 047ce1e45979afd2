"""All errors have one shape, including those of Chalice itself."""

from __future__ import annotations

import json

import pytest
from chalice.app import Response

from chalicelib.errors import (
    InvalidScheme,
    InvalidToken,
    MethodNotAllowed,
    QuotaExceeded,
    StorageUnavailable,
    TimedOut,
)
from chalicelib.web.http.responses import INTERNAL, error_headers, reshape


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (404, "route_not_found"),
        (405, "method_not_allowed"),
        (415, "unsupported_type"),
        (418, "bad_request"),
        (500, "internal_error"),
    ],
)
def test_errors_of_chalice_are_reshaped(status, code):
    """Errors of Chalice keep status, message and headers, and get our members."""
    theirs = Response({"Code": "X", "Message": "their text"}, {"Allow": "GET"}, status)

    ours = reshape(None, lambda request: theirs)

    text = INTERNAL if status == 500 else "their text"
    assert (ours.status_code, json.loads(ours.body)) == (status, {"message": text, "code": code})
    assert (ours.headers.get("Allow") == "GET") == (status != 500)


@pytest.mark.parametrize("body", ['{"message": "ours"}', {"message": "ours"}, ""])
def test_our_own_answers_pass(body):
    """Answers already in shape are unchanged."""
    answer = Response(body, {}, 404)

    assert reshape(None, lambda request: answer) is answer


@pytest.mark.parametrize(
    ("error", "headers"),
    [
        (StorageUnavailable(7), {"Retry-After": "7"}),
        (TimedOut("late"), {"Retry-After": "5"}),
        (QuotaExceeded("used up", 60), {"Retry-After": "60"}),
        (MethodNotAllowed("PUT", ["POST", "GET"]), {"Allow": "GET, POST"}),
        (InvalidScheme(), {"WWW-Authenticate": "Bearer"}),
        (InvalidToken(), {"WWW-Authenticate": 'Bearer error="invalid_token"'}),
    ],
)
def test_headers_of_errors(error, headers):
    """Error statuses carry their required headers."""
    assert error_headers(error) == headers
