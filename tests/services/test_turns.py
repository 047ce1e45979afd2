"""Accounts take turns in uploads and trainings, whichever message a worker receives."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from msgspec import UNSET

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import RUNNING, SUCCEEDED, ModelView, TrainRequest
from chalicelib.errors import LeaseLost
from chalicelib.services.maintenance.sweeping import ANNOUNCED_SECONDS
from chalicelib.stores.aws.tables import CounterRow, DatasetRow, ModelRow
from chalicelib.stores.datasets.leases import OwnedDataset
from chalicelib.stores.jobs.queues import INGEST, TRAIN_FREE, TRAIN_PAID
from tests.builders import Message, World, some_rows

ROWS = some_rows({"a": 5, "b": 5})


@pytest.fixture
def other(world: World) -> Account:
    """A second account with a free plan."""
    return world.new_account("other@example.com")


def _read(world: World, message: Message) -> OwnedDataset:
    """Acquire the upload that the receiver of a message would process."""
    owned = world.stores.ingest_queue.acquire(message[1])
    assert owned is not None
    return owned


def _uploads(world: World, count: int, account: Account | None = None) -> list[DatasetView]:
    return [world.upload(ROWS, account=account) for _ in range(count)]


def _in_order(world: World, messages: list[Message]) -> list[int]:
    """Process the messages in order; return the datasets."""
    order: list[int] = []
    for message in messages:
        owned = _read(world, message)
        world.stores.dataset_leases.fail_upload(owned, "read")
        order.append(owned.dataset.dataset_id)
    return order


@pytest.mark.parametrize("seed", range(10))
def test_second_account_does_not_wait_for_the_first_ones_uploads(
    world: World, other: Account, seed: int
) -> None:
    """After 20 uploads of one account, another account's upload is read before a second of them."""
    _uploads(world, 20)
    waiting = world.messages()
    first = _read(world, waiting[0])
    [theirs] = _uploads(world, 1, other)
    waiting = [*waiting[1:], *world.messages()]
    random.Random(seed).shuffle(waiting)

    assert _read(world, waiting[0]).dataset.dataset_id == theirs.dataset.dataset_id
    assert first.dataset.account_id == world.account.account_id


def test_accounts_alternate_and_keep_their_own_order(world: World, other: Account) -> None:
    """Two accounts' uploads alternate; each account's own order is kept."""
    mine, theirs = _uploads(world, 4), _uploads(world, 4, other)
    order = _in_order(world, list(reversed(world.messages())))

    ids = [[view.dataset.dataset_id for view in views] for views in (mine, theirs)]
    assert [order[0::2], order[1::2]] == ids


def test_paid_accounts_are_read_first(world: World) -> None:
    """A paid account's upload is read before all earlier ones of free accounts."""
    _uploads(world, 3)
    paid = world.new_account("paid@example.com", "GOLD")
    [theirs] = _uploads(world, 1, paid)

    assert _in_order(world, world.messages())[0] == theirs.dataset.dataset_id


def test_workers_of_one_account_are_limited(world: World, other: Account) -> None:
    """At the account's limit of workers a message is delayed without an attempt."""
    _uploads(world, 6)
    messages = world.messages()
    for message in messages[:4]:
        _read(world, message)

    assert world.stores.ingest_queue.acquire(messages[4][1]) is None
    assert [message.body for message in world._queue(INGEST)._messages] != []
    assert all(message.delayed for message in world._queue(INGEST)._messages)
    assert sum(int(row.attempts) for row in world.rows(DatasetRow)) == 4
    [theirs] = _uploads(world, 1, other)
    [theirs_message] = world.messages()
    assert _read(world, messages[5]).dataset.dataset_id == theirs.dataset.dataset_id
    assert world.stores.ingest_queue.acquire(theirs_message[1]) is None


def test_message_of_an_account_at_its_limit_is_sent_a_few_times(world: World) -> None:
    """Each delay doubles, so that a chain stays below the 16 messages at which Lambda stops it."""
    _uploads(world, 5)
    *running, (_, job) = world.messages()
    for message in running:
        _read(world, message)
    delays, hops = [], 1

    assert world.stores.ingest_queue.acquire(job) is None
    while waiting := list(world._queue(INGEST)._messages):
        [sent] = waiting
        delays.append(round((sent.delayed_until - sent.sent_timestamp) / 1000))
        [(_, again)] = world.messages(delayed=True)
        hops += 1
        assert world.stores.ingest_queue.acquire(again) is None

    assert delays == [3, 6, 12, 24, 48, 96, 192, 384]
    assert hops == 9
    assert sum(delays) < ANNOUNCED_SECONDS


def test_end_of_an_upload_announces_the_next_of_an_account_at_its_limit(world: World) -> None:
    """When an upload ends, the account's next one starts at once despite its delayed message."""
    views = _uploads(world, 6)
    messages = world.messages()
    for message in messages[:3]:
        _read(world, message)

    world.deliver(messages[3])

    [announced] = [job for short, job in world.messages() if short == INGEST]
    assert announced.dataset_id == views[4].dataset.dataset_id
    assert announced.waits == UNSET


def test_end_of_a_training_announces_the_next_of_an_account_at_its_limit(world: World) -> None:
    """When a training ends, the next one of the same account starts, and no other account's."""
    _trainings(world, 4)
    messages = world.messages()
    for message in messages[:2]:
        assert world.stores.training_queue.acquire(message[1])

    world.deliver(messages[2])

    [(_, announced)] = world.messages()
    assert announced == messages[3][1]


def test_end_of_a_job_below_the_limit_announces_nothing(world: World) -> None:
    """Below the limit no extra message is sent, because the messages are in the queue."""
    _uploads(world, 3)
    messages = world.messages()

    world.deliver(messages[0])

    assert INGEST not in dict(world.messages(delayed=True))


def test_message_whose_upload_was_read_already_serves_another(world: World) -> None:
    """In any order of messages each upload is read exactly once."""
    views = _uploads(world, 5)
    messages = world.messages()
    for message in [messages[4], messages[4], *messages[:3], messages[3]]:
        world.deliver(message)
    world.work()

    assert {world.get(view).dataset.status for view in views} == {"SUCCEEDED"}
    assert {int(row.attempts) for row in world.rows(DatasetRow)} == {1}


def test_lost_lease_is_not_a_failed_attempt(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that stalled and lost its lease has not used up an attempt."""
    view = world.upload(ROWS)
    [message] = world.messages()
    put = world.stores.receipts.put
    taken: list[OwnedDataset] = []

    def stall(*args: object, **kwargs: object) -> None:
        """Stall until another worker has the upload."""
        monkeypatch.setattr(world.stores.receipts, "put", put)
        world.clock.advance(seconds=61)
        taken.append(_read(world, message))
        raise LeaseLost

    monkeypatch.setattr(world.stores.receipts, "put", stall)
    world.deliver(message)

    assert [owned.lease.attempts for owned in taken] == [2]
    [row] = world.rows(DatasetRow)
    assert (row.status, int(row.attempts)) == ("UPLOADING", 1)
    assert view.dataset.dataset_id == int(row.dataset_id)


def _trainings(world: World, count: int, account: Account | None = None) -> list[ModelView]:
    view = world.dataset(ROWS, account=account)
    return [world.train(view, TrainRequest(epochs=1), account) for _ in range(count)]


def test_second_account_does_not_wait_for_the_first_ones_trainings(
    world: World, other: Account
) -> None:
    """After 5 trainings of one account, another account's begins before a second of them."""
    _trainings(world, 5)
    messages = world.messages()
    queue = world.stores.training_queue
    first = queue.acquire(messages[0][1])
    [theirs] = _trainings(world, 1, other)

    second = queue.acquire(messages[1][1])

    assert first is not None
    assert second is not None
    assert second.model_id == theirs.model.model_id


def test_trainings_of_one_account_are_limited(world: World) -> None:
    """A fourth training waits without an attempt until one of three has ended."""
    _trainings(world, 4)
    messages = world.messages()
    queue = world.stores.training_queue
    running = [queue.acquire(message[1]) for message in messages]

    assert [model is not None for model in running] == [True, True, True, False]
    assert sum(int(row.attempts) for row in world.rows(ModelRow)) == 3
    assert running[0] is not None
    world.stores.model_leases.fail(running[0], "ended")
    assert queue.acquire(messages[3][1]) is not None


def test_long_training_yields_to_a_waiting_one(world: World, other: Account) -> None:
    """A long training yields only to one that waits and has had much less time."""
    queue = world.stores.training_queue
    _trainings(world, 1)
    [message] = world.messages()
    long = queue.acquire(message[1])
    assert long is not None
    assert not queue.must_yield(long, 1000), "no training waits"
    [theirs] = _trainings(world, 1, other)
    assert not queue.must_yield(long, 1000), "an idle worker would take it"
    world.clock.advance(seconds=6)
    world.stores.model_leases.renew(long)

    assert not queue.must_yield(long, 14)
    assert queue.must_yield(long, 15)
    queue.return_to_queue(long, 40)
    [waiting, again] = world.messages()
    short = queue.acquire(again[1])
    assert short is not None
    assert short.model_id == theirs.model.model_id
    assert not queue.must_yield(short, 94), "the other has had 40 seconds already"
    assert queue.must_yield(short, 95)
    assert waiting[0] == again[0] == TRAIN_FREE


def test_free_training_yields_to_a_paid_one(world: World) -> None:
    """A free training yields to a paid one of any length, but not the reverse."""
    queue = world.stores.training_queue
    _trainings(world, 1)
    [message] = world.messages()
    free = queue.acquire(message[1])
    assert free is not None
    gold = world.new_account("gold@example.com", "GOLD")
    [asked] = _trainings(world, 1, gold)
    [paid_message] = world.messages()
    paid = queue.acquire(paid_message[1])
    assert paid is not None
    queue.return_to_queue(paid, 1_000)
    world.clock.advance(seconds=6)
    world.stores.model_leases.renew(free)

    assert not queue.must_yield(free, 14)
    assert queue.must_yield(free, 15)
    queue.return_to_queue(free, 15)
    messages = world.messages()
    assert [name for name, _ in messages] == [TRAIN_PAID, TRAIN_FREE]
    again = queue.acquire(messages[1][1])
    assert again is not None
    assert again.model_id == asked.model.model_id
    assert not queue.must_yield(again, 1_000)


def test_any_worker_trains_paid_accounts_first(world: World) -> None:
    """The worker of a free training runs the waiting paid one first."""
    gold = world.new_account("gold@example.com", "GOLD")
    view, paid_view = world.dataset(ROWS), world.dataset(ROWS, account=gold)
    free = world.train(view, TrainRequest(epochs=1)).model
    paid = world.train(paid_view, TrainRequest(epochs=1), gold).model
    [message] = [message for message in world.messages() if message[0] == TRAIN_FREE]
    world.deliver(message)

    ended = world.stores.models.find(paid.account_id, paid.model_id)
    assert ended is not None
    assert ended.status == SUCCEEDED
    world.work()
    ended = world.stores.models.find(free.account_id, free.model_id)
    assert ended is not None
    assert ended.status == SUCCEEDED


def test_yielding_costs_no_attempt_and_keeps_the_progress(world: World) -> None:
    """A training that yields stays RUNNING and moves to the end of its lane."""
    _trainings(world, 2)
    first, second = world.messages()
    queue = world.stores.training_queue
    model = queue.acquire(first[1])
    assert model is not None
    world.stores.model_leases.report(model, 0.5, 3)
    queue.return_to_queue(model, 20)

    found = world.stores.models.find(model.account_id, model.model_id)
    assert found is not None
    assert (found.status, found.attempts, found.progress) == (RUNNING, 0, 0.5)
    world.clock.advance(minutes=14)
    assert world.container.sweeping.run() == 0
    following = queue.acquire(second[1])
    assert following is not None
    assert following.model_id != model.model_id
    again = queue.acquire(first[1])
    assert again is not None
    assert (again.model_id, again.served_seconds) == (model.model_id, 20)


def test_turns_of_a_closed_account_are_deleted(world: World, other: Account) -> None:
    """Closing an account deletes its turn counters."""
    _uploads(world, 2, other)
    _trainings(world, 1, other)
    assert [row for row in world.rows(CounterRow) if row.name.endswith(f"#{other.account_id}")]

    world.stores.turns.delete(other.account_id)

    assert not [row for row in world.rows(CounterRow) if row.name.endswith(f"#{other.account_id}")]


def test_waiting_jobs_survive_a_change_of_plan(world: World, other: Account) -> None:
    """An upload stays in the lane in which it was accepted, also after a change of plan."""
    _uploads(world, 1, other)
    _uploads(world, 1, replace(other, plan="GOLD"))

    assert [row.lane for row in world.rows(DatasetRow)] == ["ingest-free", "ingest-paid"]
