"""One stack whose pieces may be killed; short leases, so that dead work is taken up soon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.flows.world import World
from tests.local_stack import LocalStack

ENVIRONMENT = {
    "PRESAGE_LEASE_SECONDS": "1.5",
    "PRESAGE_SWEEP_SECONDS": "0.5",
    "PRESAGE_EXAMPLE_CALLS": "1000000",
}


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
