"""A stack whose processes may be killed; short leases make it resume work quickly."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.flows.client import Client
from tests.flows.kills.killing import IS_LONG
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

ENVIRONMENT = {
    "PRESAGE_LEASE_SECONDS": "1.5",
    "PRESAGE_SWEEP_SECONDS": "0.5",
    "PRESAGE_EXAMPLE_CALLS": "1000000",
}
APP = "app:app" if IS_LONG else "tests.flows.kills.small_parts_app:app"
"""The short tests cut batches into small parts, so that few lines make several of them."""


@dataclass(frozen=True)
class SavedState:
    """The state folder of a stack that stopped after it had saved everything."""

    folder: Path
    token: str
    first: dict[str, Any]
    """Record of a dataset of 60 rows."""
    second: dict[str, Any]
    """Record of a dataset of 90 rows that is called "second one"."""
    api_key: str
    """Secret of an API key."""

    def copy_to(self, stack: LocalStack) -> None:
        """Copy the folder to where a stack that has not been started looks for it."""
        shutil.copytree(self.folder, stack.state.folder, dirs_exist_ok=True)


def make_saving_stack() -> LocalStack:
    """Return a stack, not yet started, that saves its data every second."""
    environment = {**ENVIRONMENT, "PRESAGE_SAVE_SECONDS": "1"}
    return LocalStack(arguments=("--bare",), environment=environment)


@pytest.fixture(scope="package")
def saved_state(closed_network: None, tmp_path_factory: pytest.TempPathFactory) -> SavedState:
    """Data that several tests start from, created once and copied for each of them."""
    folder = tmp_path_factory.mktemp("saved-state")
    with make_saving_stack() as running, a_caller(running, folder) as client:
        first = client.dataset(csv_file(made_rows(60)), name="first one")
        second = client.dataset(csv_file(made_rows(90, seed=2)), name="second one")
        key = client.json("POST", "/v2/keys", {"name": "program"}).ok["secret"]
        assert running.pause() == 0
        saved = folder / "state"
        shutil.copytree(running.state.folder, saved)
    return SavedState(saved, str(client.token), first, second, key)


@pytest.fixture
def stopped(closed_network: None, saved_state: SavedState) -> Iterator[LocalStack]:
    """A stopped stack with a copy of the saved state; the test starts it."""
    stack = make_saving_stack()
    saved_state.copy_to(stack)
    yield stack
    stack.stop()


@pytest.fixture
def saving(stopped: LocalStack) -> LocalStack:
    """A running stack with a copy of the saved state, which saves every second."""
    stopped.start()
    return stopped


@pytest.fixture
def saving_client(saving: LocalStack, saved_state: SavedState) -> Iterator[Client]:
    """The caller that owns the saved datasets."""
    with Client(saving.url, saved_state.token) as made:
        yield made


@contextmanager
def a_caller(stack: LocalStack, folder: Path) -> Iterator[Client]:
    """Create an account without rate limits on a stack."""
    made = World(stack, folder)
    yield made.caller("GOLD", example_calls=1_000_000)
    made.close()


@pytest.fixture(scope="package")
def stack(closed_network: None) -> Iterator[LocalStack]:
    """A stack shared by the tests of this folder."""
    with LocalStack(APP, environment=ENVIRONMENT) as running:
        yield running


@pytest.fixture(scope="package")
def world(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Accounts of this stack."""
    made = World(stack, tmp_path_factory.mktemp("kills"))
    yield made
    made.close()
