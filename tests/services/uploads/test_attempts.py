"""Calls that create datasets: leftovers of a crashed call, and overlapping attempts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from chalicelib.domain.common.paging import EVERYTHING, ListFilter
from chalicelib.domain.common.repeats import KeyedCall, under_key
from chalicelib.domain.datasets.dataset import LANGUAGE, SUCCEEDED, DatasetView
from chalicelib.domain.datasets.label_descriptions import LabelDescription
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.errors import (
    DatasetNotFound,
    DatasetNotYetAvailable,
    DownloadFailed,
    StorageUnavailable,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import AccountRow, DatasetRow, LabelRow, ReceiptRow
from chalicelib.web.http.paging import Window, list_answer
from tests.builders import World, a_csv, a_source, some_rows
from tests.services.dying import Died, dying

ROWS = some_rows({"book": 5, "cancel": 5})
DESCRIBED = (LabelDescription("book", "Reserve a seat."), LabelDescription("pay", "Pay a bill."))
FIELDS = UploadFields("intents", "text-intent", descriptions=DESCRIBED)


def upload(world: World) -> DatasetView:
    """Upload a file as a new dataset whose labels have descriptions."""
    return world.upload(ROWS, fields=FIELDS)


def create(world: World) -> DatasetView:
    """Create a dataset of two labels without examples."""
    fields = NewDataset("names", "text-intent", "en_US", "book,cancel", DESCRIBED)
    return world.container.datasets.create(world.account, LANGUAGE, fields)


def attempt(world: World, number: int) -> AbstractContextManager[None]:
    """Return the context of an attempt at a call with an idempotency key."""
    began_at = world.clock()
    return under_key(KeyedCall(world.account.account_id, "k", "r", "A" * 26, began_at, 70, number))


def left(world: World) -> list[Any]:
    """Return everything that is stored about datasets."""
    return [row for kind in (DatasetRow, LabelRow, ReceiptRow) for row in world.rows(kind)] + [
        *world.objects("datasets/")
    ]


@pytest.mark.parametrize("call", [upload, create])
@pytest.mark.parametrize("count", range(9))
def test_a_new_dataset_leaves_nothing_if_its_call_dies(
    world: World, call: Callable[[World], DatasetView], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash at any write leaves a complete dataset, or nothing and no event."""
    events: list[str] = []
    monkeypatch.setattr(world.stores.events, "emit", lambda *args, **_: events.append(args[1]))
    with dying(world, lambda before: len(before) == count) as seen:
        try:
            call(world)
        except Died:
            assert len(seen) == count
    world.settle()

    found = world.stores.datasets.of_account(world.account.account_id, LANGUAGE)
    assert "deletion.done" not in events
    if not found:
        assert left(world) == []
        return
    assert [one.status for one in found] == [SUCCEEDED]
    assert len(found[0].counts) == 3


@pytest.mark.parametrize("call", [upload, create])
def test_a_dataset_is_found_only_when_its_call_has_finished_it(
    world: World, call: Callable[[World], DatasetView], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dataset that is only reserved is neither listed nor found by id."""
    finish, datasets = world.stores.datasets.finish, world.container.datasets
    account_id, seen = world.account.account_id, []

    def look_before(*args: Any) -> Any:
        for wanted in (EVERYTHING, ListFilter(name="n")):
            seen.extend(datasets.list(account_id, LANGUAGE, 0, 25, wanted).items)
        with pytest.raises(DatasetNotFound):
            datasets.get(account_id, LANGUAGE, args[0].dataset_id)
        return finish(*args)

    monkeypatch.setattr(world.stores.datasets, "finish", look_before)
    made = call(world)

    assert seen == []
    assert datasets.list(account_id, LANGUAGE, 0, 25).items == (made,)


@pytest.mark.parametrize("call", [upload, create])
def test_a_later_attempt_completes_the_dataset_of_a_dead_one(
    world: World, call: Callable[[World], DatasetView]
) -> None:
    """With an idempotency key the second attempt succeeds, and a deletion removes all labels."""
    with (
        attempt(world, 1),
        dying(world, lambda before: before[-1:] == ["BatchWriteItem"]),
        pytest.raises(Died),
    ):
        call(world)
    with attempt(world, 2):
        made = call(world)
    world.settle()
    assert world.get(made).labels[0].name == "book"
    world.container.deletions.delete_dataset(world.account, LANGUAGE, 70)
    world.settle()

    assert left(world) == []


@pytest.mark.parametrize("call", [upload, create])
@pytest.mark.parametrize("has_died", [False, True])
def test_the_sweep_leaves_the_dataset_of_an_attempt_long_after_the_first(
    world: World, call: Callable[[World], DatasetView], has_died: bool, monkeypatch: Any
) -> None:
    """The sweep spares a dataset whose later attempt is running, though the first one is old."""
    finish, first, later = world.stores.datasets.finish, attempt(world, 1), attempt(world, 2)
    if has_died:
        with first, dying(world, lambda before: "BatchWriteItem" in before), pytest.raises(Died):
            call(world)
    world.clock.advance(seconds=world.settings.lease_seconds * 3)

    def sweep_before(*args: Any) -> Any:
        world.container.sweeping.run()
        return finish(*args)

    monkeypatch.setattr(world.stores.datasets, "finish", sweep_before)
    with later:
        made = call(world)
    world.settle()
    assert world.get(made).dataset.status == SUCCEEDED


@pytest.mark.parametrize("call", [upload, create])
def test_nothing_is_left_of_a_call_that_ends_after_the_sweep_deleted_its_dataset(
    world: World, call: Callable[[World], DatasetView], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call whose row the sweep deleted fails and leaves nothing."""
    put = world.stores.labels.put

    def settle_before(*args: Any) -> None:
        monkeypatch.undo()
        world.settle()
        put(*args)

    monkeypatch.setattr(world.stores.labels, "put", settle_before)
    with pytest.raises(StorageUnavailable):
        call(world)
    world.settle()

    assert left(world) == []
    assert not AccountRow.get(world.account.account_id).uploads


def test_pages_pass_a_hidden_dataset(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of a list skip a hidden dataset and return each dataset once."""
    first, finish = create(world), world.stores.datasets.finish
    seen: list[tuple[list[int], int | None]] = []

    def walk(*args: Any) -> Any:
        monkeypatch.undo()
        last = create(world)
        for count in (1, 2, 3):
            ids, offset = [], 0
            for _ in range(4):
                page = world.container.datasets.list(
                    world.account.account_id, LANGUAGE, offset, count
                )
                ids += [view.dataset.dataset_id for view in page.items]
                offset = list_answer(page, lambda view: view, Window(offset, count)).next_offset
                if offset is None:
                    break
            seen.append((ids, offset))
        assert seen == [([first.dataset.dataset_id, last.dataset.dataset_id], None)] * 3
        return finish(*args)

    monkeypatch.setattr(world.stores.datasets, "finish", walk)
    create(world)
    assert seen


def test_an_answer_has_the_labels_that_another_attempt_stored(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow attempt returns the stored labels, not those it reserved itself."""
    finish = world.stores.datasets.finish

    def after_another(*args: Any) -> Any:
        monkeypatch.undo()
        with attempt(world, 2):
            create(world)
        return finish(*args)

    monkeypatch.setattr(world.stores.datasets, "finish", after_another)
    with attempt(world, 1):
        made = create(world)
    assert made.labels == world.get(made).labels


def test_a_slow_attempt_that_fails_returns_the_dataset_of_the_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing slow attempt returns the later attempt's dataset, which stays complete."""
    finish = world.stores.datasets.finish
    made: list[Any] = []

    def finish_after_another(*args: Any) -> None:
        if made:
            return finish(*args)
        made.append(None)
        world.clock.advance(seconds=1)
        with attempt(world, 2):
            made[0] = upload(world)
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.datasets, "finish", finish_after_another)
    with attempt(world, 1):
        assert upload(world).dataset.dataset_id == made[0].dataset.dataset_id

    assert AccountRow.get(world.account.account_id).uploads
    world.work()
    assert world.get(made[0]).dataset.status == SUCCEEDED


def test_the_uploads_of_two_attempts_end_as_one(world: World) -> None:
    """Two attempts at one upload end with one dataset, whose bytes are counted once."""
    with attempt(world, 1), dying(world, lambda before: "PutObject" in before), pytest.raises(Died):
        upload(world)
    world.clock.advance(seconds=1)
    with attempt(world, 2):
        made = upload(world)
    row = AccountRow.get(world.account.account_id)
    assert len(row.uploads) == 2
    world.work()

    row.refresh(consistent_read=True)
    assert not row.uploads
    assert row.stored_bytes == world.get(made).dataset.bytes


def test_a_slow_attempt_at_an_uploaded_file_uncounts_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow attempt cannot use a file claimed by the later one, whose upload stays counted."""
    files = world.stores.uploaded_files
    source = UploadSource(path=world.send_file(a_csv([("text", "label"), *ROWS])))
    claim = files.claim
    made: list[Any] = []

    def claim_after_another(*args: Any) -> None:
        if not made:
            made.append(None)
            with attempt(world, 2):
                made[0] = world.container.uploads.create(world.account, LANGUAGE, source, FIELDS)
        claim(*args)

    monkeypatch.setattr(files, "claim", claim_after_another)
    with attempt(world, 1), pytest.raises(DownloadFailed):
        world.container.uploads.create(world.account, LANGUAGE, source, FIELDS)

    assert len(AccountRow.get(world.account.account_id).uploads) == 1
    world.work()
    assert world.get(made[0]).dataset.status == SUCCEEDED


def test_a_slow_attempt_at_an_addition_leaves_the_file_of_the_later_one(world: World) -> None:
    """If a later attempt has started the addition, a slow one whose checks fail changes nothing."""
    view, uploads = world.dataset(ROWS), world.container.uploads
    more = a_source([("sit down", "book"), ("get up", "cancel")])

    def prepare_after_another() -> None:
        with attempt(world, 2):
            uploads.add(world.account, view, more)
        raise DatasetNotYetAvailable

    with attempt(world, 1):
        uploads.add(world.account, view, more, prepare_after_another)
    assert AccountRow.get(world.account.account_id).uploads
    world.work()

    found = world.get(view).dataset
    assert (found.status, found.total) == (SUCCEEDED, len(ROWS) + 2)


def test_a_repeated_deletion_of_leftovers_leaves_what_was_created_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated deletion of leftovers does not delete what was created again."""
    with attempt(world, 1), dying(world, lambda before: "PutObject" in before), pytest.raises(Died):
        upload(world)
    world.clock.advance(seconds=world.settings.lease_seconds * 3)
    world.container.sweeping.run()
    [job] = world.messages()
    with monkeypatch.context() as patch:
        patch.setattr(world.stores.deletions, "finish", dies)
        with pytest.raises(Died):
            world.deliver(job)
    with attempt(world, 2):
        made = upload(world)
    world.clock.advance(seconds=world.settings.lease_seconds * 3)
    world.deliver(job)
    world.settle()

    assert world.get(made).dataset.status == SUCCEEDED


def dies(*_: object) -> None:
    """Kill a worker."""
    raise Died
