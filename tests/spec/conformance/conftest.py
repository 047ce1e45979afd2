"""The hooks of the tests that are generated.

The plugin of schemathesis is not loaded for the whole suite, since that would cost each run a
second; these are the two of its hooks that `@schema.parametrize()` needs.
"""

from __future__ import annotations

from schemathesis.pytest.plugin import (
    pytest_pycollect_makeitem,
    pytest_pyfunc_call,
)

__all__ = ["pytest_pycollect_makeitem", "pytest_pyfunc_call"]
