"""Attacks on the emulated AWS from web pages and from other users of the machine."""

from __future__ import annotations

import http.client
import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.config import Config

from infra.local.aws.write_pause import CONTROL_HEADER, HEADER, PATH, control_secret
from tests.local.aws.signing import signed
from tests.local.aws.test_server import form
from tests.local.wire import TINY
from tests.local_stack import LocalStack

STRANGER = "https://attacker.example"
BUCKET = "/presage-data"
FORGED = (
    "AWS4-HMAC-SHA256 Credential=test/{date}/us-east-1/{service}/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=" + "0" * 64
)


@pytest.fixture(scope="module")
def s3(stack: LocalStack):
    """An S3 client that signs as the service does."""
    return stack.client(
        "s3", config=Config(signature_version="s3v4", s3={"addressing_style": "path"})
    )


def send(stack: LocalStack, method: str, path: str, body: bytes = b"", **headers: str):
    """Send a request; return its status, headers by names in small letters, and content."""
    netloc = urlsplit(stack.environment["AWS_ENDPOINT_URL"]).netloc
    connection = http.client.HTTPConnection(netloc, timeout=20)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, given)
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, content
    finally:
        connection.close()


def forged(service: str, target: str = "") -> dict[str, str]:
    """Return headers that name a key everyone knows, with a made-up signature."""
    now = datetime.now(UTC)
    made = {
        "Authorization": FORGED.format(date=f"{now:%Y%m%d}", service=service),
        "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
    }
    return made | ({"X-Amz-Target": target} if target else {})


ROW = {"account_id": {"S": "666"}, "email": {"S": "me@attacker.example"}}
ATTACKS = {
    "lists buckets": ("GET", "/", b"", forged("s3")),
    "lists objects": ("GET", f"{BUCKET}?list-type=2", b"", {}),
    "lists objects with a known key": ("GET", f"{BUCKET}?list-type=2", b"", forged("s3")),
    "reads an object": ("GET", f"{BUCKET}/secret.bin", b"", {}),
    "reads an object with a known key": ("GET", f"{BUCKET}/secret.bin", b"", forged("s3")),
    "writes an object": ("PUT", f"{BUCKET}/evil", b"x", forged("s3")),
    "deletes an object": ("DELETE", f"{BUCKET}/secret.bin", b"", forged("s3")),
    "reads rows": (
        "POST",
        "/",
        json.dumps({"TableName": "presage-accounts"}).encode(),
        forged("dynamodb", "DynamoDB_20120810.Scan"),
    ),
    "writes a row": (
        "POST",
        "/",
        json.dumps({"TableName": "presage-accounts", "Item": ROW}).encode(),
        forged("dynamodb", "DynamoDB_20120810.PutItem"),
    ),
    "lists queues": ("POST", "/", b"{}", forged("sqs", "AmazonSQS.ListQueues")),
    "reads secrets": ("POST", "/", b"{}", forged("secretsmanager", "secretsmanager.ListSecrets")),
    "pauses writes": ("POST", PATH, b"", {}),
    "reads the number of writes": ("GET", PATH, b"", {}),
    "ends a pause": ("DELETE", PATH, b"", {HEADER: "x"}),
    "resets the emulator": ("POST", "/moto-api/reset", b"", {}),
    "resets the emulator with a known key": ("POST", "/moto-api/reset", b"", forged("s3")),
    "posts a form without a policy": (
        "POST",
        BUCKET,
        form({"key": "evil"}, b"x"),
        {"Content-Type": "multipart/form-data; boundary=B"},
    ),
}


@pytest.mark.parametrize("origin", [STRANGER, "null", "http://127.0.0.1:1", ""])
@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_refused(stack: LocalStack, s3, name: str, origin: str) -> None:
    """Without the keys nothing can be listed, read, written or controlled."""
    s3.put_object(Bucket="presage-data", Key="secret.bin", Body=b"secret")
    method, path, body, headers = ATTACKS[name]
    page = {"Origin": origin} if origin else {}

    status, shown, content = send(stack, method, path, body, **headers, **page)

    assert status == 403, content
    assert b"secret" not in content
    assert "access-control-allow-origin" not in shown
    listed = s3.list_objects_v2(Bucket="presage-data")["Contents"]
    assert "secret.bin" in {one["Key"] for one in listed}
    assert "evil" not in {one["Key"] for one in listed}
    row = stack.client("dynamodb").get_item(
        TableName="presage-accounts", Key={"account_id": ROW["account_id"]}
    )
    assert "Item" not in row


def test_presigned_url_outlives_a_restart(tmp_path: Path) -> None:
    """Keys and port of the emulated AWS are the same after a restart."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {"PRESAGE_AWS_PORT": port, "TINY_DIARY": str(tmp_path / "notes.txt")}
    with LocalStack(TINY, ["--bare"], environment) as stack:
        client = stack.client("s3", config=Config(signature_version="s3v4"))
        client.put_object(Bucket="presage-data", Key="incoming/x.bin", Body=b"x")
        target = {"Bucket": "presage-data", "Key": "incoming/x.bin"}
        url = client.generate_presigned_url("get_object", target)
        stack.pause()
        stack.start()
        path = url.removeprefix(stack.environment["AWS_ENDPOINT_URL"])

        # What was not finished is in no saved data, so the object is gone; the URL is valid.
        assert send(stack, "GET", path)[0] in (200, 404)
        assert send(stack, "GET", f"{path}0")[0] == 403


def test_another_host_name_is_refused(stack: LocalStack, s3) -> None:
    """Another host name that resolves to this machine is refused, even with a valid signature."""
    headers = signed(stack, "s3", "GET", BUCKET, headers={"Host": "rebound.example:4566"})
    named = signed(stack, "s3", "GET", BUCKET, headers={"Host": "localhost:1"})

    status, _, content = send(stack, "GET", BUCKET, **headers)
    refused, _, _ = send(stack, "GET", PATH, Host="rebound.example")

    assert (status, refused) == (403, 403)
    assert b"PRESAGE_PUBLIC_STORAGE_URL" in content
    assert send(stack, "GET", BUCKET, **named)[0] == 200


@pytest.mark.parametrize("change", ["path", "method", "query", "body", "header", "key", "scope"])
def test_changed_request_is_refused(stack: LocalStack, change: str) -> None:
    """A signature is valid only for the request that was signed."""
    path, body = f"{BUCKET}/signed.bin", b"signed"
    headers = signed(stack, "s3", "PUT", path, body, {"X-Amz-Meta-Name": "a  b"})
    assert send(stack, "PUT", path, body, **headers)[0] == 200
    method = "DELETE" if change == "method" else "PUT"
    sent = {"path": f"{BUCKET}/other.bin", "query": f"{path}?acl"}.get(change, path)
    key = stack.environment["AWS_ACCESS_KEY_ID"]
    given = headers["Authorization"]
    headers["Authorization"] = {
        "key": given.replace(key, "0" * len(key)),
        "scope": given.replace("/us-east-1/", "/eu-west-1/"),
    }.get(change, given)
    if change == "header":
        headers["X-Amz-Meta-Name"] = "c"

    content = b"forged" if change == "body" else body
    status, _, answer = send(stack, method, sent, content, **headers)

    assert status == 403, answer


@pytest.mark.parametrize(("minutes", "status"), [(-16, 403), (-14, 200), (14, 200), (16, 403)])
def test_signature_is_valid_for_15_minutes(
    stack: LocalStack, monkeypatch: pytest.MonkeyPatch, minutes: int, status: int
) -> None:
    """A signed request is refused after 15 minutes, as on AWS."""
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: moment)
    headers = signed(stack, "s3", "GET", BUCKET)

    assert send(stack, "GET", BUCKET, **headers)[0] == status


@pytest.mark.parametrize("size", [10, 17 * 1024 * 1024])
def test_chunked_upload_is_accepted(stack: LocalStack, s3, size: int) -> None:
    """boto3's uploads whose checksum follows the body are read, small and large."""
    content = bytes(range(10)) * (size // 10)
    body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(content), content)
    headers = signed(
        stack,
        "s3",
        "PUT",
        f"{BUCKET}/chunked.bin",
        headers={
            "Content-Encoding": "aws-chunked",
            "X-Amz-Decoded-Content-Length": str(len(content)),
        },
        is_chunked=True,
    )

    status, _, answer = send(stack, "PUT", f"{BUCKET}/chunked.bin", body, **headers)

    assert status == 200, answer
    assert s3.get_object(Bucket="presage-data", Key="chunked.bin")["Body"].read() == content


@pytest.mark.parametrize("method", ["PUT", "DELETE", "GET"])
def test_form_allows_nothing_but_its_post(stack: LocalStack, s3, method: str) -> None:
    """A valid form sent with another method, or to an object, changes nothing."""
    s3.put_object(Bucket="presage-data", Key="victim.bin", Body=b"secret")
    made = s3.generate_presigned_post("presage-data", "own.bin", ExpiresIn=60)
    body, kind = form(made["fields"], b"x" * 10), "multipart/form-data; boundary=B"

    for path in (f"{BUCKET}/victim.bin", f"{BUCKET}?delete"):
        assert send(stack, method, path, body, Content_Type=kind)[0] == 403
    assert send(stack, "POST", f"{BUCKET}/victim.bin", body, Content_Type=kind)[0] == 403
    stored = s3.get_object(Bucket="presage-data", Key="victim.bin")["Body"].read()
    assert stored == b"secret"


def test_form_of_another_key_is_refused(stack: LocalStack, s3) -> None:
    """A policy signed with another installation's key is refused."""
    made = s3.generate_presigned_post("presage-data", "own.bin", ExpiresIn=60)
    key = stack.environment["AWS_ACCESS_KEY_ID"]
    fields = {name: value.replace(key, "test") for name, value in made["fields"].items()}

    status, _, content = send(
        stack,
        "POST",
        BUCKET,
        form(fields, b"x"),
        Content_Type="multipart/form-data; boundary=B",
    )

    assert status == 403
    assert b"InvalidAccessKeyId" in content


def test_control_path_needs_its_secret(stack: LocalStack) -> None:
    """Only the saving process can pause writes; web pages are refused even with its secret."""
    secret = control_secret(stack.environment["AWS_SECRET_ACCESS_KEY"])
    given = {CONTROL_HEADER: secret}

    status, _, content = send(stack, "GET", PATH, **given)

    assert status == 200
    assert json.loads(content)["writes"] is not None
    assert send(stack, "GET", PATH, **given, Origin=stack.url)[0] == 403
    assert send(stack, "GET", PATH, **{CONTROL_HEADER: "0" * 64})[0] == 403
    assert secret not in stack.log()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Range": "bytes=1-2"}, (206, b"bc")),
        ({"Range": "BYTES=-2"}, (206, b"de")),
        ({"Range": "bytes=9-"}, (416, None)),
        ({"Range": "lines=1-2"}, (200, b"abcde")),
        ({"Range": "bytes"}, (200, b"abcde")),
        ({"Range": "bytes=1-2=3"}, (200, b"abcde")),
        ({"Range": "bytes=1-2", "If_Range": '"ab56b4d92b40713acc5af89985d4b786"'}, (206, b"bc")),
        ({"Range": "bytes=1-2", "If_Range": '"another"'}, (200, b"abcde")),
        ({"If_None_Match": 'W/"x", W/"ab56b4d92b40713acc5af89985d4b786"'}, (304, None)),
        ({"If_None_Match": "*"}, (304, None)),
        ({"If_None_Match": '"x"'}, (200, b"abcde")),
        ({"If_Match": "*"}, (200, b"abcde")),
        ({"If_Match": '"x", "ab56b4d92b40713acc5af89985d4b786"'}, (200, b"abcde")),
        ({"If_Match": '"x"'}, (412, None)),
        ({"If_Modified_Since": "yesterday"}, (200, b"abcde")),
        ({"If_Unmodified_Since": "2026-01-01"}, (200, b"abcde")),
        ({"If_Modified_Since": "Friday, 01-Jan-99 00:00:00 GMT"}, (200, b"abcde")),
        ({"If_Unmodified_Since": "Fri, 01 Jan 1999 00:00:00 GMT"}, (412, None)),
        (
            {"If_Match": "*", "If_Unmodified_Since": "Fri, 01 Jan 1999 00:00:00 GMT"},
            (200, b"abcde"),
        ),
        (
            {"If_None_Match": '"x"', "If_Modified_Since": "Thu, 01 Jan 2099 00:00:00 GMT"},
            (200, b"abcde"),
        ),
        ({"If_Modified_Since": "Thu, 01 Jan 2099 00:00:00 GMT"}, (304, None)),
        ({"Range": "bytes=5-2"}, (200, b"abcde")),
        ({"Range": "bytes=3-10"}, (206, b"de")),
        ({"Range": "bytes=03-3"}, (206, b"d")),
    ],
)
def test_conditions_count_as_specified(stack: LocalStack, s3, headers, expected) -> None:
    """RFC 9110, 13.1, 14.2: wrong dates, other units and ranges of other versions do not count."""
    s3.put_object(Bucket="presage-data", Key="five", Body=b"abcde")
    url = s3.generate_presigned_url("get_object", {"Bucket": "presage-data", "Key": "five"})
    path = url.removeprefix(stack.environment["AWS_ENDPOINT_URL"])

    status, _, content = send(stack, "GET", path, **headers)

    assert (status, content if status < 300 else None) == expected


def test_only_own_pages_read_presigned_objects(stack: LocalStack, s3) -> None:
    """Only the service's own pages may read responses to presigned URLs."""
    s3.put_object(Bucket="presage-data", Key="x.bin", Body=b"x")
    url = s3.generate_presigned_url("get_object", {"Bucket": "presage-data", "Key": "x.bin"})
    path = url.removeprefix(stack.environment["AWS_ENDPOINT_URL"])
    localhost = stack.url.replace("127.0.0.1", "localhost")

    for page, is_allowed in ((stack.url, True), (localhost, True), (STRANGER, False)):
        status, shown, content = send(stack, "GET", path, Origin=page)
        assert (status, content) == (200, b"x")
        assert (shown.get("access-control-allow-origin") == page) == is_allowed
        assert shown["vary"] == "Origin"
    # An answer to keys is for no page at all.
    headers = signed(stack, "s3", "GET", BUCKET)
    _, shown, _ = send(stack, "GET", BUCKET, **headers, Origin=stack.url)
    assert "access-control-allow-origin" not in shown


def test_preflight_is_answered_for_presigned_requests(stack: LocalStack, s3) -> None:
    """A page of the service may send forms and read presigned URLs, and nothing else."""
    s3.put_object(Bucket="presage-data", Key="x.bin", Body=b"x")
    url = s3.generate_presigned_url("get_object", {"Bucket": "presage-data", "Key": "x.bin"})
    path = url.removeprefix(stack.environment["AWS_ENDPOINT_URL"])

    def ask(method: str, target: str, page: str) -> int:
        asked = {"Access_Control_Request_Method": method, "Origin": page}
        status, shown, _ = send(stack, "OPTIONS", target, **asked)
        assert (shown.get("access-control-allow-origin") == page) == (status == 200)
        return status

    assert ask("GET", path, stack.url) == ask("POST", BUCKET, stack.url) == 200
    refused = [
        ask("GET", f"{BUCKET}/x.bin", stack.url),
        ask("PUT", path, stack.url),
        ask("DELETE", BUCKET, stack.url),
        ask("GET", path, STRANGER),
        ask("POST", BUCKET, STRANGER),
        ask("POST", "/", "null"),
    ]
    assert refused == [403] * len(refused)
