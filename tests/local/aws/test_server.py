"""The emulated AWS behind its guard: counters, polls, access to S3, uploads."""

# ruff: noqa: S310 - the URLs are the running stack's

from __future__ import annotations

import concurrent.futures
import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.local.aws.signing import signed
from tests.local.wire import talk, wait_until

KEY = "incoming/a/b c+ü.bin"


@pytest.fixture(scope="module")
def s3(stack):
    """An S3 client that signs as the service does."""
    return stack.client(
        "s3", config=Config(signature_version="s3v4", s3={"addressing_style": "path"})
    )


def fetch(url, data=None, method=None):
    """Ask without boto3 and return status and body."""
    request = urllib.request.Request(url, data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


def test_conditional_counter_is_exact_under_64_threads(stack):
    """1,200 callers at a limit of 1,000 are admitted exactly 1,000 times."""
    table = "presage-counting"
    dynamodb = stack.client("dynamodb", config=Config(max_pool_connections=64))
    dynamodb.create_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )

    def add(_: int) -> bool:
        """Take one of the allowance."""
        try:
            dynamodb.update_item(
                TableName=table,
                Key={"id": {"S": "x"}},
                UpdateExpression="ADD used :one",
                ConditionExpression="attribute_not_exists(used) OR used < :limit",
                ExpressionAttributeValues={":one": {"N": "1"}, ":limit": {"N": "1000"}},
            )
        except ClientError as refused:
            return refused.response["Error"]["Code"] != "ConditionalCheckFailedException"
        return True

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        admitted = sum(pool.map(add, range(1200)))

    row = dynamodb.get_item(TableName=table, Key={"id": {"S": "x"}})["Item"]
    assert (admitted, row["used"]["N"]) == (1000, "1000")


def test_presigned_get_and_put_work(stack, s3):
    """A URL as the service makes it reads and writes, odd names included."""
    target = {"Bucket": "presage-data", "Key": KEY}
    put = s3.generate_presigned_url("put_object", target, ExpiresIn=60)
    get = s3.generate_presigned_url("get_object", target, ExpiresIn=60)

    assert fetch(put, b"\xff\x00data", "PUT")[0] == 200
    assert fetch(get) == (200, b"\xff\x00data")


def test_presigned_url_is_refused_when_forged(stack, s3):
    """Another key, another method, or a changed signature is refused."""
    s3.put_object(Bucket="presage-data", Key="secret.bin", Body=b"x")
    get = s3.generate_presigned_url("get_object", {"Bucket": "presage-data", "Key": "other.bin"})

    last = "1" if get.endswith("0") else "0"
    for url in (get.replace("other.bin", "secret.bin"), get[:-1] + last, get + "&versionId=1"):
        status, body = fetch(url)
        assert status == 403
        assert b"SignatureDoesNotMatch" in body
    assert fetch(get.replace("other.bin", "secret.bin"), b"y", "PUT")[0] == 403


def test_presigned_url_is_refused_when_expired(stack, s3):
    """An expired presigned URL is refused."""
    target = {"Bucket": "presage-data", "Key": "x.bin"}
    s3.put_object(**target, Body=b"x")
    url = s3.generate_presigned_url("get_object", target, ExpiresIn=1)
    assert fetch(url)[0] == 200

    time.sleep(1.2)
    status, body = fetch(url)

    assert status == 403
    assert b"Request has expired" in body


def test_unsigned_request_is_refused(stack, s3):
    """The bucket is private: unsigned requests cannot read, list or write."""
    s3.put_object(Bucket="presage-data", Key="y.bin", Body=b"x")
    address = f"{s3.meta.endpoint_url}/presage-data/"

    statuses = [
        fetch(address + "y.bin")[0],
        fetch(address)[0],
        fetch(address + "z", b"x", "PUT")[0],
    ]

    assert statuses == [403, 403, 403]


def form(fields, content, name="file.bin"):
    """Write a multipart form with a file at its end."""
    parts = [
        f'--B\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n'
        for n, v in fields.items()
    ]
    head = f'--B\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return ("".join(parts) + head).encode() + content + b"\r\n--B--\r\n"


def post_form(url, fields, content):
    """Send a form."""
    headers = {"Content-Type": "multipart/form-data; boundary=B"}
    request = urllib.request.Request(url, form(fields, content), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


@pytest.fixture
def upload(s3):
    """A presigned form for one key and 10 to 1,000 bytes."""
    return s3.generate_presigned_post(
        "presage-data",
        "incoming/1/form.bin",
        Conditions=[["content-length-range", 10, 1000]],
        ExpiresIn=60,
    )


def test_presigned_form_works(s3, upload):
    """A form as the service makes it stores the file."""
    content = bytes(range(256))

    status, _ = post_form(upload["url"], upload["fields"], content)

    stored = s3.get_object(Bucket="presage-data", Key="incoming/1/form.bin")["Body"].read()
    assert status in (200, 201, 204)
    assert content == stored


@pytest.mark.parametrize(
    ("changes", "size", "code"),
    [
        ({}, 1001, b"EntityTooLarge"),
        ({}, 9, b"EntityTooSmall"),
        ({"key": "incoming/2/form.bin"}, 100, b"AccessDenied"),
        ({"x-amz-signature": "0" * 64}, 100, b"SignatureDoesNotMatch"),
        ({"policy": "e30="}, 100, b"SignatureDoesNotMatch"),
        ({"acl": "public-read"}, 100, b"AccessDenied"),
    ],
)
def test_presigned_form_is_refused_when_the_policy_does_not_hold(upload, changes, size, code):
    """A form that violates its policy in size, key, signature or fields is refused."""
    status, body = post_form(upload["url"], {**upload["fields"], **changes}, bytes(size))

    assert status in (400, 403)
    assert code in body


def test_presigned_form_is_refused_in_another_bucket_and_when_expired(s3, upload):
    """The policy's bucket and time are checked."""
    late = s3.generate_presigned_post("presage-data", "k", ExpiresIn=-1)
    elsewhere = upload["url"].replace("presage-data", "other-data")

    assert post_form(late["url"], late["fields"], b"x")[0] == 403
    assert post_form(elsewhere, upload["fields"], bytes(100))[0] == 403


def test_put_with_expect_continue_does_not_wait(s3):
    """boto3 asks for a 100 Continue at every put; it must come at once."""
    began = time.monotonic()

    for number in range(5):
        s3.put_object(Bucket="presage-data", Key=f"many/{number}", Body=io.BytesIO(b"x" * 100_000))

    assert time.monotonic() - began < 2


def test_object_is_not_stored_when_the_body_is_truncated(stack, s3):
    """An aborted put stores nothing."""
    url = s3.generate_presigned_url("put_object", {"Bucket": "presage-data", "Key": "half.bin"})
    parts = urllib.parse.urlsplit(url)
    head = f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n"

    talk(
        f"http://{parts.netloc}",
        f"{head}Content-Length: 1000\r\n\r\nonly this".encode(),
        is_half_closed=True,
    )

    with pytest.raises(ClientError):
        s3.head_object(Bucket="presage-data", Key="half.bin")


def poll_request(stack, url, seconds):
    """Write and sign a long poll by hand."""
    body = json.dumps({"QueueUrl": url, "WaitTimeSeconds": seconds}).encode()
    headers = signed(
        stack,
        "sqs",
        body=body,
        headers={
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "AmazonSQS.ReceiveMessage",
        },
    )
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST / HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_long_poll_blocks_no_call_and_wakes_at_once(stack):
    """While a poll waits other calls continue, and a message ends it within milliseconds."""
    sqs, dynamodb = stack.client("sqs"), stack.client("dynamodb")
    url = sqs.create_queue(QueueName="own")["QueueUrl"]

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(sqs.receive_message, QueueUrl=url, WaitTimeSeconds=10)
        time.sleep(0.3)
        began = time.monotonic()
        dynamodb.list_tables()
        sqs.send_message(QueueUrl=url, MessageBody="hello")
        received = waiting.result()
        took = time.monotonic() - began

    assert received["Messages"][0]["Body"] == "hello"
    assert took < 0.7


def test_long_poll_sees_a_delayed_message(stack):
    """A message that becomes visible by time ends a poll, too."""
    sqs = stack.client("sqs")
    url = sqs.create_queue(QueueName="delayed")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="later", DelaySeconds=1)

    began = time.monotonic()
    received = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5)

    assert received["Messages"][0]["Body"] == "later"
    assert 0.7 < time.monotonic() - began < 2


def test_poll_of_a_dead_client_swallows_nothing(stack):
    """A message sent after a polling client died goes to the next client."""
    sqs = stack.client("sqs")
    url = sqs.create_queue(QueueName="abandoned")["QueueUrl"]
    host, port = stack.environment["AWS_ENDPOINT_URL"].removeprefix("http://").split(":")
    for _ in range(5):
        with socket.create_connection((host, int(port))) as dead:
            dead.sendall(poll_request(stack, url, 20))
            time.sleep(0.05)
        sqs.send_message(QueueUrl=url, MessageBody="for the living")

        received = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=2)

        assert received["Messages"][0]["Body"] == "for the living"
        sqs.delete_message(QueueUrl=url, ReceiptHandle=received["Messages"][0]["ReceiptHandle"])


def test_only_loopback_is_bound(stack):
    """Every listening socket of the stack is on 127.0.0.1."""
    wanted = {str(stack.pid), *map(str, stack.processes.values())}
    inodes = set()
    for pid in wanted:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                target = os.readlink(entry.path)
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
    listening = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as rows:
            fields = [row.split() for row in rows][1:]
        listening += [f[1] for f in fields if f[3] == "0A" and f[9] in inodes]

    assert listening
    assert {"0100007F"} == {place.split(":")[0] for place in listening}


def test_data_plane_and_supervisor_load_no_engine(stack):
    """The supervisor and the emulated AWS hold neither numpy nor onnxruntime."""
    wait_until(lambda: stack.description["is_ready"])
    for pid in (stack.pid, stack.processes["aws"]):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            text = maps.read()
        assert "numpy" not in text
        assert "onnxruntime" not in text


def test_an_idle_connection_that_is_closed_is_not_logged():
    """Closing an idle connection logs nothing; other errors are logged."""
    code = (
        "from infra.local.aws.server import Handler;"
        "handler = Handler.__new__(Handler); handler.client_address = ('127.0.0.1', 1);"
        "handler.log_error('Request timed out: %r', TimeoutError('timed out'));"
        "handler.log_error('code %d', 400)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "timed out" not in done.stderr
    assert "code 400" in done.stderr
