"""Clients of the shared stack, direct and through a faulty proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from presage import Presage

from tests.flows.presage_client.bad_network import BadNetwork

if TYPE_CHECKING:
    from tests.flows.world import World


@pytest.fixture(scope="session")
def account(world: World) -> tuple[str, str]:
    """E-mail address and key of the account that these tests share."""
    email = str(world.caller("GOLD", example_calls=100_000).email)
    return email, world.private_pem


@pytest.fixture
def presage(world: World, account: tuple[str, str]) -> Iterator[Presage]:
    """A client of the stack."""
    with Presage(world.stack.url, *account) as client:
        yield client


@pytest.fixture
def network(world: World) -> Iterator[BadNetwork]:
    """A proxy with faults that a test chooses."""
    with BadNetwork(world.stack.url) as between:
        yield between


@pytest.fixture
def far(network: BadNetwork, account: tuple[str, str]) -> Iterator[Presage]:
    """A client behind that proxy that already has a token."""
    with Presage(network.url, *account) as client:
        client.usage()
        network.calls.clear()
        yield client
