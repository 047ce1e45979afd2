"""Bodies of requests to the emulated AWS: read after the checks, and complete or refused."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from botocore.config import Config

from infra.local.aws.s3_access import FIELDS_BYTES
from infra.local.aws.server import DROPPING_SECONDS
from infra.local.aws.write_pause import PATH
from tests.aws_keys import KEYS
from tests.local.aws.signing import signed
from tests.local.aws.test_guard import BUCKET, forged
from tests.local.aws.test_server import form
from tests.local.wire import RawAnswer, talk, wait_until
from tests.local_stack import LocalStack

KEY = f"{BUCKET}/body.bin"
NOW = datetime.now(UTC)
SIGNED = (
    f"X-Amz-Date={NOW:%Y%m%dT%H%M%SZ}&X-Amz-SignedHeaders=host"
    f"&X-Amz-Credential={KEYS['AWS_ACCESS_KEY_ID']}/{NOW:%Y%m%d}/us-east-1/s3/aws4_request"
)
LARGE = {"Content-Length": "9000000000"}
FORM = {"Content-Type": "multipart/form-data; boundary=B", **LARGE}


def ask(stack: LocalStack, line: str, headers: dict[str, str], body: bytes = b"") -> RawAnswer:
    """Send the head of a request, some of its body, and no more."""
    url = stack.environment["AWS_ENDPOINT_URL"]
    given = {"Host": url.removeprefix("http://"), "Connection": "close", **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return talk(url, f"{line} HTTP/1.1\r\n{head}\r\n".encode() + body, seconds=30)


def address(stack: LocalStack) -> tuple[str, str]:
    """Return the emulator's URL and the header line of its host."""
    url = stack.environment["AWS_ENDPOINT_URL"]
    return url, f"Host: {url.removeprefix('http://')}\r\n"


def presigned(stack: LocalStack) -> str:
    """Return the path and query of an upload that is signed in its URL."""
    client = stack.client("s3", config=Config(signature_version="s3v4"))
    target = {"Bucket": BUCKET.strip("/"), "Key": "body.bin"}
    url = str(client.generate_presigned_url("put_object", target))
    return url.removeprefix(stack.environment["AWS_ENDPOINT_URL"])


@pytest.mark.parametrize(
    ("line", "headers", "begun"),
    [
        (f"PUT {KEY}", LARGE, b""),
        (f"PUT {KEY}", {"Transfer-Encoding": "chunked"}, b""),
        (f"PUT {KEY}", {**LARGE, "Expect": "100-continue"}, b""),
        (f"PUT {KEY}", {**LARGE, **forged("s3")}, b""),
        (f"PUT {KEY}", {**LARGE, **forged("s3"), "X-Amz-Content-SHA256": "0" * 64}, b"begun"),
        (f"PUT {KEY}?X-Amz-Signature=0", LARGE, b""),
        (f"PUT {KEY}?{SIGNED}&X-Amz-Expires=-{10**30}&X-Amz-Signature=0", LARGE, b""),
        (f"PUT {KEY}?{SIGNED}&X-Amz-Expires={10**30}&X-Amz-Signature=%C3%A9", LARGE, b""),
        ("POST /", {**LARGE, **forged("dynamodb", "DynamoDB_20120810.PutItem")}, b"{"),
        ("POST /", {**LARGE, **forged("sqs", "AmazonSQS.SendMessage")}, b""),
        (f"PUT {KEY}", {**LARGE, "Host": "rebound.example"}, b""),
        (f"POST {PATH}", LARGE, b""),
        (f"POST {BUCKET}", FORM, form({"key": "evil"}, bytes(FIELDS_BYTES))),
        (f"POST {BUCKET}", FORM, form({"key": "a" * FIELDS_BYTES}, b"x")),
        (f"POST {BUCKET}", {**FORM, "Content-Type": "multipart/form-data"}, bytes(FIELDS_BYTES)),
    ],
)
def test_body_of_a_stranger_is_not_read(
    stack: LocalStack, line: str, headers: dict[str, str], begun: bytes
) -> None:
    """A request without a valid signature is refused while its body of 9 GB is still awaited."""
    answer = ask(stack, line, headers, begun)

    assert answer.status in (400, 403)
    assert b"Code>" in answer.body or b"__type" in answer.body
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("last", ["", "0" * 64], ids=["signed", "forged"])
def test_body_without_a_digest_is_limited(stack: LocalStack, last: str) -> None:
    """A call whose whole body is signed may not have one of gigabytes, even if forged."""
    headers = signed(stack, "dynamodb", headers={"X-Amz-Target": "DynamoDB_20120810.PutItem"})
    kept = len(headers["Authorization"]) - len(last)
    headers["Authorization"] = headers["Authorization"][:kept] + last

    answer = ask(stack, "POST /", {**headers, **LARGE}, bytes(17 * 1024 * 1024))

    assert (answer.status, b"16777216 bytes" in answer.body) == (400, True)


def is_dropped(connection: socket.socket) -> bool:
    """Send one byte; return whether the server has closed the connection."""
    try:
        connection.sendall(b"x")
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def test_slow_client_is_not_waited_for(stack: LocalStack) -> None:
    """A client that sends a refused body byte by byte is dropped after seconds."""
    url = stack.environment["AWS_ENDPOINT_URL"]
    host, port = url.removeprefix("http://").split(":")
    head = f"PUT {KEY} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 9000000000\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head.encode())
        wait_until(lambda: is_dropped(connection), 10 * DROPPING_SECONDS)


def test_continue_is_sent_only_to_the_request_that_asks(stack: LocalStack) -> None:
    """After a request that asks for it without a body, the next one gets no 100 Continue."""
    url, host = address(stack)
    first = f"GET {BUCKET} HTTP/1.1\r\n{host}Expect: 100-continue\r\n\r\n"
    form_head = f"{host}Content-Type: {FORM['Content-Type']}\r\nConnection: close\r\n"
    second = f"POST {BUCKET} HTTP/1.1\r\n{form_head}Content-Length: 5\r\n\r\nhello"

    talked = talk(url, first.encode(), second.encode(), seconds=30)

    assert talked.status == 403
    assert b"HTTP/1.1 4" in talked.body
    assert b"100 Continue" not in talked.body


@pytest.fixture
def quiet(stack: LocalStack) -> Iterator[LocalStack]:
    """A stack that prints no traceback during the test."""
    yield stack
    assert "Traceback" not in stack.log()


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        ("Content-Length: -5", b"hello"),
        ("Content-Length: five", b"hello"),
        ("Content-Length: 1_0", b"hello"),
        ("Content-Length: 9", b"hello"),
        ("Transfer-Encoding: chunked", b""),
        ("Transfer-Encoding: chunked", b"5\r\nhel"),
        ("Transfer-Encoding: chunked", b"5\r\nhello"),
        ("Transfer-Encoding: chunked", b"5\r\nhello\r\n"),
        ("Transfer-Encoding: chunked", b"5\r\nhello\r\n0\r\n"),
        ("Transfer-Encoding: chunked", b"-5\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"5\r\nhello, world\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"\xff\r\n"),
    ],
)
def test_broken_body_is_a_400(quiet: LocalStack, framing: str, body: bytes) -> None:
    """A body that ends early, or whose framing is wrong, is refused and not stored."""
    url, host = address(quiet)
    request = f"PUT {presigned(quiet)} HTTP/1.1\r\n{host}{framing}\r\n\r\n".encode() + body

    answer = talk(url, request, seconds=30, is_half_closed=True)

    assert (answer.status, answer.headers["connection"]) == (400, "close")
    assert b"<Code>IncompleteBody</Code>" in answer.body
    keys = quiet.client("s3").list_objects_v2(Bucket=BUCKET.strip("/")).get("Contents", ())
    assert "body.bin" not in {one["Key"] for one in keys}


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        ("Content-Length: 5", b"hello"),
        ("Transfer-Encoding: chunked", b"5\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: Chunked", b"2;a=b\r\nhe\r\n03\r\nllo\r\n0\r\nX-Trailer: 1\r\n\r\n"),
        ("Content-Length: 5\r\nExpect: 100-continue", b"hello"),
    ],
)
def test_whole_body_keeps_the_connection(stack: LocalStack, framing: str, body: bytes) -> None:
    """Bodies of either framing are stored, and the connection takes the next request."""
    url, host = address(stack)
    first = f"PUT {presigned(stack)} HTTP/1.1\r\n{host}{framing}\r\n\r\n".encode() + body
    second = f"GET {BUCKET} HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode()

    talked = talk(url, first, second, seconds=30)

    assert talked.status == (100 if "Expect" in framing else 200)
    assert b"HTTP/1.1 403" in talked.body
    found = stack.client("s3").get_object(Bucket=BUCKET.strip("/"), Key="body.bin")
    assert found["Body"].read() == b"hello"
    stack.client("s3").delete_object(Bucket=BUCKET.strip("/"), Key="body.bin")
