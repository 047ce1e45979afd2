"""Events of jobs whose worker dies after the work and before the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.models.model import TrainRequest
from tests.builders import World, some_rows
from tests.services.batches.conftest import Batches

ROWS = some_rows({"book": 9, "cancel": 9})


class Died(BaseException):
    """Represents the death of the process; nothing catches it."""


def _upload(world: World) -> None:
    """Upload a file and read it."""
    world.upload(ROWS)


def _upload_of_nothing(world: World) -> None:
    """Upload a file without a usable row."""
    world.upload([("", "")])


def _training(world: World) -> None:
    """Train a model."""
    world.train(world.dataset(ROWS))


def _training_of_nothing(world: World) -> None:
    """Run a training that fails because its dataset was deleted."""
    view = world.dataset(ROWS)
    world.train(view, TrainRequest(params={"profile": "fast"}))
    world.stores.datasets.delete(view.dataset)


def _export(world: World) -> None:
    """Export a dataset."""
    world.container.exports.create(world.account, world.dataset(ROWS), "csv", "upload")


def _deletion(world: World) -> None:
    """Delete a dataset."""
    dataset = world.dataset(ROWS).dataset
    world.container.deletions.delete_dataset(world.account, dataset.family, dataset.dataset_id)


def _batch(world: World) -> None:
    """Run a batch of texts."""
    view = world.dataset(ROWS)
    Batches(world, world.model(view), view).send(["book please", "cancel please"])


@pytest.mark.parametrize(
    ("ask", "event"),
    [
        (_upload, "dataset.ready"),
        (_upload_of_nothing, "dataset.failed"),
        (_training, "training.succeeded"),
        (_training_of_nothing, "training.failed"),
        (_export, "export.ready"),
        (_deletion, "deletion.done"),
        (_batch, "batch.done"),
    ],
)
def test_a_death_before_the_event_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, ask: Callable[[World], None], event: str
) -> None:
    """The repeated message, or the sweep, sends the event that the dead worker did not send."""
    ask(world)
    sent: list[tuple[str, Any]] = []
    deaths = 0

    def emit(account_id: str, what: str, **data: object) -> None:
        """Die at the first event of a kind, and record the others."""
        nonlocal deaths
        if what == event and not deaths:
            deaths += 1
            raise Died
        sent.append((what, account_id))

    monkeypatch.setattr(world.stores.events, "emit", emit)
    waiting = world.messages()
    while waiting:
        message = waiting.pop(0)
        try:
            world.deliver(message)
        except Died:
            world.deliver(message, delivery=2)
        waiting += world.messages()
    world.settle(3)

    assert deaths == 1
    assert sent == [(event, world.account.account_id)]


def test_a_repeated_message_sends_no_second_event(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated message of a finished job sends no event."""
    world.upload(ROWS)
    sent: list[str] = []
    monkeypatch.setattr(world.stores.events, "emit", lambda _, what, **data: sent.append(what))
    [message] = world.messages()

    world.deliver(message)
    world.deliver(message)

    assert sent == ["dataset.ready"]
