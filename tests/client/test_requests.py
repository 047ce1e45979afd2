"""Tests of requests, retries and errors."""

from __future__ import annotations

import httpx
import pytest
from presage import (
    ApiError,
    AsyncPresage,
    BadRequestError,
    ConfigurationError,
    ConflictError,
    Presage,
    RateLimitError,
    ServiceUnavailableError,
    UnreachableError,
    UnreadableAnswerError,
)
from presage._requests import Request, checked, unreachable
from presage._settings import checked_url

GET, POST = Request("GET", "/x"), Request("POST", "/x")
PREDICT = Request("POST", "/x", is_counted_once=True)


def answer(status: int, content: bytes = b"", **headers: str) -> httpx.Response:
    """Return a response of the service."""
    request = httpx.Request("GET", "http://service/x")
    return httpx.Response(status, headers=headers, content=content, request=request)


def broken(cause: httpx.TransportError) -> UnreachableError:
    """Return the error of a call without a response."""
    error = UnreachableError("x")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("request_", "error", "expected"),
    [
        (GET, broken(httpx.ReadError("x")), True),
        (POST, broken(httpx.ReadError("x")), True),
        (PREDICT, broken(httpx.ReadTimeout("x")), False),
        (POST, broken(httpx.ConnectError("x")), True),
        (GET, broken(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] x")), False),
        (GET, broken(httpx.ConnectTimeout("x")), False),
        (POST, RateLimitError(429, "x"), True),
        (POST, RateLimitError(429, "x", retry_after=2), 2),
        (GET, RateLimitError(429, "x", retry_after=3600), False),
        (POST, ServiceUnavailableError(503, "x"), True),
        (POST, ConflictError(409, "x", code="idempotency_key_under_way", retry_after=3), 3),
        (POST, ConflictError(409, "x"), False),
        (PREDICT, broken(httpx.ReadError("x")), False),
        (POST, ServiceUnavailableError(503, "x", code="machine_busy"), True),
        (PREDICT, ServiceUnavailableError(503, "x"), True),
        (GET, ServiceUnavailableError(503, "x"), True),
        (GET, BadRequestError(400, "x"), False),
        (GET, ValueError("x"), False),
    ],
)
def test_only_safe_calls_are_retried(request_, error, expected):
    """A prediction is retried only if it was certainly not counted, a call with a key always."""
    assert request_.pause(error) == expected


def test_changes_have_one_key_for_all_attempts():
    """Each call that changes something has a key; predictions and reads have none."""
    one, other = Request("PUT", "/x"), Request("PUT", "/x")
    sent = [one.arguments("t")["headers"] for _ in range(2)]

    assert sent[0] == sent[1]
    assert sent[0]["Idempotency-Key"] != other.arguments("t")["headers"]["Idempotency-Key"]
    for request in (GET, PREDICT, Request("POST", "/x", is_public=True)):
        assert "Idempotency-Key" not in request.arguments(None)["headers"]


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (httpx.ConnectError("refused"), "Cannot connect to https://x"),
        (httpx.ConnectError("[SSL: WRONG_VERSION_NUMBER]"), "does not speak TLS"),
        (httpx.ConnectTimeout("x"), "http:// or https://"),
        (httpx.ReadTimeout("x"), "did not answer in time."),
        (httpx.ReadError(""), "broke: ReadError"),
    ],
)
def test_connection_errors_name_cause_and_remedy(cause, text):
    """A wrong address, an unknown certificate and a broken connection have separate messages."""
    assert text in str(unreachable(cause, "https://x"))


@pytest.mark.parametrize("path", ["", "/", "/v2", "/v2/docs", "/v2/docs/"])
def test_address_of_the_docs_is_accepted(path):
    """The address that a browser shows is reduced to that of the service."""
    assert checked_url(f"https://presage.example/stage{path}") == "https://presage.example/stage"


def test_keys_that_cannot_sign_are_one_clear_line():
    """A damaged key is reported before anything is sent."""
    pem = "-----BEGIN RSA PRIVATE KEY-----\nxx\n-----END RSA PRIVATE KEY-----\n"
    with (
        Presage("http://127.0.0.1:9", "a@b.example", pem) as client,
        pytest.raises(ConfigurationError, match=r"not a usable RSA key: .*[^.]\.$"),
    ):
        client.usage()


def test_errors_have_the_members_of_the_response():
    """An error has status, code, message, detail, request id and retry-after."""
    body = b'{"message": "No.", "code": "machine_busy", "detail": "Full."}'
    headers = {"Retry-After": "3", "x-amzn-RequestId": "r"}
    with pytest.raises(ServiceUnavailableError) as caught:
        checked(answer(503, body, **headers))
    error = caught.value
    assert (error.status, error.code, error.message, error.detail) == (
        503,
        "machine_busy",
        "No.",
        "Full.",
    )
    assert (error.request_id, error.retry_after, str(error)) == ("r", 3.0, "No. Full.")


@pytest.mark.parametrize("status", [301, 418, 502])
def test_responses_of_other_servers_are_reported(status):
    """The page of a proxy raises an error that asks to check the address."""
    with pytest.raises(UnreadableAnswerError, match="check the address"):
        checked(answer(status, b"<html>", **{"Content-Type": "text/html"}))


def test_unknown_statuses_are_api_errors():
    """A status without a specific class raises ApiError with the service's message."""
    with pytest.raises(ApiError, match="Teapot"):
        checked(answer(418, b'{"message": "Teapot"}'))


def test_both_clients_have_the_same_surface():
    """Both clients have the same public names."""

    def surface(client: object) -> set[str]:
        parts = {"": client}
        for family in ("language", "vision"):
            found = getattr(client, family)
            parts[family] = found
            for name in ("datasets", "models", "examples", "feedback"):
                parts[f"{family}.{name}"] = getattr(found, name)
        return {f"{path}.{name}" for path, part in parts.items() for name in dir(part)} - {
            f".{name}" for name in ("__aenter__", "__aexit__", "__enter__", "__exit__")
        }

    with Presage(token="x") as client:
        assert surface(client) == surface(AsyncPresage(token="x"))
