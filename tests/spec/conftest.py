"""The running stack that all tests over HTTP share, and the hooks of the tests that are generated.

The plugin of schemathesis is not loaded for the whole suite, since that would cost each run a
second; these are the two of its hooks that `@schema.parametrize()` needs.
"""

from __future__ import annotations

import pytest
from schemathesis.pytest.plugin import (
    pytest_pycollect_makeitem,
    pytest_pyfunc_call,
)

from tests.live import Live, shared

__all__ = ["pytest_pycollect_makeitem", "pytest_pyfunc_call"]


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest) -> Live:
    """The running stack that all tests over HTTP share."""
    return shared(request.config)
