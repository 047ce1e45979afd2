"""A large backlog stays cheap: sweeps, queue places, claims and lists read only what they need.

Calls and examined rows are counted at the client; rows are written as requests write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, LabelCounts
from chalicelib.domain.jobs.messages import TrainJob
from chalicelib.domain.models.model import ModelView, TrainRequest
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.accounts import accounts as account_store
from chalicelib.stores.aws.tables import AccountRow, DatasetRow, ModelRow
from chalicelib.stores.datasets import datasets as dataset_store
from chalicelib.stores.models import models as model_store
from tests.builders import World, some_rows
from tests.full_size import size

ROWS = some_rows({"a": 5, "b": 5})
WAITING = size(400, 10_000)
OPEN_ACCOUNTS = size(30, 100_000)


class _Calls:
    """AWS calls with the number of rows that each examined."""

    def __init__(self) -> None:
        self.actions: list[str] = []
        self.examined = 0

    def note(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        """Record one answered call."""
        self.actions.append(model.name)
        self.examined += int(parsed.get("ScannedCount", 0))


@contextmanager
def _counted(world: World) -> Iterator[_Calls]:
    """Count the calls within a block."""
    calls, clients = _Calls(), world.stores.clients
    for client in (clients.dynamodb, clients.sqs, clients.s3):
        client.meta.events.register("after-call", calls.note)
    yield calls
    for client in (clients.dynamodb, clients.sqs, clients.s3):
        client.meta.events.unregister("after-call", calls.note)


@pytest.fixture
def first(world: World) -> ModelView:
    """One waiting training, followed by hundreds of other accounts."""
    asked = world.train(world.dataset(ROWS), TrainRequest(epochs=1))
    model = world.stores.models.find(asked.model.account_id, asked.model.model_id)
    assert model is not None
    world.messages()
    with ModelRow.batch_write() as batch:
        for number in range(WAITING):
            later = model.created_at + timedelta(milliseconds=1 + number)
            row = model_store.new_row(
                replace(model, account_id=f"{1000 + number}", created_at=later)
            )
            batch.save(row)
    return asked


def test_sweep_of_a_backlog_writes_nothing_and_sends_nothing(
    world: World, first: ModelView
) -> None:
    """A sweep of waiting jobs resends them every 15 minutes at most and makes few calls."""
    world.clock.advance(minutes=14)
    with _counted(world) as calls:
        assert world.container.sweeping.run() == 0

    assert len(calls.actions) <= 20
    assert set(calls.actions) == {"Query"}
    world.clock.advance(minutes=2)
    at_once = min(WAITING + 1, model_store.ANNOUNCED_AT_ONCE)
    assert world.container.sweeping.run() == at_once
    assert world.container.sweeping.run() == min(WAITING + 1 - at_once, at_once)


def test_sweep_sends_a_limited_number_of_jobs_at_once(
    world: World, first: ModelView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep after a long pause ends in time; the next one continues."""
    monkeypatch.setattr(model_store, "ANNOUNCED_AT_ONCE", 300)
    world.clock.advance(minutes=16)

    first, second = (world.container.sweeping.run() for _ in range(2))
    assert (first, second) == (300, min(300, WAITING - 299))


def test_claim_reads_the_front_only(world: World, first: ModelView) -> None:
    """Finding the next training reads one page of the index, however many wait."""
    job = TrainJob.of(first.model)
    with _counted(world) as calls:
        assert world.stores.training_queue.acquire(job) is not None

    assert calls.examined <= 2 * model_store.FRONT


def test_sweep_of_waiting_uploads_reads_an_index_and_writes_nothing(world: World) -> None:
    """A sweep of waiting uploads makes few calls and no writes."""
    dataset = world.upload(ROWS).dataset
    world.messages()
    row = DatasetRow.get(f"{dataset.account_id}#{LANGUAGE}", dataset.dataset_id)
    with DatasetRow.batch_write() as batch:
        for number in range(WAITING):
            row.owner = f"{1000 + number}#{LANGUAGE}"
            batch.save(DatasetRow.from_raw_data(row.serialize()))
    world.clock.advance(minutes=14)
    with _counted(world) as calls:
        assert world.container.sweeping.run() == 0

    assert len(calls.actions) <= 20
    assert set(calls.actions) == {"Query"}
    assert calls.examined <= 2 * WAITING + dataset_store.FRONT
    world.clock.advance(minutes=2)
    assert world.container.sweeping.run() == min(WAITING + 1, dataset_store.ANNOUNCED_AT_ONCE)


def test_upload_announces_its_own_parts_only(world: World) -> None:
    """An added file sends its own parts, not those already waiting."""
    from tests.builders import a_source

    view, waiting = world.unembedded(ROWS)
    assert len(waiting) == 1
    world.container.uploads.add(world.account, view, a_source(some_rows({"c": 5})))
    [reading] = world.messages()
    world.deliver(reading)

    [part] = world.messages()
    assert part != waiting[0]


def test_names_of_many_labels_are_read_in_parallel(world: World) -> None:
    """The 250 reads for 25 datasets of 1,000 labels are not made sequentially."""
    names = {10_000 + number: f"label {number}" for number in range(2_500)}
    world.stores.labels.put("1#language", 7, names)
    other = world.another()
    other.one_call_at_a_time()
    with _counted(other) as calls:
        assert other.stores.labels.names(map(LabelCounts, names)) == names

    assert calls.actions == ["BatchGetItem"] * 25


def test_list_of_many_labels_makes_few_reads_in_a_row(world: World) -> None:
    """25 datasets of 1,000 labels are listed after at most 10 answers one after the other.

    Three of these belong to the token and to the rate.
    """
    view = world.container.datasets.create(
        world.account, LANGUAGE, NewDataset("d", "text-intent", labels="a,b")
    )
    for number in range(25):
        first = 20_000 + 1_000 * number
        counts = tuple(LabelCounts(first + place) for place in range(1_000))
        listed = replace(view.dataset, dataset_id=2_000_000 + number, counts=counts)
        dataset_store.new_row(listed).save()
    other = world.another()
    in_a_row: list[str] = []
    together = Barrier(50, lambda: in_a_row.append("BatchGetItem"), timeout=60)

    def note(model: Any, **_: Any) -> None:
        """Record an answer that is waited for; reads of labels are sent 50 at once."""
        if model.name == "BatchGetItem":
            together.wait()
        else:
            in_a_row.append(model.name)

    events = other.stores.clients.dynamodb.meta.events
    events.register("before-call", note)
    other.one_call_at_a_time()
    page = other.container.datasets.list(world.account.account_id, LANGUAGE, 1, 25)
    events.unregister("before-call", note)

    assert sum(len(view.dataset.counts) for view in page.items) == 25_000
    assert in_a_row == ["Query", "Query", *["BatchGetItem"] * 5]
    assert len(in_a_row) + 3 <= 10


def test_sweep_does_not_read_every_account(world: World) -> None:
    """A sweep finds closed accounts by date, without reading other accounts."""
    with AccountRow.batch_write() as batch:
        for number in range(OPEN_ACCOUNTS):
            other = replace(world.account, account_id=f"{1000 + number}")
            batch.save(account_store.new_row(other))
    closed = world.new_account("closed@example.com")
    world.stores.accounts.close(closed.account_id, world.clock() + timedelta(days=1))
    with _counted(world) as calls:
        world.container.sweeping.run()
    assert "Scan" not in calls.actions
    assert len(calls.actions) <= 20
    assert calls.examined <= 1
    assert world.stores.accounts.get(closed.account_id) is not None

    world.clock.advance(days=1)
    with _counted(world) as calls:
        world.container.sweeping.run()
    # 30, a look for deliveries, and the webhooks, API keys (two calls) and page images of the
    # account.
    assert len(calls.actions) <= 35
    assert world.stores.accounts.get(closed.account_id) is None
