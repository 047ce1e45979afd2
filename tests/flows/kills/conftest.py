"""One stack whose pieces may be killed; short leases, so that dead work is taken up soon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.flows.client import Client
from tests.flows.world import World
from tests.local_stack import LocalStack

ENVIRONMENT = {
    "PRESAGE_LEASE_SECONDS": "1.5",
    "PRESAGE_SWEEP_SECONDS": "0.5",
    "PRESAGE_EXAMPLE_CALLS": "1000000",
}

ROUNDS = int(os.environ.get("PRESAGE_KILL_ROUNDS", "2"))
"""Deaths in a row; the nightly run asks for twenty."""
FEWER_ROUNDS = int(os.environ.get("PRESAGE_KILL_ROUNDS", "1"))
"""The same where a round takes long."""


@pytest.fixture
def kept(closed_network: None) -> Iterator[LocalStack]:
    """A stack of one test that saves its data every second."""
    environment = {**ENVIRONMENT, "PRESAGE_SAVE_SECONDS": "1"}
    with LocalStack(arguments=("--bare",), environment=environment) as running:
        yield running


@contextmanager
def a_caller(stack: LocalStack, folder: Path) -> Iterator[Client]:
    """Make an account of a stack that may call as often as it likes."""
    made = World(stack, folder)
    yield made.caller("GOLD", example_calls=1_000_000)
    made.close()


@pytest.fixture
def kept_client(kept: LocalStack, tmp_path: Path) -> Iterator[Client]:
    """A caller of that stack."""
    with a_caller(kept, tmp_path) as made:
        yield made


@pytest.fixture(scope="package")
def stack(closed_network: None) -> Iterator[LocalStack]:
    """A stack of the tests of this folder."""
    with LocalStack(environment=ENVIRONMENT) as running:
        yield running


@pytest.fixture(scope="package")
def world(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Accounts of this stack."""
    made = World(stack, tmp_path_factory.mktemp("kills"))
    yield made
    made.close()
