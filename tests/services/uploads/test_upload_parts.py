"""Few parts of an upload are queued at a time, so that other work is not delayed."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, DatasetView
from chalicelib.services.uploads import upload_parts
from chalicelib.stores.examples import parts
from chalicelib.stores.jobs.queues import EMBED
from tests.builders import Message, World, some_rows
from tests.hops import OneWorker


@pytest.fixture
def view(world: World, monkeypatch: pytest.MonkeyPatch) -> DatasetView:
    """A dataset of nine parts, with at most two queued at a time."""
    monkeypatch.setattr(parts, "PART_TEXTS", 2)
    monkeypatch.setattr(upload_parts, "UPLOAD_PARTS_AT_ONCE", 2)
    return world.upload(some_rows({"book": 9, "cancel": 9}))


@pytest.fixture
def waiting(world: World, view: DatasetView) -> list[Message]:
    """The messages of its parts once it is read."""
    del view
    return world.read_files()


def _left(world: World) -> list[str]:
    return [key for key in world.objects("") if "/parts/" in key]


def test_each_part_sends_the_next_until_all_are_done(world: World, waiting: list[Message]) -> None:
    """At most two parts are queued, and all nine are done with one message each."""
    assert [queue for queue, _ in waiting] == [EMBED, EMBED]
    assert len(_left(world)) == 9
    done = 0

    while waiting:
        assert len(waiting) <= 2
        world.deliver(waiting.pop(0))
        done += 1
        waiting += world.messages()

    assert (done, _left(world)) == (9, [])


def test_a_death_before_the_next_message_is_recovered(
    world: World, waiting: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash a repeated message of a finished part sends the next one."""
    message, other = waiting
    with monkeypatch.context() as patch:
        patch.setattr(world.stores.queues, "send", _die)
        with pytest.raises(InterruptedError):
            world.deliver(message)

    world.deliver(message, delivery=2)
    world.deliver(other)
    world.work()

    assert _left(world) == []


def test_message_that_comes_twice_begins_no_second_row(
    world: World, waiting: list[Message]
) -> None:
    """A repeated message of a finished part sends nothing if the next one was sent."""
    first, _ = waiting
    world.deliver(first)
    assert len(world.messages()) == 1

    world.deliver(first)

    assert world.messages() == []


def test_parts_of_a_dataset_that_is_deleted_end(
    world: World, view: DatasetView, waiting: list[Message]
) -> None:
    """No more parts of a deleted dataset are sent."""
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    world.messages()

    for message in waiting:
        world.deliver(message)

    assert world.messages() == []


def _die(*_: object) -> None:
    raise InterruptedError


def test_chains_are_as_long_as_their_parts(world: World, waiting: list[Message]) -> None:
    """Nine parts in two chains are nine messages, with at most five hops."""
    worker = OneWorker(world, waiting)
    worker.deliver_all()

    assert _left(world) == []
    assert (worker.sent + len(waiting), max(worker.hops.values())) == (9, 5)
