"""Cross-origin calls as browsers make them: preflight, call, and readable headers."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from infra.resources import own_pages
from tests.local_stack import LocalStack

PAGE, STRANGER = "https://shop.example", "https://other.example"
INTENT = "/v2/language/intent"
EXPOSED = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotency-Replayed, Link, "
    "Retry-After"
)


@pytest.fixture(scope="module")
def open_stack(closed_network: None) -> Iterator[LocalStack]:
    """A stack that allows two origins."""
    allowed = f"{PAGE}/, http://localhost:3000"
    with LocalStack(environment={"PRESAGE_ALLOW_ORIGINS": allowed}) as running:
        yield running


def send(url: str, method: str, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    """Send a request without a body; return status and headers with lower-case names."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(
            method, path, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


def preflight(url: str, origin: str, path: str = INTENT) -> tuple[int, dict[str, str]]:
    """Send the preflight of a call with a token."""
    asked = {
        "Access_Control_Request_Method": "POST",
        "Access_Control_Request_Headers": "authorization,content-type",
    }
    return send(url, "OPTIONS", path, Origin=origin, **asked)


def test_page_of_an_allowed_origin_calls(open_stack: LocalStack) -> None:
    """An allowed origin gets method, headers and a readable answer, never with cookies."""
    status, allowed = preflight(open_stack.url, PAGE)

    assert (status, allowed["access-control-allow-origin"]) == (204, PAGE)
    assert "POST" in allowed["access-control-allow-methods"].split(", ")
    sent = allowed["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "content-type"} <= set(sent)
    assert int(allowed["access-control-max-age"]) > 0
    for answer in (allowed, send(open_stack.url, "POST", INTENT, Origin=PAGE)[1]):
        assert answer["access-control-allow-origin"] == PAGE
        assert answer["access-control-expose-headers"] == EXPOSED
        assert answer["vary"] == "Origin"
        assert "access-control-allow-credentials" not in answer


def test_page_of_another_origin_may_not(open_stack: LocalStack) -> None:
    """Another origin cannot read answers, and caches keep answers per origin."""
    for _, answer in (
        preflight(open_stack.url, STRANGER),
        send(open_stack.url, "GET", "/v2/health", Origin=STRANGER),
    ):
        assert "access-control-allow-origin" not in answer
        assert answer["vary"] == "Origin"


def test_what_the_gateway_says_may_be_read(open_stack: LocalStack) -> None:
    """Answers of the gateway itself, such as 404 and 413, are readable, too."""
    unknown, answer = send(open_stack.url, "GET", "/v2/nothing", Origin=PAGE)
    assert (unknown, answer["access-control-allow-origin"]) == (404, "*")
    large, answer = send(open_stack.url, "POST", INTENT, Origin=PAGE, Content_Length="9" * 12)
    assert (large, answer["access-control-allow-origin"]) == (413, "*")


def test_bucket_allows_the_same(open_stack: LocalStack) -> None:
    """The bucket allows presigned forms from the stack's and the allowed origins only."""
    s3, bucket = open_stack.client("s3"), open_stack.settings.bucket

    [rule] = s3.get_bucket_cors(Bucket=bucket)["CORSRules"]

    own = own_pages(urlsplit(open_stack.url).port or 0)
    assert rule["AllowedOrigins"] == [*own, PAGE, "http://localhost:3000"]
    assert set(rule["AllowedMethods"]) == {"GET", "POST"}


def test_console_sends_large_files(stack: LocalStack) -> None:
    """A page of the stack itself can send forms to the bucket and read the result."""
    url, path = str(stack.settings.endpoint_url), f"/{stack.settings.bucket}"
    asked = {"Access_Control_Request_Method": "POST"}
    # A POST without a form is refused: 412 as S3 does, 403 where the form is looked at first.
    for method, statuses in (("OPTIONS", (200,)), ("POST", (403, 412))):
        answered, answer = send(url, method, path, Origin=stack.url, **asked)
        assert answered in statuses
        assert answer["access-control-allow-origin"] == stack.url


def test_no_page_by_default(stack: LocalStack) -> None:
    """Without the setting OPTIONS lists the methods, and no other origin can read answers."""
    status, answer = preflight(stack.url, PAGE)
    unknown, refused = send(stack.url, "GET", "/v2/nothing", Origin=PAGE)

    assert (status, answer["allow"]) == (204, "POST, OPTIONS")
    assert unknown == 404
    assert "access-control-allow-origin" not in answer | refused
