"""Presigned forms: what the bucket refuses."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from chalicelib.config import Settings
from chalicelib.domain.common.clock import system_clock, to_milliseconds
from chalicelib.domain.datasets.upload import ISSUED, UploadedFile
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.fetching import uploaded_files
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from infra.resources import provision
from tests.flows.client import encode_multipart

SECRET = "test"
LIMIT = 1_000
Form = tuple[str, dict[str, str]]


@pytest.fixture
def issue(
    settings: Settings, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], Form]:
    """Issues forms of the service for files of at most 1,000 bytes, valid for that many seconds."""
    provision(settings)
    monkeypatch.setattr(uploaded_files, "MAX_ARCHIVE_BYTES_BY_PATH", LIMIT)

    def make(seconds: int) -> Form:
        """Issue one."""
        monkeypatch.setattr(uploaded_files, "UPLOAD_FORM_SECONDS", seconds)
        until = to_milliseconds(system_clock()) + seconds * 1000
        asked = UploadedFile("account", "upload", "mine.csv", until, ISSUED, "")
        return UploadedFileStore(settings, clients, system_clock).create(asked)

    return make


@pytest.fixture
def form(issue: Callable[[int], Form]) -> Form:
    """A form for a minute."""
    return issue(60)


def send(form: Form, content: bytes, **changes: str) -> tuple[int, str]:
    """Send a file by a form; return status and answer."""
    url, fields = form
    kind, body = encode_multipart({**fields, **changes}.items(), {"file": ("x", content)})
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    try:
        connection.request("POST", place.path, body, {"Content-Type": kind})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_a_file_as_allowed_is_taken(form: Form, settings: Settings, clients: Clients) -> None:
    """A file of the maximum size is accepted and stored unchanged."""
    content = b"x" * LIMIT

    assert send(form, content)[0] == 204

    found = clients.s3.get_object(Bucket=settings.bucket, Key=form[1]["key"])
    assert found["Body"].read() == content
    assert found["ContentType"] == "application/octet-stream"


def test_a_file_that_is_not_allowed_is_refused(
    form: Form, settings: Settings, clients: Clients
) -> None:
    """Too large, empty, of another type, or for another place: nothing arrives."""
    assert (send(form, b"x" * (LIMIT + 1))[0], send(form, b"")[0]) == (400, 400)
    assert send(form, b"x", **{"Content-Type": "text/html"})[0] == 403
    assert send(form, b"x", key="datasets/1/raw")[0] == 403

    assert clients.s3.list_objects_v2(Bucket=settings.bucket)["KeyCount"] == 0


def test_a_form_that_is_late_is_refused(issue: Callable[[int], Form]) -> None:
    """An expired form is refused."""
    form = issue(1)
    time.sleep(2)

    status, said = send(form, b"x")

    assert (status, "expired" in said.lower()) == (403, True)


@pytest.mark.not_proved("signatures of forms: a forged one is accepted")
def test_a_form_is_signed_by_the_accounts_key(form: Form) -> None:
    """The signature is the one that S3 computes from policy, day, region and secret."""
    fields = form[1]
    key = b"AWS4" + SECRET.encode()
    for part in fields["x-amz-credential"].split("/")[1:]:
        key = hmac.digest(key, part.encode(), hashlib.sha256)

    signed = hmac.new(key, fields["policy"].encode(), hashlib.sha256).hexdigest()

    assert fields["x-amz-signature"] == signed
    assert b'"expiration"' in base64.b64decode(fields["policy"])
