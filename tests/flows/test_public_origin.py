"""Uploads, exports and images through one public origin, and attempts to bypass its limits."""

from __future__ import annotations

import http.client
import json
import os
import random
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from botocore.config import Config

from tests.aws_keys import KEYS
from tests.flows import TWO_VIEWS_APP
from tests.flows.client import LANGUAGE, VISION, Client, encode_multipart
from tests.flows.world import World, assertion
from tests.local.wire import talk
from tests.local_stack import ENDPOINT, LocalStack
from tests.pictures import draw, make_zip

PUBLIC = "https://presage.example.test"
HOST = "presage.example.test"
EVIL = b"<script>alert(document.domain)</script>"


@pytest.fixture(scope="module")
def stack(closed_network: None) -> Iterator[LocalStack]:
    """A stack behind a proxy with a public address."""
    environment = {
        "PRESAGE_HOST": "0.0.0.0",  # noqa: S104 - as in a container
        "PRESAGE_PUBLIC_URL": PUBLIC,
        "PRESAGE_TRUSTED_PROXIES": "127.0.0.1",
        "PRESAGE_SWEEP_SECONDS": "1",
        **(KEYS if os.environ.get(ENDPOINT) else {}),
    }
    with LocalStack(TWO_VIEWS_APP, environment=environment) as running:
        yield running


@pytest.fixture(scope="module")
def world(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Accounts of the stack."""
    made = World(stack, tmp_path_factory.mktemp("public"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def owner(world: World) -> Client:
    """A caller."""
    return world.caller("GOLD", example_calls=1000)


@pytest.fixture(scope="module")
def s3(stack: LocalStack):
    """An S3 client that signs for the public URL, as the service does."""
    return public_client(stack)


def public_client(stack: LocalStack, **keys: str):
    """Return an S3 client that signs for the public URL."""
    import boto3

    given = {**stack.environment, **keys}
    return boto3.session.Session(
        given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"], region_name="us-east-1"
    ).client(
        "s3",
        endpoint_url=f"{PUBLIC}/storage",
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )


def send(stack: LocalStack, method: str, url: str, body: bytes = b"", **headers: str):
    """Send a request for a public URL to the front, as a proxy does.

    Returns:
        Status, headers by lower-case name, and content.
    """
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=60)
    given = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        connection.request(method, url.removeprefix(PUBLIC), body or None, given)
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, content
    finally:
        connection.close()


def assert_safe(headers) -> None:
    """Check the headers that stop a browser from executing stored content."""
    assert headers["content-disposition"].startswith("attachment")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert "set-cookie" not in headers


def post_form(stack: LocalStack, form, content: bytes):
    """Send a presigned form."""
    kind, body = encode_multipart(form["fields"].items(), {"file": ("file.zip", content)})
    return send(stack, "POST", form["url"], body, Content_Type=kind)


def test_upload_export_and_pictures_use_one_origin(stack: LocalStack, owner: Client) -> None:
    """A 5 MB file is uploaded, its images shown, and its export downloaded by public URLs."""
    noise = random.Random(5).randbytes(5_000_000)
    content = make_zip({"cat/1.png": draw("circle"), "dog/2.png": draw("square"), "x.bin": noise})
    form = owner.json("POST", "/v2/uploads", {"name": "pets.zip"}).ok
    assert form["url"].startswith(f"{PUBLIC}/storage/")

    status, headers, _ = post_form(stack, form, content)

    assert status == 204
    assert_safe(headers)
    with owner.vision() as vision:
        urls = made_urls(vision, form["path"])
    for url in urls:
        assert url.startswith(f"{PUBLIC}/storage/")
        status, headers, fetched = send(stack, "GET", url)
        assert status == 200
        assert int(headers["content-length"]) == len(fetched) > 0
        assert_safe(headers)
        status, headers, part = send(stack, "GET", url, Range="bytes=2-5")
        assert (status, part) == (206, fetched[2:6])
        assert_safe(headers)
        for old in ({"If_Match": '"x"'}, {"If_Unmodified_Since": "Fri, 01 Jan 1999 00:00:00 GMT"}):
            assert send(stack, "GET", url, **old)[0] == 412


def made_urls(vision: Client, path: str) -> list[str]:
    """Upload a dataset; return the URLs of an image and of an export."""
    made = vision.json("POST", f"{VISION}/datasets/upload/sync", {"path": path}).ok
    assert made["totalExamples"] == 2, made
    place = f"{VISION}/datasets/{made['id']}"
    return [vision.get(f"{place}/examples").ok["data"][0]["location"], exported(vision, place)]


def exported(client: Client, place: str) -> str:
    """Make an export and return its URL."""
    made = client.json("POST", f"{place}/exports", {"format": "zip"}).ok
    path = f"{place}/exports/{made['id']}"
    record = client.wait(path, lambda found: found["status"] in ("SUCCEEDED", "FAILED"), 60)[-1]
    return str(record["url"])


def test_answer_is_never_shown_as_a_page(stack: LocalStack, s3) -> None:
    """Stored HTML is served as a sandboxed download, even if a signed URL asks to show it."""
    bucket = stack.settings.bucket
    stack.client("s3").put_object(
        Bucket=bucket, Key="evil.html", Body=EVIL, ContentType="text/html"
    )
    wishes = {"ResponseContentType": "text/html", "ResponseContentDisposition": "inline"}

    for more in ({}, wishes):
        url = s3.generate_presigned_url(
            "get_object", {"Bucket": bucket, "Key": "evil.html", **more}
        )
        status, headers, content = send(stack, "GET", url)
        assert (status, content) == (200, EVIL)
        assert_safe(headers)


def hostile(stack: LocalStack, s3) -> dict[str, tuple[str, str, bytes, dict[str, str]]]:
    """Return requests that must be refused, by what they try."""
    bucket = stack.settings.bucket
    place = f"{PUBLIC}/storage/{bucket}"
    get = {"Bucket": bucket, "Key": "secret.bin"}
    url = s3.generate_presigned_url("get_object", get)
    foreign = public_client(stack, AWS_SECRET_ACCESS_KEY="0" * 40)
    direct = stack.client("s3", config=Config(signature_version="s3v4"))
    plain = direct.generate_presigned_url("get_object", get)
    listing = s3.generate_presigned_url("list_objects_v2", {"Bucket": bucket})
    kind, form = encode_multipart([("key", "evil")], {"file": ("x", b"x")})
    return {
        "no signature": ("GET", f"{place}/secret.bin", b"", {}),
        "listing": ("GET", listing, b"", {}),
        "buckets": ("GET", s3.generate_presigned_url("list_buckets"), b"", {}),
        "other bucket": (
            "GET", s3.generate_presigned_url("get_object", {**get, "Bucket": "other"}), b"", {},
        ),
        "property": ("GET", s3.generate_presigned_url("get_object_acl", get), b"", {}),
        "deletion": ("DELETE", s3.generate_presigned_url("delete_object", get), b"", {}),
        "put": ("PUT", s3.generate_presigned_url("put_object", get), b"x", {}),
        "head": ("HEAD", s3.generate_presigned_url("head_object", get), b"", {}),
        "foreign key": ("GET", foreign.generate_presigned_url("get_object", get), b"", {}),
        "other key": ("GET", url.replace("secret.bin", "other.bin"), b"", {}),
        "dots": ("GET", url.replace("secret.bin", "x/../secret.bin"), b"", {}),
        "encoded path": ("GET", url.replace("/storage/", "/%73torage/"), b"", {}),
        "added parameter": ("GET", f"{url}&response-content-type=text/html", b"", {}),
        "expired": ("GET", url.replace("X-Amz-Expires=3600", "X-Amz-Expires=0"), b"", {}),
        "signed for the endpoint": ("GET", f"{PUBLIC}/storage/x?{urlsplit(plain).query}", b"", {}),
        "header": ("GET", url, b"", {"Authorization": "AWS4-HMAC-SHA256 Credential=x"}),
        "unsigned form": ("POST", place, form, {"Content-Type": kind}),
        "form to an object": ("POST", f"{place}/evil", form, {"Content-Type": kind}),
        "json": ("POST", place, b"{}", {"X-Amz-Target": "DynamoDB_20120810.Scan"}),
        "root": ("GET", f"{PUBLIC}/storage", b"", {}),
        "control": ("POST", f"{PUBLIC}/storage/presage-stack/write-pause", b"", {}),
    }  # fmt: skip


def test_nothing_else_passes(stack: LocalStack, s3) -> None:
    """Listings, other methods, other keys and unsigned forms are refused with safe headers."""
    direct, bucket = stack.client("s3"), stack.settings.bucket
    direct.put_object(Bucket=bucket, Key="secret.bin", Body=b"secret")

    for name, (method, url, body, headers) in hostile(stack, s3).items():
        status, shown, content = send(stack, method, url, body, **headers)
        assert status in (400, 403, 404, 405), (name, status, content)
        assert b"secret" not in content, name
        assert_safe(shown)
    kept = {one["Key"] for one in direct.list_objects_v2(Bucket=bucket)["Contents"]}
    assert "secret.bin" in kept
    assert "evil" not in kept


def test_form_with_a_field_twice_is_refused(stack: LocalStack, owner: Client) -> None:
    """A second `key` field, before or after the file, never decides where a file is stored."""
    form = owner.json("POST", "/v2/uploads", {"name": "a.csv"}).ok
    pairs = [*form["fields"].items(), ("key", "evil")]
    kind, body = encode_multipart(pairs, {"file": ("a.csv", b"a,b\n")})
    assert send(stack, "POST", form["url"], body, Content_Type=kind)[0] == 403

    kind, body = encode_multipart(form["fields"].items(), {"file": ("a.csv", b"a,b\n")})
    boundary = kind.partition("=")[2]
    late = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="KEY"\r\n\r\nevil\r\n--{boundary}--'
    )
    body = body.replace(f"--{boundary}--".encode(), late.encode())
    send(stack, "POST", form["url"], body, Content_Type=kind)
    listed = stack.client("s3").list_objects_v2(Bucket=stack.settings.bucket)
    assert "evil" not in {one["Key"] for one in listed.get("Contents", ())}


def test_unsigned_form_is_not_read_to_its_end(stack: LocalStack) -> None:
    """An unsigned form of 2 GB is refused after its first fields."""
    path = f"/storage/{stack.settings.bucket}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 2000000000\r\n"
        "Content-Type: multipart/form-data; boundary=B\r\n\r\n"
    )
    begun = b'--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'

    answer = talk(stack.url, head.encode(), begun + bytes(64 * 1024))

    assert answer.status == 403
    assert_safe(answer.headers)
    chunked = head.replace("Content-Length: 2000000000", "Transfer-Encoding: chunked")
    refused = talk(stack.url, chunked.encode())
    assert refused.status == 411
    assert_safe(refused.headers)


def test_links_and_hosts_come_from_the_setting(stack: LocalStack, owner: Client) -> None:
    """Forwarded hosts and schemes are ignored, and another Host header is refused."""
    for _ in range(2):
        owner.dataset(b"one,a\ntwo,b\n")
    path = f"{LANGUAGE}/datasets?count=1"
    headers = {"Authorization": f"Bearer {owner.token}"}
    forged = {"X-Forwarded-Host": "attacker.example", "X-Forwarded-Proto": "http"}

    status, shown, _ = send(stack, "GET", path, **headers, **forged)
    refused, said, content = send(stack, "GET", path, **headers, Host="attacker.example")
    stored, safe, _ = send(stack, "GET", f"/storage/{stack.settings.bucket}/x", Host="a.example")

    assert status == 200
    assert shown["link"].startswith(f"<{PUBLIC}{LANGUAGE}/datasets?")
    assert (refused, "link" in said) == (421, False)
    assert json.loads(content)["code"] == "unknown_host"
    assert PUBLIC in json.loads(content)["message"]
    assert stored == 421
    # HTTP/1.0 needs no host, and checks of load balancers often send none.
    assert talk(stack.url, b"GET /v2/health HTTP/1.0\r\n\r\n").status == 200
    assert_safe(safe)


def test_audience_is_the_public_host(stack: LocalStack, world: World) -> None:
    """The public token endpoint is a valid audience; an endpoint of another host is not."""
    email = world.caller().email
    for audience, status in (
        (f"{PUBLIC}/v2/oauth2/token", 200),
        ("https://a.example/v2/oauth2/token", 401),
    ):
        signed = assertion(email, world.private_pem, aud=audience)
        fields = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": signed,
        }
        kind, body = encode_multipart(fields.items(), {})
        assert send(stack, "POST", "/v2/oauth2/token", body, Content_Type=kind)[0] == status


def test_ready_line_names_the_public_url(stack: LocalStack) -> None:
    """The ready line has the public URL; the stack's own URLs are on localhost."""
    assert f"Presage is ready on {PUBLIC}\n" in stack.log()
    assert stack.description["url"].startswith("http://127.0.0.1:")
    assert urlsplit(stack.environment["AWS_ENDPOINT_URL"]).hostname == "127.0.0.1"
