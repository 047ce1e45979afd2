"""Files of calls that queue runs: a crashed call leaves none, and each is used once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.common.repeats import KeyedCall, under_key
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.models.model import QUEUED, SUCCEEDED, Model, TrainRequest
from chalicelib.errors import (
    Conflict,
    DownloadFailed,
    ModelBusy,
    StorageUnavailable,
    TooLarge,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.services.training.adjusting import AdjustmentRequest
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.fetching.downloads import Probe
from chalicelib.stores.models import run_files
from tests.builders import World, a_csv, some_rows
from tests.services.dying import Died, dying

ROWS = some_rows({"book": 15, "cancel": 15})
SENT = [("text", "label"), *some_rows({"book": 12, "cancel": 12}, "sent")]
ARCHIVE = UploadSource(content=b"PK\x03\x04 no more than a head", file_name="model.zip")


def import_archive(world: World) -> Callable[[], object]:
    """Return a call that imports an archive."""
    imports = world.container.imports
    return lambda: imports.request(world.account, "language", ARCHIVE, "theirs")


def train_with_upload(world: World) -> Callable[[], object]:
    """Return a call that trains with uploaded unlabelled texts."""
    fields = NewDataset("Names", "text-intent", "en_US", "book_flight,cancel_order")
    view = world.container.datasets.create(world.account, "language", fields)
    params = {"minimumExamples": 0, "unlabelled": world.send_file(a_csv(some_rows({"any": 30})))}
    return lambda: world.train(view, TrainRequest(params=params))


@pytest.mark.parametrize("prepare", [import_archive, train_with_upload])
@pytest.mark.parametrize("count", range(8))
def test_a_new_model_leaves_no_file_if_its_call_dies(
    world: World, prepare: Callable[[World], Callable[[], object]], count: int
) -> None:
    """A crash at any write leaves the model queued with its files, or nothing."""
    call = prepare(world)
    with dying(world, lambda before: len(before) == count) as seen:
        try:
            call()
        except Died:
            assert len(seen) == count
    found = world.stores.models.of_account(world.account.account_id)
    if not found:
        world.settle()
        assert world.rows(ModelRow) == []
        assert world.objects("models/") == []
        return
    assert [model.status for model in found] == [QUEUED]
    assert len(world.objects("models/")) == 1


def _attempt(world: World, number: int) -> Model:
    """Import a model with the same idempotency key as the other attempts."""
    call = KeyedCall(world.account.account_id, "k", "r", "A" * 26, world.clock(), 0, number)
    with under_key(call):
        return world.container.imports.request(world.account, "language", ARCHIVE, "theirs")


@pytest.fixture
def dead_attempt(world: World) -> None:
    """Kill the first attempt at an import after it has stored the hidden model."""
    with dying(world, lambda before: "PutObject" in before), pytest.raises(Died):
        _attempt(world, 1)


@pytest.mark.usefixtures("dead_attempt")
def test_a_later_attempt_replaces_the_hidden_model_of_a_dead_one(world: World) -> None:
    """With an idempotency key the second attempt replaces the dead one's hidden model."""
    world.clock.advance(seconds=1)
    found = _attempt(world, 2)

    assert [row.model_id for row in world.rows(ModelRow)] == [found.model_id]
    assert len(world.objects("models/")) == 1


def test_a_slow_attempt_that_fails_leaves_the_model_and_the_file_of_a_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing slow attempt leaves the model and file of the later attempt."""
    put = world.stores.imported_files.put

    def put_before_another(*args: Any) -> None:
        monkeypatch.undo()
        put(*args)
        world.clock.advance(seconds=1)
        # Ending here leaves what a running attempt has stored so far.
        with dying(world, lambda before: before[-1:] == ["PutObject"]), pytest.raises(Died):
            _attempt(world, 2)

    monkeypatch.setattr(world.stores.imported_files, "put", put_before_another)
    with pytest.raises(StorageUnavailable):
        _attempt(world, 1)

    assert len(world.objects("models/")) == 1
    assert [row.status for row in world.rows(ModelRow)] == [QUEUED]


@pytest.mark.usefixtures("dead_attempt")
def test_a_model_that_was_created_again_after_the_sweep_can_be_deleted(world: World) -> None:
    """A model created again after the sweep can be deleted, although the ids are equal."""
    world.settle()
    found = _attempt(world, 2)
    world.work()
    world.container.deletions.delete_model(world.account, found.model_id)
    world.settle()

    assert world.rows(ModelRow) == []


@pytest.mark.usefixtures("dead_attempt")
def test_a_model_that_the_sweep_deletes_is_not_created_before_it_is_gone(world: World) -> None:
    """While the sweep deletes a model's leftovers, the model cannot be created again."""
    world.clock.advance(seconds=world.settings.lease_seconds * 2 + 1)
    world.container.sweeping.run()
    world.clock.advance(seconds=1)
    for number in (2, 3):
        with pytest.raises(StorageUnavailable):
            _attempt(world, number)
    world.settle()
    found = _attempt(world, 4)
    world.settle()

    assert [row.model_id for row in world.rows(ModelRow)] == [found.model_id]


def test_an_archive_whose_server_states_no_size_is_checked_for_storage(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive without a stated size is checked against the quota after its download."""

    def fetch(_: object, target: Any, *__: object) -> None:
        target.write(bytes(2_000))

    monkeypatch.setattr(world.stores.downloads, "check", lambda *_: Probe("", None, b"PK"))
    monkeypatch.setattr(world.stores.downloads, "fetch", fetch)
    monkeypatch.setattr(world.stores.capacity, "_max_stored_bytes", 1_000)
    source = UploadSource(path="https://example.com/model.zip")
    model = world.container.imports.request(world.account, "language", source, "theirs")
    world.work()

    found = world.container.models.get(model.account_id, model.model_id)
    assert found.status == "FAILED"
    assert "adds about 2000; the limit is 1000" in found.failure


@pytest.fixture
def trained(world: World) -> Model:
    """A trained model of two labels."""
    return world.model(world.dataset(ROWS), TrainRequest())


def adjust(world: World, model: Model, path: str) -> None:
    """Queue an adjustment to uploaded texts."""
    model = world.container.models.get(model.account_id, model.model_id)
    wanted = AdjustmentRequest(UploadSource(path=path))
    world.container.adjustments.request(world.account, model, wanted, 0.0)


def test_an_upload_is_used_for_one_adjustment(world: World, trained: Model) -> None:
    """A second adjustment with the same path is refused; the file is deleted once copied."""
    path = world.send_file(a_csv(SENT))
    adjust(world, trained, path)
    assert world.objects("incoming/") == []
    world.work()
    with pytest.raises(DownloadFailed, match="used already"):
        adjust(world, trained, path)

    found = world.container.models.get(trained.account_id, trained.model_id)
    assert (found.status, found.version != trained.version) == (SUCCEEDED, True)


def test_of_two_adjustments_with_one_upload_one_is_refused(
    world: World, trained: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two adjustments that use one upload, one is refused and deletes nothing."""
    path, seen = world.send_file(a_csv(SENT)), []
    read_file = type(world.stores.uploaded_files).read

    def meet(self: Any, *args: Any, **more: Any) -> None:
        read_file(self, *args, **more)
        if not seen:
            seen.append(path)
            adjust(world, trained, path)

    monkeypatch.setattr(type(world.stores.uploaded_files), "read", meet)
    with pytest.raises(DownloadFailed, match="used already"):
        adjust(world, trained, path)
    assert len([key for key in world.objects("models/") if "/adjustments/" in key]) == 1


def test_a_refused_adjustment_releases_its_upload(
    world: World, trained: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If an adjustment is refused, its upload can be used again."""
    path = world.send_file(a_csv(SENT))
    with monkeypatch.context() as patch:
        patch.setattr(run_files, "MAX_TEXT_FILE_BYTES", 100)
        with pytest.raises(TooLarge, match=r"path.*at most 100"):
            adjust(world, trained, path)
    world.container.training.retrain(world.account, trained, TrainRequest())
    with pytest.raises(ModelBusy):
        adjust(world, trained, path)
    world.work()

    adjust(world, trained, path)


def test_a_deletion_of_a_dataset_is_not_delayed_by_new_adjustments(
    world: World, trained: Model
) -> None:
    """While a dataset is being deleted its models cannot be adjusted; afterwards they can."""
    view = world.container.datasets.get(trained.account_id, LANGUAGE, trained.dataset_id)
    path = world.send_file(a_csv(SENT))
    deletion = world.container.deletions.delete_dataset(
        world.account, LANGUAGE, view.dataset.dataset_id
    )
    with pytest.raises(Conflict, match="is being deleted"):
        adjust(world, trained, path)
    world.work()

    ended = world.container.deletions.get(trained.account_id, deletion.deletion_id)
    assert ended.status == SUCCEEDED
    adjust(world, trained, path)
