"""The sweep: lost messages, dead workers, interrupted calls, closed accounts."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, DatasetView
from chalicelib.domain.jobs.deletion import DATASET, MODEL, deletion_of
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import StorageUnavailable
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import (
    DatasetRow,
    ExampleChunkRow,
    ExportRow,
    LabelRow,
    ModelRow,
    QuotaRow,
    ReceiptRow,
)
from chalicelib.stores.jobs.queues import DELETE, INGEST, TRAIN_FREE, TRAIN_PAID
from tests.builders import World, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})


def _sweep(world: World) -> list[str]:
    """Sweep once and return the queues that got a message."""
    sent = world.container.sweeping.run()
    queues = [queue for queue, _ in world.messages()]
    assert len(queues) == sent
    return queues


def test_recent_work_is_not_resent(world: World) -> None:
    """Recent jobs are not sent again; jobs of dead workers are."""
    view = world.dataset(ROWS)
    world.upload(ROWS)
    model = world.train(view).model
    world.messages()

    assert _sweep(world) == []
    world.clock.advance(minutes=14)
    world.stores.model_leases.acquire(model.account_id, model.model_id, 1)
    assert _sweep(world) == []
    world.clock.advance(seconds=59)
    assert _sweep(world) == []
    world.clock.advance(seconds=2)

    assert _sweep(world) == [INGEST, TRAIN_FREE]
    assert _sweep(world) == []


def test_lost_messages_are_sent_again(world: World) -> None:
    """Uploads, trainings of both queues and deletions with lost messages are sent again."""
    paid = world.new_account("paid@example.com", "GOLD")
    view, gone = world.dataset(ROWS), world.dataset(ROWS)
    model, theirs = world.model(view), world.dataset(ROWS, account=paid)
    world.upload(ROWS)
    world.train(view)
    world.train(theirs, account=paid)
    world.container.deletions.delete_dataset(world.account, LANGUAGE, gone.dataset.dataset_id)
    world.container.deletions.delete_model(world.account, model.model_id)
    world.messages()
    world.clock.advance(minutes=16)

    sent = _sweep(world)

    assert sent[:3] == [INGEST, TRAIN_PAID, TRAIN_FREE]
    assert set(sent[3:]) == {DELETE}
    assert _sweep(world) == []
    world.clock.advance(minutes=3)
    world.settle()
    assert not world.traces(gone.dataset.dataset_id)
    assert {row.status for row in world.rows(ModelRow)} == {"SUCCEEDED"}
    assert {row.status for row in world.rows(DatasetRow)} == {"SUCCEEDED"}


def test_queue_that_was_down_at_the_request(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work accepted while no queue answered is done after a sweep."""
    view = world.dataset(ROWS)
    send = world.stores.queues.send

    def refuse(*args: object) -> None:
        """Raise the error of an unavailable queue."""
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.queues, "send", refuse)
    uploaded = world.upload(ROWS)
    model = world.train(view).model
    monkeypatch.setattr(world.stores.queues, "send", send)
    world.clock.advance(minutes=16)
    world.settle()

    assert world.get(uploaded).dataset.status == "SUCCEEDED"
    assert world.container.models.get(model.account_id, model.model_id).status == "SUCCEEDED"


def test_sweep_that_could_not_send_tries_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a sweep is interrupted while sending, the next ones do the rest."""
    view = world.upload(ROWS)
    world.messages()
    send = world.stores.queues.send

    def refuse(*args: object) -> None:
        """Raise the error of an unavailable queue."""
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.queues, "send", refuse)
    world.clock.advance(minutes=16)
    with pytest.raises(StorageUnavailable):
        world.container.sweeping.run()
    monkeypatch.setattr(world.stores.queues, "send", send)
    world.clock.advance(minutes=16)
    world.settle()

    assert world.get(view).dataset.status == "SUCCEEDED"


def test_deletion_cut_off_before_its_record(world: World) -> None:
    """A dataset and a model that a crashed call only marked are still deleted."""
    view = world.dataset(ROWS)
    model = world.model(world.dataset(ROWS))
    assert world.stores.datasets.start_deletion(view.dataset)
    assert world.stores.models.start_deletion(model)
    world.clock.advance(minutes=3)

    world.settle()

    account_id = world.account.account_id
    for deletion in (
        deletion_of(account_id, DATASET, str(view.dataset.dataset_id), LANGUAGE),
        deletion_of(account_id, MODEL, model.model_id),
    ):
        assert world.container.deletions.get(account_id, deletion.deletion_id).status == "SUCCEEDED"
    assert not world.traces(view.dataset.dataset_id)
    assert not world.traces(model.model_id)


def test_upload_whose_workers_die(world: World) -> None:
    """An upload that kills every worker is FAILED after its attempts, with a receipt."""
    view = world.upload(ROWS)
    [message] = world.messages()
    for _ in range(3):
        taken = world.stores.dataset_leases.acquire_upload(
            view.dataset.account_id, LANGUAGE, view.dataset.dataset_id, view.dataset.upload_id
        )
        assert taken is not None
        world.deliver(message)
        world.clock.advance(minutes=3)

    world.settle()

    view = world.get(view)
    assert view.dataset.status_message == (
        "FAILED: The file could not be read in 3 attempts. Upload it again."
    )
    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert receipt.status == "FAILED"


def test_closed_account_is_emptied_when_its_time_is_over(world: World) -> None:
    """A closed account's data is deleted after its retention, and no other data."""
    other = world.new_account("other@example.com")
    theirs = world.dataset(some_rows({"a": 1}), account=other)
    view = world.dataset(ROWS)
    world.model(view)
    training = world.train(view, TrainRequest(epochs=2)).model
    world.upload(ROWS)
    world.container.datasets.create(world.account, LANGUAGE, NewDataset("e", "text-intent"))
    guard = world.stores.guards.new("A" * 26)
    world.stores.datasets.add_training(_made(world, ROWS).dataset, guard)
    world.clock.advance(seconds=1)
    due = world.clock.now.replace(day=28)
    world.stores.accounts.close(world.account.account_id, due)
    world.settle()
    assert len(world.rows(ModelRow)) == 2
    assert training.model_id in {row.model_id for row in world.rows(ModelRow)}

    world.clock.now = due
    for _ in range(3):
        world.settle()

    assert [account.account_id for account in world.stores.accounts.list_all()] == ["2"]
    kept = theirs.dataset.dataset_id
    assert [int(row.dataset_id) for row in world.rows(DatasetRow)] == [kept]
    assert [int(row.dataset_id) for row in world.rows(LabelRow)] == [kept]
    assert [int(row.dataset_id) for row in world.rows(ReceiptRow)] == [kept]
    assert len([row for row in world.rows(ExampleChunkRow) if row.body]) == 1
    assert world.rows(ModelRow) == []
    assert {key.split("/")[1] for key in world.objects()} == {str(kept)}


def test_closed_account_leaves_no_usage_and_no_exports(world: World) -> None:
    """Usage, rates and exports are deleted with the account, before they would expire."""
    other = world.new_account("other@example.com")
    view = world.dataset(ROWS)
    world.container.model_exports.create(world.model(view), "bundle")
    world.work()
    world.container.exports.create(world.account, view, "csv", "all")
    for account in (world.account, other):
        QuotaRow(account.account_id, "predictions#2026-11", used=1).save()
        QuotaRow(account.account_id, "rate#records", full_at=1).save()

    world.stores.accounts.close(world.account.account_id, world.clock.now)
    for _ in range(3):
        world.settle()

    assert world.rows(ExportRow) == world.objects() == []
    assert {row.account_id for row in world.rows(QuotaRow)} == {other.account_id}


def _made(world: World, rows: list[tuple[str, str]]) -> DatasetView:
    """Upload a file and let the workers read it, and whatever else waits."""
    view = world.upload(rows)
    world.work()
    return world.get(view)
