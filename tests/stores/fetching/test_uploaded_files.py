"""Files that callers post to the bucket: ownership, single use, expiry."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pynamodb.exceptions import UpdateError

from chalicelib.config import Settings
from chalicelib.domain.common.clock import to_milliseconds
from chalicelib.domain.common.repeats import KeyedCall, under_key
from chalicelib.domain.datasets.upload import USED, UploadedFile
from chalicelib.errors import DownloadFailed, StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import try_update
from chalicelib.stores.aws.tables import UploadFormRow
from chalicelib.stores.fetching import uploaded_files
from chalicelib.stores.fetching.uploaded_files import CONTENT_TYPE, UploadedFileStore
from tests.conftest import MovableClock

ID = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.fixture
def store(clients: Clients, settings: Settings, clock: MovableClock) -> UploadedFileStore:
    """The store on an empty AWS."""
    return UploadedFileStore(settings, clients, clock)


@pytest.fixture
def issued(store: UploadedFileStore, clock: MovableClock) -> UploadedFile:
    """A form of account 1 that is valid for an hour."""
    incoming = UploadedFile("1", ID, "a.zip", to_milliseconds(clock()) + 3_600_000)
    store.create(incoming)
    return incoming


@pytest.fixture
def send(clients: Clients, settings: Settings, issued: UploadedFile) -> Callable[[bytes], str]:
    """A function that stores a file as the form would; returns its version."""

    def call(content: bytes) -> str:
        """Store a file."""
        answer = clients.s3.put_object(Bucket=settings.bucket, Key=issued.key, Body=content)
        return str(answer["ETag"])

    return call


def test_a_form_fixes_place_type_and_size(store: UploadedFileStore, clock: MovableClock) -> None:
    """A form fixes the key and the content type."""
    url, fields = store.create(UploadedFile("1", ID, "", to_milliseconds(clock()) + 1000))

    assert fields["key"] == f"incoming/1/{ID}"
    assert fields["Content-Type"] == CONTENT_TYPE
    assert url.startswith("https://")


def test_a_file_is_used_once(
    store: UploadedFileStore, issued: UploadedFile, send: Callable[[bytes], str]
) -> None:
    """A second user is refused, the same user may repeat, and a failed use is released."""
    send(b"content")
    found, size = store.find("1", issued.path)
    target = io.BytesIO()
    store.read(found, target)
    assert (size, target.getvalue()) == (7, b"content")

    store.claim(found, "first")
    store.claim(found, "first")
    with pytest.raises(DownloadFailed, match="used already"):
        store.claim(found, "second")
    with pytest.raises(DownloadFailed, match="used already"):
        store.find("1", issued.path)
    store.release(found, "second")
    with pytest.raises(DownloadFailed, match="used already"):
        store.find("1", issued.path)
    store.release(found, "first")

    assert store.find("1", issued.path)[1] == 7


@pytest.mark.parametrize(
    ("account", "path", "problem"),
    [
        ("2", f"presage:upload/{ID}", "No upload"),
        ("1", "presage:upload/SHORT", "No upload"),
        ("1", "presage:upload/", "No upload"),
        ("1", f"presage:upload/{ID}", "No file has arrived"),
    ],
)
def test_what_is_not_there_is_refused(
    store: UploadedFileStore, issued: UploadedFile, account: str, path: str, problem: str
) -> None:
    """Paths of other accounts, invalid paths and unused forms are refused with the reason."""
    with pytest.raises(DownloadFailed, match=problem):
        store.find(account, path)


def test_a_file_expires_after_an_hour(
    store: UploadedFileStore,
    issued: UploadedFile,
    send: Callable[[bytes], str],
    clock: MovableClock,
) -> None:
    """A file sent in time cannot be used after the expiry."""
    send(b"content")
    clock.advance(seconds=3600)

    with pytest.raises(DownloadFailed, match="expired after 60 minutes"):
        store.find("1", issued.path)


def test_a_file_that_is_replaced_is_not_used(
    store: UploadedFileStore, issued: UploadedFile, send: Callable[[bytes], str]
) -> None:
    """A file that is replaced after it was found cannot be used."""
    etag = send(b"first")
    assert store.receive("1", ID, etag.strip('"'))
    found, _ = store.find("1", issued.path)
    send(b"another")

    with pytest.raises(DownloadFailed, match="sent twice"):
        store.find("1", issued.path)
    with pytest.raises(DownloadFailed, match="sent twice"):
        store.read(found, io.BytesIO())


def test_only_the_first_arrival_counts(store: UploadedFileStore, issued: UploadedFile) -> None:
    """A repeated notification, or one for an unknown form, changes nothing."""
    assert store.receive("1", ID, "first")
    assert not store.receive("1", ID, "second")
    assert not store.receive("9", ID, "foreign")


def test_a_late_notification_changes_nothing(
    store: UploadedFileStore, issued: UploadedFile, send: Callable[[bytes], str]
) -> None:
    """A notification after the file was used changes nothing."""
    send(b"content")
    found, _ = store.find("1", issued.path)
    store.claim(found, "first")

    assert not store.receive("1", ID, "late")

    with pytest.raises(DownloadFailed, match="used already"):
        store.find("1", issued.path)


def test_a_file_that_arrives_too_late_has_expired(
    store: UploadedFileStore,
    issued: UploadedFile,
    send: Callable[[bytes], str],
    clock: MovableClock,
) -> None:
    """A file sent in time that arrives after the expiry cannot be used."""
    clock.advance(seconds=3601)
    send(b"content")
    store.receive("1", ID, "etag")

    with pytest.raises(DownloadFailed, match="send the file again with a new one"):
        store.find("1", issued.path)


def keyed(number: int) -> KeyedCall:
    """Return an attempt at a call with an idempotency key."""
    return KeyedCall("1", "key", "request", "CALL", datetime.now(UTC), attempt=number)


def test_a_lost_reply_of_a_later_attempt_keeps_the_first_claim(
    store: UploadedFileStore,
    issued: UploadedFile,
    send: Callable[[bytes], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An attempt without a reply for its claim releases only its own claim."""
    send(b"content")
    found, _ = store.find("1", issued.path)
    with under_key(keyed(1)):
        store.claim(found, "CALL")

    writes: list[object] = []

    def lose_first(*given: Any) -> bool:
        """Fail the first write as if it had not been sent."""
        writes.append(given)
        if len(writes) == 1:
            raise UpdateError("no reply")
        return try_update(*given)

    monkeypatch.setattr(uploaded_files, "try_update", lose_first)
    with under_key(keyed(2)), pytest.raises(StorageUnavailable):
        store.claim(found, "CALL")

    with pytest.raises(DownloadFailed, match="used already"):
        store.find("1", issued.path)


def test_a_later_attempt_takes_over_the_file(
    store: UploadedFileStore, issued: UploadedFile, send: Callable[[bytes], str]
) -> None:
    """A later attempt takes over the claim of a crashed one, whose late release is ignored."""
    send(b"content")
    with under_key(keyed(1)):
        store.claim(store.find("1", issued.path)[0], "CALL")
    with under_key(keyed(2)):
        found, _ = store.find("1", issued.path)
        store.claim(found, "CALL")
    with under_key(keyed(1)):
        store.release(found, "CALL")
        with pytest.raises(DownloadFailed, match="used already"):
            store.claim(found, "CALL")

    with pytest.raises(DownloadFailed, match="used already"):
        store.find("1", issued.path)


def test_a_claim_of_an_older_version_is_that_of_the_same_call(
    store: UploadedFileStore,
    issued: UploadedFile,
    send: Callable[[bytes], str],
    clock: MovableClock,
) -> None:
    """A claim without an attempt number, from an older version, belongs to the repeated call."""
    send(b"content")
    found, _ = store.find("1", issued.path)
    row = UploadFormRow(found.account_id, found.upload_id)
    row.update([UploadFormRow.status.set(USED), UploadFormRow.used_by.set(f"17#{ID}")])
    with under_key(KeyedCall("1", "k", "r", ID, clock(), 0, 2)):
        store.claim(store.find("1", issued.path)[0], f"17#{ID}")

    with pytest.raises(DownloadFailed, match="used already"):
        store.claim(found, "17#other")
