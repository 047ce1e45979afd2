"""Accounts take turns at batch parts, and the message chains have a known length."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import Model
from infra.local.environment import _DEFAULTS
from tests.builders import World, some_rows
from tests.hops import OneWorker
from tests.services.batches.conftest import Batches, texts


class Neighbour(Batches):
    """Batches of a second account."""

    def __init__(self, world: World, model: Model, view: DatasetView) -> None:
        super().__init__(world, model, view)
        self.account = world.account


@pytest.fixture
def chained(batches: Batches, monkeypatch: pytest.MonkeyPatch) -> Batches:
    """A service with as many chains as the local stack has."""
    runs = batches.world.container.batch_runs
    local = Settings.from_environment(_DEFAULTS).batch_chains
    monkeypatch.setattr(runs, "_settings", replace(runs._settings, batch_chains=local))
    return batches


@pytest.fixture
def neighbour(chained: Batches) -> Neighbour:
    """Another account with a separate model."""
    world, owner = chained.world, chained.world.account
    world.account = world.new_account("neighbour@example.com", "GOLD")
    view = world.dataset(some_rows({"book": 9, "cancel": 9}))
    made = Neighbour(world, world.model(view), view)
    world.account = owner
    return made


def test_small_batch_begins_after_the_running_part_of_a_large_one(
    chained: Batches, neighbour: Neighbour
) -> None:
    """A one-line batch waits for at most one running part of another account's large batch."""
    large = chained.send(texts(1_000))
    worker = OneWorker(chained.world)
    worker.deliver_next()
    before = len(chained.get(large).numbers_done)

    small = neighbour.send(["book it"], account=neighbour.account)
    while not neighbour.get(small).numbers_done:
        worker.deliver_next()

    assert before == 1
    assert len(chained.get(large).numbers_done) - before <= 1
    worker.deliver_all()
    assert chained.get(large).status == neighbour.get(small).status == "SUCCEEDED"


def test_large_batches_of_accounts_take_turns(chained: Batches, neighbour: Neighbour) -> None:
    """While two accounts have waiting parts, neither gets more than two parts ahead."""
    first = chained.send(texts(200))
    second = neighbour.send(texts(200), account=neighbour.account)
    worker = OneWorker(chained.world)
    while chained.get(first).status == neighbour.get(second).status == "RUNNING":
        worker.deliver_next()
        done = [len(one.numbers_done) for one in (chained.get(first), neighbour.get(second))]
        assert abs(done[0] - done[1]) <= 1, done

    worker.deliver_all()
    assert chained.get(first).status == neighbour.get(second).status == "SUCCEEDED"


@pytest.mark.parametrize("chains", [1, 3])
def test_chains_are_as_long_as_their_parts(
    batches: Batches, monkeypatch: pytest.MonkeyPatch, chains: int
) -> None:
    """51 parts are 51 messages, in one chain of 51 or in three of 17, and none is sent twice."""
    runs = batches.world.container.batch_runs
    monkeypatch.setattr(runs, "_settings", replace(runs._settings, batch_chains=chains))
    made = batches.send(texts(501))
    worker = OneWorker(batches.world)
    worker.deliver_all()

    assert batches.get(made).status == "SUCCEEDED"
    assert (worker.sent, len(worker.hops)) == (51, 51)
    assert max(worker.hops.values()) == 51 // chains
