"""The running stack that all tests over HTTP share."""

from __future__ import annotations

import pytest

from tests.live import Live, shared


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest) -> Live:
    """The running stack that all tests over HTTP share."""
    return shared(request.config)
