"""Objects above 16 MB, received by form and streamed out, behave as in S3."""

from __future__ import annotations

import hashlib
import http.client
import random
from urllib.parse import urlsplit

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from infra.local.aws.large_objects import LARGE_BYTES
from tests.flows.client import encode_multipart

BUCKET = "presage-data"
KEY = "incoming/1/large.bin"
SIZE = LARGE_BYTES + 12_345
CONTENT = random.Random(5).randbytes(SIZE)
ETAG = f'"{hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()}"'


@pytest.fixture
def s3(stack):
    """A client as the service makes it."""
    made = stack.client("s3", config=Config(signature_version="s3v4", retries={"max_attempts": 0}))
    yield made
    made.close()


def post(s3, key=KEY, content=CONTENT, bucket=BUCKET):
    """Send a file by a presigned form; return the status, headers and answer."""
    given = s3.generate_presigned_post(
        bucket, key, Fields={"Content-Type": "a/b"}, Conditions=[{"Content-Type": "a/b"}]
    )
    kind, body = encode_multipart(given["fields"].items(), {"file": ("x", content)})
    place = urlsplit(given["url"])
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    connection.request("POST", place.path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    received = answer.status, answer.headers, answer.read()
    connection.close()
    return received


@pytest.fixture
def sent(s3):
    """The large object, sent by a form."""
    status, headers, _ = post(s3)
    assert (status, headers["ETag"]) == (204, ETAG)


@pytest.mark.usefixtures("sent")
def test_what_was_sent_is_read(s3):
    """Bytes, version, type and size are those of the file."""
    answer = s3.get_object(Bucket=BUCKET, Key=KEY)
    head = s3.head_object(Bucket=BUCKET, Key=KEY)

    assert answer["Body"].read() == CONTENT
    for found in (answer, head):
        assert (found["ETag"], found["ContentType"], found["ContentLength"]) == (ETAG, "a/b", SIZE)


@pytest.mark.usefixtures("sent")
@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-99", 0, 99),
        (f"bytes={LARGE_BYTES}-", LARGE_BYTES, SIZE - 1),
        ("bytes=-7", SIZE - 7, SIZE - 1),
        (f"bytes=5-{SIZE * 2}", 5, SIZE - 1),
    ],
)
def test_a_part_is_read(s3, asked, first, last):
    """Byte ranges are answered as by S3."""
    answer = s3.get_object(Bucket=BUCKET, Key=KEY, Range=asked)

    assert answer["Body"].read() == CONTENT[first : last + 1]
    assert answer["ContentRange"] == f"bytes {first}-{last}/{SIZE}"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 206


@pytest.mark.usefixtures("sent")
@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"IfMatch": '"other"'}, "PreconditionFailed"),
        ({"IfNoneMatch": ETAG}, "304"),
        ({"Range": f"bytes={SIZE}-"}, "InvalidRange"),
    ],
)
def test_what_is_not_wanted_is_not_sent(s3, more, code):
    """Conditions and ranges that do not hold are refused as for small objects."""
    with pytest.raises(ClientError) as refused:
        s3.get_object(Bucket=BUCKET, Key=KEY, **more)

    assert refused.value.response["Error"]["Code"] == code


@pytest.mark.usefixtures("sent")
def test_a_presigned_url_reads_it_too(s3):
    """The signature is that of a GET, though moto is asked for the headers alone."""
    url = urlsplit(s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": KEY}))
    connection = http.client.HTTPConnection(url.netloc, timeout=60)
    connection.request("GET", f"{url.path}?{url.query}")
    answer = connection.getresponse()

    assert (answer.status, answer.read() == CONTENT) == (200, True)
    connection.close()


@pytest.mark.usefixtures("sent")
def test_a_reader_keeps_what_it_began(s3):
    """An object replaced or deleted while it is read is read to its end unchanged."""
    body = s3.get_object(Bucket=BUCKET, Key=KEY)["Body"]
    begun = body.read(1_000)

    assert post(s3, content=CONTENT[::-1])[0] == 204
    s3.delete_object(Bucket=BUCKET, Key=KEY)

    assert begun + body.read() == CONTENT


@pytest.mark.usefixtures("sent")
def test_a_copy_is_an_object_of_its_own(s3):
    """A copy outlives its source."""
    s3.copy_object(Bucket=BUCKET, Key="copy", CopySource={"Bucket": BUCKET, "Key": KEY})
    s3.delete_object(Bucket=BUCKET, Key=KEY)

    assert s3.get_object(Bucket=BUCKET, Key="copy")["Body"].read() == CONTENT
    with pytest.raises(ClientError):
        s3.get_object(Bucket=BUCKET, Key=KEY)


def test_a_bucket_that_is_not_there(s3):
    """A large form for no bucket is a 404."""
    status, _, body = post(s3, bucket="missing")

    assert (status, b"NoSuchBucket" in body) == (404, True)
