"""Repeated, late and reordered messages, and stalled workers, give the same end state."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from chalicelib import workers
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.domain.models.model import RUNNING, SUCCEEDED, TrainRequest
from chalicelib.services.uploads import readers
from chalicelib.stores.aws.tables import DatasetRow, ExampleChunkRow, LabelRow, ReceiptRow
from tests.builders import World, a_source, some_rows

ROWS = some_rows({"book": 6, "cancel": 6})
FIELDS = UploadFields("intents", "text-intent")


pytestmark = pytest.mark.usefixtures("quick_engine")


@pytest.mark.parametrize("seed", range(3))
def test_every_message_twice_and_out_of_order(world: World, seed: int) -> None:
    """Uploads, PUTs, trainings and deletions end right with doubled and shuffled messages."""
    shuffle = random.Random(seed).shuffle
    seen: list[Any] = []

    def work() -> None:
        """Deliver the waiting messages twice in random order, mixed with earlier ones."""
        while fresh := world.messages():
            seen.extend(fresh)
            again = [*fresh, *fresh, *seen]
            shuffle(again)
            for message in again:
                world.deliver(message)

    view = world.upload(ROWS)
    gone = world.upload(ROWS)
    work()
    world.container.uploads.add(world.account, world.get(view), a_source([("one more", "book")]))
    world.container.deletions.delete_dataset(world.account, LANGUAGE, gone.dataset.dataset_id)
    work()
    first = world.train(world.get(view)).model
    work()
    model = world.container.models.get(world.account.account_id, first.model_id)
    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))
    work()

    model = world.container.models.get(world.account.account_id, first.model_id)
    dataset = world.get(view).dataset
    assert (model.status, model.run, model.version) == (SUCCEEDED, 2, "r2-2")
    assert (dataset.status_message, dataset.total, dataset.duplicates) == ("SUCCEEDED", 13, 0)
    assert dataset.training == frozenset()
    assert not world.traces(gone.dataset.dataset_id)
    assert world.container.sweeping.run() == 0


def test_late_message_of_an_earlier_upload(world: World) -> None:
    """A late message of the first upload processes the waiting PUT, once."""
    view = world.upload(ROWS)
    late = world.messages()
    for message in late:
        world.deliver(message)
    world.clock.advance(seconds=1)
    world.container.uploads.add(world.account, world.get(view), a_source([("one more", "book")]))

    for message in late:
        world.deliver(message)

    assert world.get(view).dataset.status == "SUCCEEDED"
    world.work()
    assert world.get(view).dataset.total == len(ROWS) + 1
    [row] = world.rows(DatasetRow)
    assert (int(row.attempts), row.lane, row.open) == (1, None, None)


def test_late_message_of_an_earlier_run(world: World) -> None:
    """A late message of the first run processes the waiting run, once."""
    view = world.dataset(ROWS)
    world.train(view)
    late = world.messages()
    world.deliver(late[0])
    [model] = world.container.models.list(view, 0, 10).items
    queued = world.container.training.retrain(world.account, model, TrainRequest(epochs=2))

    world.deliver(late[0])

    world.work()
    model = world.container.models.get(model.account_id, model.model_id)
    assert queued.model.run == model.run == 2
    assert (model.status, model.version, model.attempts) == (SUCCEEDED, "r2-2", 1)


def test_training_near_the_deadline_continues(world: World) -> None:
    """A run whose function has no time left is resumed by the next one and finishes."""
    view = world.dataset(ROWS)
    model_id = world.train(view).model.model_id
    [message] = world.messages()
    world.deliver(message, lambda: 30.0)

    model = world.container.models.get(world.account.account_id, model_id)
    assert (model.status, model.attempts) == (RUNNING, 0)
    [continuation] = world.messages()
    assert continuation == message
    world.deliver(continuation)
    assert world.container.models.get(world.account.account_id, model_id).status == SUCCEEDED


def test_progress_never_falls_over_continuations(world: World) -> None:
    """The progress that callers see never falls when the next function continues a run."""
    view = world.dataset(ROWS)
    model_id = world.train(view).model.model_id
    [message] = world.messages()
    world.stores.model_leases.report(
        world.stores.model_leases.acquire(world.account.account_id, model_id, 1), 0.4, 0
    )
    world.clock.advance(minutes=2)
    shown = []

    def remaining() -> float:
        """Look at the progress whenever the worker looks at its time."""
        model = world.container.models.get(world.account.account_id, model_id)
        shown.append(model.progress)
        return 900.0

    world.deliver(message, remaining)

    assert shown == sorted(shown)
    assert shown[0] == 0.4


def test_two_workers_on_one_training(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker stalled past its lease just before publishing publishes nothing."""
    view = world.dataset(ROWS)
    model_id = world.train(view).model.model_id
    [message] = world.messages()
    stalled, other = world, world.another()
    files = stalled.stores.model_files

    def stall() -> None:
        """Let another worker do the whole run in between."""
        world.clock.advance(minutes=5)
        other.deliver(message)

    _once_before(monkeypatch, files, "put_version", stall)
    stalled.deliver(message)

    model = world.container.models.get(world.account.account_id, model_id)
    assert (model.status, model.version) == (SUCCEEDED, "r1-2")
    assert not world.objects(f"models/{model_id}/r1-1/")
    assert world.get(view).dataset.training == frozenset()


def test_stalled_training_of_a_deleted_model(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that wakes up after its model was deleted leaves nothing behind."""
    view = world.dataset(ROWS)
    model_id = world.train(view).model.model_id
    [message] = world.messages()
    other = world.another()

    def stall() -> None:
        """Let another worker finish, and the caller delete the model, in between."""
        world.clock.advance(minutes=5)
        other.deliver(message)
        other.container.deletions.delete_model(world.account, model_id)
        other.settle()

    _once_before(monkeypatch, world.stores.model_files, "put_version", stall)
    world.deliver(message)

    assert not world.traces(model_id)


@pytest.mark.parametrize("step", ["labels.put", "examples.put_chunk", "receipts.put"])
def test_two_workers_on_one_upload(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A worker stalled past its lease while writing does not change committed data."""
    view = world.upload([*ROWS, ROWS[0]])
    [message] = world.messages()
    other = world.another()

    def stall() -> None:
        """Let another worker read the file, and a caller add a text, in between."""
        world.clock.advance(minutes=5)
        other.deliver(message)
        other.container.examples.add_text(
            world.account, other.get(view), "added meanwhile", None, "cancel"
        )

    store, _, method = step.partition(".")
    _once_before(monkeypatch, getattr(world.stores, store), method, stall)
    world.deliver(message)

    dataset = world.get(view)
    page = world.container.examples.list_dataset(world.account, dataset, "upload", 0, 100)
    assert [*(text for text, _ in ROWS), "added meanwhile"] == [e.location for e in page.items]
    assert (dataset.dataset.status, dataset.dataset.duplicates) == ("SUCCEEDED", 1)
    [receipt] = world.container.receipts.list(dataset, 0, 25).items
    assert (receipt.status, receipt.seen, receipt.kept, receipt.duplicates) == (
        "SUCCEEDED",
        13,
        12,
        1,
    )


@pytest.mark.parametrize("step", ["labels.put", "examples.put_chunk", "receipts.put"])
def test_stalled_upload_of_a_deleted_dataset(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A worker that wakes up after its dataset was deleted leaves nothing behind."""
    view = world.upload(ROWS)
    [message] = world.messages()
    other = world.another()

    def stall() -> None:
        """Let the dataset be deleted in between."""
        other.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
        other.settle()
        assert not world.rows(DatasetRow)

    store, _, method = step.partition(".")
    _once_before(monkeypatch, getattr(world.stores, store), method, stall)
    world.deliver(message)

    for row in (DatasetRow, LabelRow, ExampleChunkRow, ReceiptRow):
        assert not world.rows(row)
    assert not world.objects()


def test_deletion_waits_for_a_writer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are deleted only when the upload that DELETE ended can no longer write."""
    view = world.upload(ROWS)
    [message] = world.messages()
    deleted: list[int] = []

    def delete() -> None:
        """Ask for the deletion and let it run while the upload is being read."""
        other = world.another()
        other.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
        other.work()
        deleted.append(len(world.rows(DatasetRow)))

    _once_before(monkeypatch, readers, "scan", delete)
    world.deliver(message)

    assert deleted == [1]
    assert world.get(view).dataset.status_message == "DELETION_PENDING"
    world.settle()
    assert not world.traces(view.dataset.dataset_id)
    assert not world.objects()


def test_part_of_a_deleted_dataset_is_not_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embeddings computed while their dataset is deleted are removed."""
    view, [part] = world.unembedded(ROWS)

    def delete() -> None:
        """Delete the dataset while its part is being embedded."""
        other = world.another()
        other.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
        other.settle()

    _once_before(monkeypatch, world.stores.parts, "delete", delete)
    world.deliver(part)

    assert not world.objects()


def test_worker_out_of_time_in_a_call_leaves_the_job(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A synchronous upload that is too slow continues in the queue, with all its attempts."""
    monkeypatch.setattr(readers, "scan", _slow(world, readers.scan))
    view = world.container.uploads.create_sync(world.account, LANGUAGE, a_source(ROWS), FIELDS, 25)

    assert view.dataset.status_message == "UPLOADING"
    world.work()
    assert world.get(view).dataset.status_message == "SUCCEEDED"
    [row] = world.rows(DatasetRow)
    assert int(row.attempts) == 1


def test_message_that_is_not_a_job_is_dropped(world: World) -> None:
    """A message of an unknown kind does not stop the queue."""
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 900_000)
    gone = {"account_id": "7", "model_id": "M", "run": 1, "deletion_id": "D"}

    workers.handle("ingest", world.container, {"body": '{"job": "nonsense"}'}, context)
    for handler in ("train", "delete"):
        workers.handle(handler, world.container, {"body": json.dumps(gone)}, context)


def _slow(world: World, scan: Callable[..., Any]) -> Callable[..., Any]:
    """Make the first scan take a minute."""
    minutes = iter([1])

    def call(*args: Any) -> Any:
        """Scan, slowly at first."""
        world.clock.advance(minutes=next(minutes, 0))
        return scan(*args)

    return call


def _once_before(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], None]
) -> None:
    """Do something before the first call of a method, as if its caller had stalled."""
    method = getattr(owner, name)
    pending = [act]

    def call(*args: Any, **kwargs: Any) -> Any:
        """Act once, then call."""
        if pending:
            pending.pop()()
        return method(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)
