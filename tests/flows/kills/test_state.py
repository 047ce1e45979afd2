"""The local stack's data survives its stop and its death."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.local.testing import LocalStack
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.conftest import ENVIRONMENT
from tests.flows.world import World, csv_file, made_rows

SAVE_SECONDS = 1.0
SLACK_SECONDS = 3.0
"""A save may begin a while after the time is up, and takes some."""
ROUNDS = 2


@pytest.fixture
def kept(closed_network: None) -> Iterator[LocalStack]:
    """A stack that saves its data every second."""
    environment = {**ENVIRONMENT, "PRESAGE_SAVE_SECONDS": str(SAVE_SECONDS)}
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


class Load:
    """Callers that upload all the time, and when each data set was acknowledged."""

    def __init__(self, client: Client, threads: int = 3) -> None:
        self.acknowledged: dict[int, float] = {}
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._go, args=(client.clone(), number), daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def _go(self, caller: Client, number: int) -> None:
        """Upload until told to stop; what fails when the stack dies was not acknowledged."""
        with caller as client:
            self._upload(client, made_rows(40, seed=number))

    def _upload(self, client: Client, rows: list[tuple[str, str]]) -> None:
        """Upload the rows again and again."""
        while not self._stop.is_set():
            try:
                made = client.dataset(csv_file(rows))
            except (OSError, http.client.HTTPException, AssertionError, ValueError):
                time.sleep(0.05)
                continue
            self.acknowledged[int(made["id"])] = time.monotonic()

    def end(self) -> None:
        """Stop the callers."""
        self._stop.set()
        for thread in self._threads:
            thread.join(20)


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


@pytest.mark.timeout(300)
def test_a_death_under_load_loses_only_the_last_moments(kept: LocalStack, tmp_path: Path):
    """After kill -9 every older acknowledged data set is there, and none is torn."""
    chance = random.Random(4)
    client = World(kept, tmp_path).caller("GOLD", example_calls=1_000_000)
    older: set[int] = set()
    for _ in range(ROUNDS):
        load = Load(client)
        time.sleep(SAVE_SECONDS + SLACK_SECONDS + chance.uniform(3.0, 5.0))
        died = time.monotonic()
        kept.crash()
        load.end()
        client = again(kept, client)
        limit = died - SAVE_SECONDS - SLACK_SECONDS
        older |= {number for number, moment in load.acknowledged.items() if moment < limit}

        found = {d["id"]: d for d in client.items(f"{LANGUAGE}/datasets")}

        assert older <= set(found)
        for number, dataset in found.items():
            if dataset["available"]:
                assert listed(client, number) == dataset["totalExamples"] == 40
    client.close()
    assert older
