"""The limits of an account hold for simultaneous calls, and nothing is counted twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.datasets.open_upload import OpenUpload
from chalicelib.errors import ServiceError, StorageUnavailable, TooManyOpen
from chalicelib.stores.aws.tables import AccountRow, DatasetRow
from chalicelib.stores.datasets.datasets import new_row
from tests.builders import World, some_rows
from tests.full_size import size
from tests.pictures import draw

ROWS = some_rows({"a": 5})


def _row(world: World) -> AccountRow:
    return AccountRow.get(world.account.account_id)


def test_limit_of_open_uploads_holds_for_calls_at_once(world: World) -> None:
    """48 uploads at the same time are 20; when those are read, there is place again."""
    world.one_call_at_a_time()

    def upload(_: int) -> bool:
        try:
            world.upload(ROWS)
        except TooManyOpen:
            return False
        return True

    with ThreadPoolExecutor(12) as callers:
        accepted = sum(callers.map(upload, range(48)))

    assert accepted == len(world.rows(DatasetRow)) == 20
    world.work()
    assert not _row(world).uploads
    world.upload(ROWS)


def test_limit_of_bytes_holds_for_calls_at_once(world: World) -> None:
    """Files that would fit one by one do not pass the limit together."""
    content_bytes = 185
    world = world.another(replace(world.settings, max_stored_bytes=5 * content_bytes))
    world.one_call_at_a_time()

    def take(_: int) -> bool:
        try:
            world.stores.capacity.reserve_bytes(world.account.account_id, content_bytes)
        except TooManyOpen:
            return False
        return True

    world.stores.capacity._recount(world.account.account_id)
    with ThreadPoolExecutor(8) as callers:
        first = [world.stores.capacity._has_capacity(1) is not None, *callers.map(take, range(5))]

    assert all(first)
    assert int(_row(world).stored_bytes) == 5 * content_bytes


def test_bytes_are_those_of_the_datasets(world: World) -> None:
    """After uploads, additions, failures and deletions the count equals what is stored."""
    view = world.dataset(ROWS)
    world.upload(some_rows({"b": 7}))
    world.upload([("", "no text")])
    world.work()
    pictures = world.pictures({f"cat/{n}.png": draw(salt=n) for n in range(3)})
    world.work()
    stored = sum(int(row.size_bytes) for row in world.rows(DatasetRow))
    assert int(_row(world).stored_bytes) == stored > 0

    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    world.work()
    assert int(_row(world).stored_bytes) == stored - view.dataset.bytes
    assert not _row(world).uploads
    assert pictures.dataset.bytes > 0


@pytest.mark.parametrize("meanwhile", ["another is added", "one is removed"])
def test_existing_picture_takes_no_capacity(world: World, meanwhile: str) -> None:
    """Whatever happened to the dataset meanwhile, its bytes are counted as they are."""
    view = world.pictures({f"cat/{n}.png": draw(salt=n) for n in range(3)})
    world.work()
    examples, account = world.container.examples, world.account
    equal, other = (PictureFile(draw(salt=n), f"new{n}.png") for n in (0, 7))
    if meanwhile == "another is added":
        examples.add_picture(account, view, other, None, "cat")
    else:
        page = examples.list_dataset(account, view, "upload", 0, 9).items
        world.container.corrections.remove_example(view, page[1].example.example_id)
        equal = other
    examples.add_picture(account, view, equal, None, "cat")
    world.work()

    stored = sum(int(row.size_bytes) for row in world.rows(DatasetRow))
    assert int(_row(world).stored_bytes) == stored


def test_interrupted_upload_is_not_counted(world: World) -> None:
    """A call that died between its two writes takes a place for a minute, not for ever."""
    capacity = world.stores.capacity
    for number in range(20):
        capacity.reserve_upload(world.account.account_id, LANGUAGE, number, f"R{number}", 10)
    with pytest.raises(TooManyOpen, match="20 uploads are in progress"):
        world.upload(ROWS)
    world.clock.advance(seconds=61)

    view = world.upload(ROWS)

    assert [OpenUpload.parse(text).dataset_id for text in _row(world).uploads] == [
        view.dataset.dataset_id
    ]


def test_repeated_reservation_counts_once(world: World) -> None:
    """A write whose answer was lost is recognised when it is made again."""
    for _ in range(2):
        world.stores.capacity.reserve_upload(world.account.account_id, LANGUAGE, 7, "R", 10)

    assert int(_row(world).stored_bytes) == 10
    assert len(_row(world).uploads) == 1


def test_older_account_is_counted_at_its_first_upload(world: World) -> None:
    """The first count includes what older versions stored without counting."""
    view = world.dataset(ROWS)
    row = _row(world)
    row.update(
        [
            AccountRow.stored_bytes.remove(),
            AccountRow.counted_at.remove(),
            AccountRow.room_version.remove(),
        ]
    )
    world.upload(ROWS)

    [entry] = map(OpenUpload.parse, _row(world).uploads)
    assert int(_row(world).stored_bytes) == view.dataset.bytes + entry.size_bytes


def test_refused_call_releases_its_reservation(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upload whose row could not be written is not counted."""

    def refuse(*_: object) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.datasets, "create", refuse)
    with pytest.raises(ServiceError):
        world.upload(ROWS)

    assert not _row(world).uploads
    assert int(_row(world).stored_bytes) == 0


def test_capacity_is_checked_without_reading_the_datasets(world: World) -> None:
    """However many datasets an account has, a call reads its own row alone, of at most 5 kB."""
    dataset = world.dataset(ROWS).dataset
    with DatasetRow.batch_write() as batch:
        for number in range(1, size(100, 10_000)):
            batch.save(new_row(replace(dataset, dataset_id=dataset.dataset_id + number)))
    calls: list[tuple[str, bool]] = []
    client = world.stores.clients.dynamodb

    def note(model: Any, http_response: Any, **_: object) -> None:
        calls.append((model.name, len(http_response.content) <= 5_000))

    client.meta.events.register("after-call.dynamodb", note)
    world.stores.capacity.reserve_bytes(world.account.account_id, 1)
    client.meta.events.unregister("after-call.dynamodb", note)

    assert calls == [("UpdateItem", True)]


def test_forms_are_limited_until_they_are_used_or_dead(world: World) -> None:
    """20 unused forms are the most; one that was used or has expired gives its place back."""
    incoming = world.container.upload_forms
    forms = [incoming.issue(world.account, None) for _ in range(20)]
    with pytest.raises(TooManyOpen, match="20 upload forms of this account are unused"):
        incoming.issue(world.account, None)
    bucket, key = world.settings.bucket, forms[0].fields["key"]
    world.stores.clients.s3.put_object(Bucket=bucket, Key=key, Body=b"a,b")
    found, _ = world.stores.uploaded_files.find(world.account.account_id, forms[0].path)
    world.stores.uploaded_files.claim(found, "USER")

    incoming.issue(world.account, None)
    with pytest.raises(TooManyOpen):
        incoming.issue(world.account, None)
    world.clock.advance(hours=2)
    for _ in range(20):
        incoming.issue(world.account, None)
