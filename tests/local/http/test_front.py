"""The HTTP front over real sockets: events, limits, odd clients."""

# ruff: noqa: S310 - the URLs are the running stack's

from __future__ import annotations

import base64
import concurrent.futures
import http.client
import io
import json
import os
import time
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

from app import app
from infra.local.http.dispatcher import HEAVY, SHORT
from infra.local.http.front import Front, GatewayLimits
from infra.local.http.server import HEADERS_KEY
from tests.local.wire import talk

CRLF = b"\r\n"


def post(stack, path, body, content_type="application/octet-stream", headers=None):
    """POST bytes and return the decoded JSON answer."""
    request = urllib.request.Request(
        stack.url + path, data=body, headers={"Content-Type": content_type, **(headers or {})}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def error_of(answer):
    """Check that an answer is an error in the service's shape and return its code."""
    assert answer.headers["content-type"] == "application/json"
    body = json.loads(answer.body)
    assert set(body) == {"message", "code"}
    return body["code"]


@pytest.mark.parametrize(
    ("method", "path", "body", "kind"),
    [
        ("GET", "/v2/apiusage", b"", SHORT),
        ("POST", "/v2/language/intent", b"{}", SHORT),
        ("POST", "/v2/language/sentiment", b"{}", SHORT),
        ("POST", "/v2/vision/predict", b"an image", HEAVY),
        ("POST", "/v2/vision/detect", b"sampleLocation http://" + bytes(20_000), HEAVY),
        ("POST", "/v1/vision/ocr", b'{"sampleLocation": "uploads/a"}', HEAVY),
        ("POST", "/v2/vision/ocr", b'{"sampleLocation": "https://a.test/b.png"}', None),
        ("POST", "/v2/language/datasets/upload/sync", b"", None),
        ("GET", "/v2/unknown", b"", None),
    ],
)
def test_floods_of_predictions_take_turns(method, path, body, kind):
    """Accounts take turns at the engines; calls waiting for another host do not count."""
    front, stream = Front(app, "presage-api", GatewayLimits()), io.BytesIO(body)
    request = SimpleNamespace(command=method, path=path, get_body_stream=lambda: stream)

    assert front.kind_of(request) is kind
    assert stream.read() == body


@pytest.mark.parametrize("kind", ["application/octet-stream", "multipart/form-data; boundary=x"])
def test_body_arrives_unchanged_when_binary(stack, kind):
    """Bytes of a binary type reach the application as they were sent."""
    body = bytes(range(256)) * 300

    answer = post(stack, "/v2/echo", body, kind)

    assert body == base64.b64decode(answer["body"])


def test_body_arrives_unchanged_when_text_is_not_utf8(stack):
    """Latin-1 bytes under a text type are not damaged on their way."""
    body = "Zürich".encode("latin-1")

    answer = post(stack, "/v2/echo", body, "text/plain")

    assert body == base64.b64decode(answer["body"])


def test_query_keeps_repeated_names_and_is_decoded(stack):
    """The last of repeated names wins for Chalice, and values are decoded."""
    answer = post(stack, "/v2/echo?a=1&a=2&b=%20x+y&empty=", b"x")

    assert answer["query"] == {"a": "2", "b": " x y", "empty": ""}


def test_path_parameter_is_not_decoded(stack):
    """A path parameter reaches the view as it was sent, as on API Gateway."""
    answer = post(stack, "/v2/who/5%20x%2Fy", b'{"who": 1}', "application/json")

    assert answer["path"] == "5%20x%2Fy"


def test_literal_path_wins_over_variable(stack):
    """A template without a variable is chosen first."""
    request = urllib.request.Request(stack.url + "/v2/who/fixed", data=b"{}", method="POST")
    request.add_header("Content-Type", "application/json")

    with urllib.request.urlopen(request) as answer:
        assert answer.status == 204
        assert answer.headers["Content-Length"] is None


def test_trailing_slash_is_accepted(stack):
    """A slash at the end changes nothing."""
    with urllib.request.urlopen(stack.url + "/v2/nothing/") as answer:
        assert json.load(answer) == {"object": "nothing"}


def test_request_context_is_genuine(stack):
    """The event carries identity, stage, resource and request id."""
    with urllib.request.urlopen(stack.url + "/v2/context") as answer:
        context = json.load(answer)["context"]
        request_id = answer.headers["x-amzn-RequestId"]

    assert context["identity"]["sourceIp"] == "127.0.0.1"
    assert (
        context["stage"],
        context["resourcePath"],
        context["httpMethod"],
    ) == ("api", "/v2/context", "GET")
    assert request_id == context["requestId"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nowhere"),
        ("GET", "/v2//nothing"),
        ("POST", "/v2/nothing"),
        ("OPTIONS", "/nowhere"),
        ("POST", "/v2/who/"),
    ],
)
def test_unknown_path_or_method_is_a_fixed_404(stack, method, path):
    """An unknown path or method is a 404 whose body echoes nothing."""
    answer = talk(
        stack.url, f"{method} {path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n".encode()
    )

    assert answer.status == 404
    assert error_of(answer) == "route_not_found"
    assert b"nowhere" not in answer.body


def test_head_has_no_body(stack):
    """A HEAD request is answered without a body and the connection stays in step."""
    connection = http.client.HTTPConnection(stack.url.removeprefix("http://"), timeout=5)

    connection.request("HEAD", "/v2/nothing")
    head = connection.getresponse()
    head_body = head.read()
    connection.request("GET", "/v2/nothing")
    after = connection.getresponse()
    after_body = after.read()
    connection.close()

    assert (head.status, head_body) == (404, b"")
    assert (after.status, after_body) == (200, b'{"object":"nothing"}')


@pytest.mark.parametrize(("path", "length"), [("/v2/sized", "10"), ("/v2/unsized", None)])
def test_head_has_the_length_that_the_application_gave(stack, path, length):
    """HEAD has GET's headers and length, and never a body."""
    answer = talk(stack.url, f"HEAD {path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n".encode())

    found = (answer.status, answer.body, answer.headers.get("etag"))
    assert found == (200, b"", '"a"')
    assert answer.headers.get("content-length") == length
    assert "transfer-encoding" not in answer.headers


def test_chunked_upload_that_waits_for_continue(stack):
    """A client that streams chunks after a 100 Continue is served, at once."""
    host, port = stack.url.removeprefix("http://").split(":")
    body = os.urandom(300_000)
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.connect()
    head = (
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nContent-Type: application/octet-stream\r\n"
        b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    began = time.monotonic()
    connection.sock.sendall(head)
    first = connection.sock.recv(4096)
    waited = time.monotonic() - began
    for start in range(0, len(body), 70_000):
        part = body[start : start + 70_000]
        connection.sock.sendall(b"%x\r\n" % len(part) + part + CRLF)
    connection.sock.sendall(b"0\r\n\r\n")
    received = b""
    while block := connection.sock.recv(65536):
        received += block
    connection.close()

    assert first == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert waited < 0.5
    assert body == base64.b64decode(json.loads(received.partition(CRLF * 2)[2])["body"])


def test_get_that_expects_continue_is_answered(stack):
    """A request without a body is answered although it asks for a 100 Continue."""
    answer = talk(
        stack.url,
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        seconds=3,
    )

    assert answer.status == 200


def test_large_header_is_a_431(stack):
    """A header of 1 MB is refused in our shape, and the client gets to read it."""
    answer = talk(
        stack.url, b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nX-Big: ", b"a" * 1_000_000, CRLF * 2
    )

    assert answer.status == 431
    assert error_of(answer) == "headers_too_large"


@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"])
def test_huge_content_length_is_refused_at_once(stack, expect):
    """A declared size of 5 GB is refused at once with limit and alternative."""
    began = time.monotonic()

    answer = talk(
        stack.url,
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nContent-Length: 5368709120\r\n" + expect + CRLF,
        is_half_closed=True,
    )

    assert answer.status == 413
    assert time.monotonic() - began < 1
    assert error_of(answer) == "too_large"
    assert b"POST /v2/uploads" in answer.body
    assert b"54525952" in answer.body
    assert b"5368709120" in answer.body


def test_huge_body_in_chunks_is_refused_and_the_answer_read(stack):
    """A client that streams on past the limit reads the 413 instead of a broken connection."""
    chunk = b"100000\r\n" + bytes(0x100000) + CRLF

    answer = talk(
        stack.url,
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n",
        *[chunk] * 60,
        is_half_closed=True,
    )

    assert answer.status == 413


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET /v2/caf\xc3\xa9 HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nbroken header\r\n\r\n",
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nContent-Length: 4x\r\n\r\nabcd",
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 9000,
    ],
)
def test_malformed_http_is_a_400_in_our_shape(stack, request_bytes):
    """Input that is not HTTP is answered like any other error."""
    answer = talk(stack.url, request_bytes, seconds=5)

    assert answer.status == 400
    assert error_of(answer) == "bad_request"


def test_unknown_transfer_encoding_is_a_501(stack):
    """A transfer encoding that is not spoken is refused in our shape."""
    answer = talk(stack.url, b"POST /v2/echo HTTP/1.1\r\nHost:\r\nTransfer-Encoding: gzip\r\n\r\n")

    assert answer.status == 501
    assert error_of(answer) == "not_implemented"


def test_truncated_body_reaches_no_view_and_harms_no_call(stack):
    """An aborted body reaches no view and affects no other call."""
    answer = talk(
        stack.url,
        b"POST /v2/echo HTTP/1.1\r\nHost:\r\nContent-Length: 100\r\n\r\nabc",
        is_half_closed=True,
        seconds=3,
    )

    assert answer.status == 0
    assert post(stack, "/v2/echo", b"still here")["length"] == 10


def test_requests_are_not_mixed_under_threads(stack):
    """320 requests from 32 threads each see their own request from beginning to end."""

    def ask(number: int) -> dict[str, object]:
        """Send one request that knows who it is."""
        body = json.dumps({"who": number}).encode()
        return post(stack, f"/v2/who/{number}", body, "application/json")

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(ask, range(320)))

    assert [{"path": str(n), "first": n, "second": n} for n in range(320)] == answers


def test_chalice_errors_pass(stack):
    """The application's own errors keep their status."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(stack.url + "/v2/broken")

    assert caught.value.code == 400
    caught.value.close()


def test_work_beyond_the_time_limit_is_a_504():
    """With a time limit the caller is answered when it is over, not when the work is."""

    class Slow:
        """An application that takes a second."""

        routes = {"/slow": ["GET"]}
        api = SimpleNamespace(binary_types=[])

        def __call__(self, event, context):
            time.sleep(1)
            return {"statusCode": 200, "body": "late"}

    environ = {
        "REQUEST_URI": "/slow",
        "REQUEST_METHOD": "GET",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": io.BytesIO(),
        HEADERS_KEY: (),
    }
    statuses = []

    began = time.monotonic()
    body = Front(Slow(), "slow", GatewayLimits(seconds=0.1))(
        environ, lambda s, h: statuses.append(s)
    )

    assert time.monotonic() - began < 0.8
    assert statuses == ["504 Gateway Timeout"]
    assert json.loads(b"".join(body))["code"] == "timed_out"


def test_absolute_request_line_is_understood(stack):
    """A proxy's request line names the whole URL."""
    answer = talk(
        stack.url,
        b"POST http://x/v2/who/caf%C3%A9?a=1 HTTP/1.1\r\nHost:\r\nContent-Length: 9\r\n"
        b'Content-Type: application/json\r\nConnection: close\r\n\r\n{"who":1}',
    )

    assert json.loads(answer.body)["path"] == "caf%C3%A9"


def test_client_that_came_too_fast_waits(stack):
    """A caller asked to retry in a second is delayed for that time; others are not."""
    host = stack.url.removeprefix("http://")
    flood, other = (http.client.HTTPConnection(host, timeout=20) for _ in range(2))

    def get(connection, path):
        """Call once; return the status and how long it took."""
        began = time.monotonic()
        connection.request("GET", path)
        with connection.getresponse() as answer:
            answer.read()
        return answer.status, time.monotonic() - began

    assert get(flood, "/v2/too-fast")[0] == 429
    status, seconds = get(other, "/v2/nothing")
    assert (status, seconds < 0.9) == (200, True)
    status, seconds = get(flood, "/v2/nothing")
    assert (status, 0.5 < seconds < 5) == (200, True)
    assert get(flood, "/v2/nothing")[0] == 200
    for connection in (flood, other):
        connection.close()
