"""Deletions: refusals, repeated calls, and that nothing remains."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import (
    DatasetInTraining,
    DatasetNotFound,
    DeletionNotFound,
    ModelBusy,
    ModelNotFound,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import (
    DatasetRow,
    DeletionRow,
    ExampleChunkRow,
    LabelRow,
    ModelRow,
    ReceiptRow,
)
from tests.builders import World, a_source, some_rows

ROWS = some_rows({"book": 120, "cancel": 5})


def test_only_datasets_of_failed_uploads_are_deleted(world: World) -> None:
    """Only datasets whose first upload failed are deleted; one with data and a failed PUT stays."""
    failed = [world.dataset([("", "")]) for _ in range(3)]
    kept = world.dataset(ROWS)
    world.clock.advance(seconds=1)
    world.container.uploads.add(world.account, kept, a_source([("", "")]))
    world.work()
    other = world.new_account("o@example.com")
    world.dataset([("", "")], account=other)
    statuses = {world.get(view).dataset.status for view in (*failed, kept)}
    assert statuses == {"FAILED"}
    delete = world.container.deletions.delete_failed

    first = delete(world.account, LANGUAGE, 2)
    rest = delete(world.account, LANGUAGE, 100)
    world.work()

    ids = [view.dataset.dataset_id for view in failed]
    assert [int(one.object_id) for one in (*first, *rest)] == ids
    assert len(first) == 2
    assert delete(world.account, LANGUAGE, 100) == delete(world.account, VISION, 100) == []
    assert world.get(kept).dataset.available
    assert len(world.rows(DatasetRow)) == 2


def test_dataset_with_everything_leaves_nothing(world: World) -> None:
    """All rows and objects of a dataset are deleted; only the deletion record stays."""
    view = world.dataset(ROWS)
    world.clock.advance(seconds=1)
    world.container.uploads.add(world.account, view, a_source([("x", "from a put")]))
    world.work()
    world.container.examples.add_text(world.account, world.get(view), "y", None, "single")
    model = world.model(world.dataset(some_rows({"a": 5, "b": 5})))
    world.work()
    delete = world.container.deletions.delete_dataset

    first = delete(world.account, LANGUAGE, view.dataset.dataset_id)

    assert (first.status, first.progress, first.message) == ("QUEUED", 0, None)
    assert (first.kind, first.object_id) == ("DATASET", str(view.dataset.dataset_id))
    assert world.get(view).dataset.status_message == "DELETION_PENDING"
    assert world.get(view).labels == world.get(view).labels
    world.work()
    assert not world.traces(view.dataset.dataset_id)
    assert not world.objects(f"datasets/{view.dataset.dataset_id}/")
    assert len(world.rows(DatasetRow)) == 1
    assert len(world.rows(LabelRow)) == 2
    assert len(world.rows(ReceiptRow)) == 1
    assert len([row for row in world.rows(ExampleChunkRow) if row.body]) == 2
    done = world.container.deletions.get(world.account.account_id, first.deletion_id)
    assert (done.status, done.progress) == ("SUCCEEDED", 1)
    assert done == delete(world.account, LANGUAGE, view.dataset.dataset_id)
    assert model.status == "SUCCEEDED"
    assert world.messages() == []


def test_dataset_in_training(world: World) -> None:
    """A dataset with an open training cannot be deleted; the error names the model."""
    view = world.dataset(some_rows({"a": 5, "b": 5}))
    model = world.train(view).model
    delete, dataset_id = world.container.deletions.delete_dataset, view.dataset.dataset_id
    text = (
        f"Dataset {dataset_id} cannot be deleted while model {model.model_id} is %s. "
        "Wait until its training has finished, then delete it again."
    )

    with pytest.raises(DatasetInTraining) as refusal:
        delete(world.account, LANGUAGE, dataset_id)
    assert refusal.value.message == text % "QUEUED"
    world.stores.model_leases.acquire(model.account_id, model.model_id, 1)
    with pytest.raises(DatasetInTraining) as refusal:
        delete(world.account, LANGUAGE, dataset_id)
    assert refusal.value.message == text % "RUNNING"
    assert world.get(view).dataset.available
    assert world.rows(DeletionRow) == []

    world.clock.advance(minutes=5)
    world.settle()
    assert delete(world.account, LANGUAGE, dataset_id).status == "QUEUED"


def test_dataset_that_is_uploading(world: World) -> None:
    """DELETE ends an upload without leftovers, and a late message does nothing."""
    view = world.upload(ROWS)
    [reading] = world.messages()

    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    world.deliver(reading)
    world.work()
    world.deliver(reading)

    assert not world.traces(view.dataset.dataset_id)
    assert not world.objects()


def test_upload_that_gave_up_halfway_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels and chunks of failed uploads are deleted with the dataset, also after a later PUT."""
    view = world.dataset(some_rows({"a": 5}))
    put = world.stores.receipts.put
    world.container.uploads.add(world.account, view, a_source(some_rows({"b": 3, "c": 3})))

    def refuse(*args: object, **kwargs: object) -> None:
        """Fail each attempt after its chunks were written."""
        raise MemoryError

    monkeypatch.setattr(world.stores.receipts, "put", refuse)
    [message] = world.messages()
    for _ in range(2):
        with pytest.raises(MemoryError):
            world.deliver(message)
    monkeypatch.setattr(world.stores.receipts, "put", put)
    world.stores.dataset_leases.acquire_upload(
        world.account.account_id, LANGUAGE, view.dataset.dataset_id, message[1].upload_id
    )
    world.clock.advance(minutes=5)
    world.settle()
    assert world.get(view).dataset.status == "FAILED"
    assert len(world.rows(LabelRow)) == 3
    world.container.uploads.add(world.account, world.get(view), a_source([("x", "d")]))
    world.work()

    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    world.settle()

    for row in (DatasetRow, LabelRow, ExampleChunkRow, ReceiptRow):
        assert world.rows(row) == []
    assert not world.objects()


def test_repeated_delete_of_a_dataset(world: World) -> None:
    """A repeated DELETE always returns the same record."""
    view = world.container.datasets.create(
        world.account, LANGUAGE, NewDataset("empty", "text-intent")
    )
    delete, dataset_id = world.container.deletions.delete_dataset, view.dataset.dataset_id

    ids = {delete(world.account, LANGUAGE, dataset_id).deletion_id}
    ids.add(delete(world.account, LANGUAGE, dataset_id).deletion_id)
    world.work()
    ids.add(delete(world.account, LANGUAGE, dataset_id).deletion_id)

    assert len(ids) == 1
    assert len(world.rows(DeletionRow)) == 1


def test_dataset_of_another_account_or_family(world: World) -> None:
    """A dataset of another account is a 404 before, during and after its deletion."""
    view = world.dataset(some_rows({"a": 1}))
    other = world.new_account("other@example.com")
    delete, dataset_id = world.container.deletions.delete_dataset, view.dataset.dataset_id
    record = None
    for _ in range(2):
        for account, family in ((other, LANGUAGE), (world.account, VISION)):
            with pytest.raises(DatasetNotFound, match=f"Unable to find dataset {dataset_id}"):
                delete(account, family, dataset_id)
        record = delete(world.account, LANGUAGE, dataset_id)
        world.work()

    assert record is not None
    with pytest.raises(DeletionNotFound):
        world.container.deletions.get(other.account_id, record.deletion_id)
    for deletion_id in ("A" * 26, "", "x"):
        with pytest.raises(DeletionNotFound):
            world.container.deletions.get(world.account.account_id, deletion_id)


def test_running_deletion_has_begun(world: World) -> None:
    """A RUNNING deletion has a progress between zero and one, which never falls."""
    view = world.dataset(ROWS)
    deletion = world.container.deletions.delete_dataset(
        world.account, LANGUAGE, view.dataset.dataset_id
    )
    shown = []
    report = world.stores.deletions.report
    get = world.container.deletions.get

    def look(*args: object) -> None:
        """Read the record before and after each report."""
        shown.append(get(world.account.account_id, deletion.deletion_id))
        report(*args)
        shown.append(get(world.account.account_id, deletion.deletion_id))

    world.stores.deletions.report = look
    world.work()

    assert {record.status for record in shown} == {"RUNNING"}
    assert all(0 < record.progress < 1 for record in shown)
    assert [r.progress for r in shown] == sorted(r.progress for r in shown)


def test_deletion_of_many_labels_makes_few_calls(world: World) -> None:
    """Each label costs two key reads; writes and reports are shared by many labels."""
    view = world.dataset(some_rows({f"label {number}": 1 for number in range(60)}))
    owner, dataset_id = world.account, view.dataset.dataset_id
    world.container.deletions.delete_dataset(owner, LANGUAGE, dataset_id)
    calls, bodies = Counter[str](), []

    def note(parsed: dict[str, Any], model: Any, **_: Any) -> None:
        """Record one answered call."""
        calls[model.name] += 1
        bodies.extend(row for row in parsed.get("Items", ()) if "body" in row)

    events = world.stores.clients.dynamodb.meta.events
    events.register("after-call", note)
    world.work()
    events.unregister("after-call", note)

    assert world.rows(ExampleChunkRow) == world.rows(LabelRow) == bodies == []
    assert calls["Query"] <= 2 * 60 + 10
    assert calls["BatchWriteItem"] + calls["UpdateItem"] <= 30


def test_model_leaves_nothing(world: World) -> None:
    """All versions and curves of a model are deleted; its dataset stays."""
    view = world.dataset(some_rows({"a": 5, "b": 5}))
    model = world.model(view)
    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))
    delete = world.container.deletions.delete_model
    with pytest.raises(ModelBusy, match="cannot be deleted while it is QUEUED"):
        delete(world.account, model.model_id)
    world.work()

    ids = {delete(world.account, model.model_id).deletion_id for _ in range(2)}
    with pytest.raises(ModelNotFound):
        world.container.models.get(world.account.account_id, model.model_id)
    assert world.container.models.list(view, 0, 100).items == ()
    world.work()
    ids.add(delete(world.account, model.model_id).deletion_id)

    assert len(ids) == 1
    assert world.rows(ModelRow) == []
    assert not world.objects("models/")
    assert world.get(view).dataset.total == 10


def test_model_of_another_account(world: World) -> None:
    """A model of another account is a 404 even while it is being deleted."""
    model = world.model(world.dataset(some_rows({"a": 5, "b": 5})))
    other = world.new_account("other@example.com")
    for _ in range(2):
        with pytest.raises(ModelNotFound):
            world.container.deletions.delete_model(other, model.model_id)
        world.container.deletions.delete_model(world.account, model.model_id)
    for model_id in ("A" * 26, "CommunitySentiment", ""):
        with pytest.raises(ModelNotFound):
            world.container.deletions.delete_model(world.account, model_id)
