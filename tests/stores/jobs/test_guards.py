"""Guard entries protect a dataset exactly while a training is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.common.clock import to_milliseconds
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import DatasetInTraining, StorageUnavailable
from tests.builders import World, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})


@pytest.fixture
def view(world: World) -> DatasetView:
    """A dataset that can be trained."""
    return world.dataset(ROWS)


def test_entry_of_a_dead_request_blocks_for_a_minute(world: World, view: DatasetView) -> None:
    """The entry of a crashed request blocks the dataset for at most a minute."""
    guards, datasets = world.stores.guards, world.stores.datasets
    entry = guards.new("A" * 26)
    assert guards.add_to_account(world.account.account_id, entry, 5)
    assert datasets.add_training(view.dataset, entry)

    assert guards.guarding(view.dataset) == ("A" * 26, "QUEUED")
    world.clock.advance(seconds=61)

    assert guards.guarding(view.dataset) is None
    assert world.get(view).dataset.training == frozenset()
    assert datasets.start_deletion(view.dataset)


def test_left_over_entries_free_the_account(world: World, view: DatasetView) -> None:
    """Entries of crashed requests stop counting toward the limit after a minute."""
    guards, account_id = world.stores.guards, world.account.account_id
    for number in range(5):
        assert guards.add_to_account(account_id, guards.new(f"{number}" * 26), 5)
    assert not guards.add_to_account(account_id, guards.new("B" * 26), 5)

    world.clock.advance(seconds=61)

    assert guards.add_to_account(account_id, guards.new("B" * 26), 5)
    assert len(world.stores.accounts.training(account_id)) == 1


def test_open_training_guards_however_old(world: World, view: DatasetView) -> None:
    """The entry of a training that waits for hours is still valid."""
    model = world.train(view).model
    world.clock.advance(hours=5)

    assert world.stores.guards.guarding(view.dataset) == (model.model_id, "QUEUED")


def test_retraining_asked_for_at_the_end_of_a_run_is_guarded(
    world: World, view: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of one run does not remove the entry of a retraining requested meanwhile."""
    model_id = world.train(view).model.model_id
    leases = world.stores.model_leases
    succeed = leases.succeed

    def then_retrain(*args: object) -> list[str]:
        """Publish, and request a retraining before the worker continues."""
        gone = succeed(*args)
        monkeypatch.setattr(leases, "succeed", succeed)
        world.clock.advance(seconds=1)
        model = world.container.models.get(world.account.account_id, model_id)
        world.container.training.retrain(world.account, model, TrainRequest(epochs=2))
        return gone

    monkeypatch.setattr(leases, "succeed", then_retrain)
    [message] = world.messages()
    world.deliver(message)

    assert len(world.get(view).dataset.training) == 1
    assert len(world.stores.accounts.training(world.account.account_id)) == 1
    with pytest.raises(DatasetInTraining):
        world.container.deletions.delete_dataset(world.account, "language", view.dataset.dataset_id)
    world.work()
    assert world.get(view).dataset.training == frozenset()
    assert world.stores.accounts.training(world.account.account_id) == frozenset()


def test_entries_go_also_when_the_dataset_is_gone(world: World, view: DatasetView) -> None:
    """A run that ends after its dataset was deleted still releases the account's slot."""
    model = world.train(view).model
    world.stores.datasets.delete(view.dataset)

    world.work()

    ended = world.container.models.get(model.account_id, model.model_id)
    assert ended.status == "FAILED"
    assert "was deleted" in ended.failure
    assert world.stores.accounts.training(model.account_id) == frozenset()


def test_model_of_an_entry_that_failed_to_go(
    world: World, view: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the release of a finished training failed, its dataset can be deleted anyway."""
    model = world.train(view).model

    def refuse(*args: object) -> None:
        """Raise StorageUnavailable."""
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.guards, "release", refuse)
    world.work()
    world.clock.advance(seconds=61)

    assert world.container.models.get(model.account_id, model.model_id).status == "SUCCEEDED"
    assert world.stores.guards.guarding(replace(view.dataset)) is None


def test_the_oldest_open_training_is_known(world: World, view: DatasetView) -> None:
    """The start of the oldest open training is returned, or None."""
    guards = world.stores.guards
    assert guards.oldest(view.dataset) is None
    asked = to_milliseconds(world.clock())
    world.train(view)
    world.clock.advance(seconds=5)
    world.train(view)

    assert guards.oldest(view.dataset) == asked
