"""A service on an empty AWS, whose workers run when a test says so."""

from __future__ import annotations

import pytest

from chalicelib.config import Settings
from chalicelib.stores.clients import Clients
from tests.builders import World
from tests.conftest import MovableClock


@pytest.fixture
def world(clients: Clients, settings: Settings, clock: MovableClock) -> World:
    """The service."""
    return World(settings, clock)
