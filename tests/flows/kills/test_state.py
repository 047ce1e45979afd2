"""The local stack's data survives its stop and its death."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.conftest import ENVIRONMENT, ROUNDS
from tests.flows.kills.killing import saved_at, wait_for_saves
from tests.flows.load import Journal, Load, complaints, losses, settle
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

SAVE_SECONDS = 1.0


@pytest.fixture
def kept(closed_network: None) -> Iterator[LocalStack]:
    """A stack that saves its data every second."""
    environment = {
        **ENVIRONMENT,
        "PRESAGE_SAVE_SECONDS": str(SAVE_SECONDS),
        # Five callers leave a worker little time for its heartbeats; a lost lease is no failure.
        "PRESAGE_LEASE_SECONDS": "3",
        "PRESAGE_MAX_ATTEMPTS": "100",
    }
    with LocalStack(arguments=("--bare",), environment=environment) as running:
        yield running


def again(stack: LocalStack, client: Client) -> Client:
    """The same caller after the stack has started anew, on another port."""
    client.close()
    stack.start()
    return Client(stack.url, client.token)


def listed(client: Client, dataset_id: int) -> int:
    """Count the examples that a data set's pages hold."""
    return len(client.items(f"{LANGUAGE}/datasets/{dataset_id}/examples", source="all"))


def test_a_stop_loses_nothing(kept: LocalStack, tmp_path: Path):
    """Everything that was acknowledged before Ctrl-C is there after the next start."""
    client = World(kept, tmp_path).caller(example_calls=100_000)
    made = client.dataset(csv_file(made_rows(150)))

    assert kept.pause() == 0
    client = again(kept, client)

    assert client.get(f"{LANGUAGE}/datasets/{made['id']}").ok == made
    assert listed(client, made["id"]) == 150
    assert client.dataset(csv_file(made_rows(20)))["id"] > made["id"]
    client.close()


@pytest.mark.timeout(240 + 3 * 90 * ROUNDS)
def test_a_death_under_load_loses_only_the_last_moments(kept: LocalStack, tmp_path: Path):
    """After kill -9 all that was answered before the last save is so, and nothing is torn."""
    chance = random.Random(4)
    client = World(kept, tmp_path).caller("GOLD", example_calls=1_000_000)
    trained = int(client.dataset(csv_file(made_rows(24)))["id"])
    made = client.json("POST", f"{LANGUAGE}/datasets", {"name": "home", "type": "text-intent"})
    home, journal = int(made.ok["id"]), Journal()
    for number in range(3 * ROUNDS):
        if number >= ROUNDS and journal.has_all:
            break
        load = Load(client, home, trained, journal)
        wait_for_saves(kept, SAVE_SECONDS)
        time.sleep(chance.uniform(0.0, 3.0))
        kept.crash()
        load.end()
        saved = saved_at(kept)
        client = again(kept, client)
        journal.forget_after(saved)
        settle(client, kept)

        assert losses(client, journal, home) == [], number
        assert complaints(client, kept) == [], number
    client.close()
    assert journal.has_all
