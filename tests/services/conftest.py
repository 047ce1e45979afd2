"""A service on an empty AWS, whose workers run when a test says so."""

from __future__ import annotations

import pytest

from chalicelib.config import Settings
from tests.builders import World, empty_aws
from tests.conftest import MovableClock


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock) -> World:
    """The service."""
    empty_aws(settings)
    return World(settings, clock)
