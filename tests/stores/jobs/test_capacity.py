"""Account limits hold for simultaneous calls, and nothing is counted twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, UPLOADING, Dataset
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.datasets.upload import OpenUpload
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.domain.models.model_version import ModelVersion
from chalicelib.errors import ServiceError, StorageUnavailable, TooLarge, TooManyOpen
from chalicelib.stores.aws.tables import AccountRow, DatasetRow, ModelRow
from chalicelib.stores.datasets.datasets import new_row
from tests.builders import World, some_rows
from tests.full_size import size
from tests.pictures import draw

ROWS = some_rows({"a": 5})
TRAINABLE = some_rows({"book": 10, "cancel": 10})


def _row(world: World) -> AccountRow:
    return AccountRow.get(world.account.account_id)


def _new(world: World, number: int) -> Dataset:
    """Return a dataset for an upload."""
    now, facts = world.clock(), ("new", "text-intent", "en_US", UPLOADING, False)
    key = (world.account.account_id, LANGUAGE, number)
    return Dataset(*key, *facts, now, now, upload_id=f"0#R{number}")


def test_limit_of_open_uploads_holds_for_calls_at_once(world: World) -> None:
    """Of 48 simultaneous uploads 20 are accepted; when they are read, more are accepted."""
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
    """Simultaneous files that fit singly do not exceed the limit together."""
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
    """After uploads, additions, failures and deletions the counter equals the stored bytes."""
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
    """The counter equals the stored bytes after an image that already exists is added again."""
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
    """A call that crashed between its two writes occupies a slot for a minute."""
    capacity = world.stores.capacity
    for number in range(20):
        capacity.reserve_upload(_new(world, number), 10)
    with pytest.raises(TooManyOpen, match="20 uploads are in progress"):
        world.upload(ROWS)
    world.clock.advance(seconds=61)

    view = world.upload(ROWS)

    assert [OpenUpload.parse(text).dataset_id for text in _row(world).uploads] == [
        view.dataset.dataset_id
    ]


def test_repeated_reservation_counts_once(world: World) -> None:
    """A repeated reservation whose answer was lost counts once."""
    for _ in range(2):
        world.stores.capacity.reserve_upload(_new(world, 7), 10)

    assert int(_row(world).stored_bytes) == 10
    assert len(_row(world).uploads) == 1


def test_older_account_is_counted_at_its_first_upload(world: World) -> None:
    """The first count of an account includes data stored by older versions."""
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

    monkeypatch.setattr(world.stores.datasets, "reserve", refuse)
    with pytest.raises(ServiceError):
        world.upload(ROWS)

    assert not _row(world).uploads
    assert int(_row(world).stored_bytes) == 0


def test_capacity_is_checked_without_reading_the_datasets(world: World) -> None:
    """However many datasets an account has, the check reads only its row of at most 5 kB."""
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
    """At most 20 forms are unused; used and expired forms release their slots."""
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


def test_versions_of_models_are_stored_bytes(world: World) -> None:
    """Each model version counts its artifact once, and its deletion releases the bytes."""
    view = world.dataset(TRAINABLE)
    data = view.dataset.bytes
    first = _retrained(world, world.model(view, TrainRequest(epochs=2)))
    sizes = [one.bytes or 0 for one in first.versions.items]
    assert sizes == [len(_artifact(world, first, one)) for one in first.versions.items]
    assert int(_row(world).stored_bytes) == data + sum(sizes)

    world.container.model_versions.remove(first, 1)
    assert int(_row(world).stored_bytes) == data + sizes[1]
    world.stores.capacity._recount(world.account.account_id)
    assert int(_row(world).stored_bytes) == data + sizes[1]

    world.container.deletions.delete_model(world.account, first.model_id)
    world.work()
    assert int(_row(world).stored_bytes) == data


def test_recount_during_a_training_counts_the_version_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recount between the writes of model and account counts the version once."""
    view = world.dataset(TRAINABLE)
    capacity = world.stores.capacity
    settle = capacity.settle

    def settle_late(account_id: str, *change: Any) -> None:
        capacity._recount(account_id)
        settle(account_id, *change)

    monkeypatch.setattr(capacity, "settle", settle_late)
    model = world.model(view, TrainRequest(epochs=2))
    capacity.reserve_bytes(world.account.account_id, 0)

    assert int(_row(world).stored_bytes) == view.dataset.bytes + model.versions.bytes


def test_sizes_that_older_services_did_not_write_are_measured(world: World) -> None:
    """A recount measures artifacts without a stored size and stores it."""
    view = world.dataset(TRAINABLE)
    model = _retrained(world, world.model(view, TrainRequest(epochs=2)))
    expected = model.versions.bytes
    row = ModelRow.get(model.account_id, model.model_id)
    kept = [{k: v for k, v in one.items() if k != "bytes"} for one in row.versions["kept"]]
    row.update([ModelRow.versions.set({"last": 2, "kept": kept})])

    world.stores.capacity._recount(world.account.account_id)

    assert int(_row(world).stored_bytes) == view.dataset.bytes + expected
    found = world.stores.models.find(model.account_id, model.model_id)
    assert found is not None
    assert found.versions.bytes == expected


def test_training_beyond_the_quota_names_the_version_to_delete(world: World) -> None:
    """A full account gets a 413 with the oldest version not served; deleting it helps."""
    view = world.dataset(TRAINABLE)
    model = _retrained(world, world.model(view, TrainRequest(epochs=2)))
    oldest, stored = model.versions.items[0], int(_row(world).stored_bytes)
    full = world.another(replace(world.settings, max_stored_bytes=stored))

    remedy = f"Delete version 1 of model {model.model_id} \\({oldest.bytes} bytes\\)"
    with pytest.raises(TooLarge, match=remedy):
        full.container.training.retrain(world.account, model, TrainRequest(epochs=2))
    with pytest.raises(TooLarge, match=remedy):
        full.container.training.request(world.account, view, "m", TrainRequest(epochs=2))
    full.container.model_versions.remove(model, 1)

    assert _retrained(full, model).versions.last == 3


def _retrained(world: World, model: Model) -> Model:
    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))
    world.work()
    found = world.stores.models.find(model.account_id, model.model_id)
    assert found is not None
    return found


def _artifact(world: World, model: Model, version: ModelVersion) -> bytes:
    content = world.stores.model_files.artifact(model.model_id, version.folder)
    assert content is not None
    return content
