"""Fixtures of the client's tests in a process that does not have the service: it runs elsewhere."""

from __future__ import annotations

import json
import os
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

_given: dict[str, Any] = json.loads(os.environ["PRESAGE_ELSEWHERE"])
"""`url`, `email`, `key` and `operations`, from `python -m tests.pythons`."""
_numbers = count(1)


@pytest.fixture(scope="session")
def world() -> SimpleNamespace:
    """The account that was made, in place of tests.flows.world.World."""
    return SimpleNamespace(
        stack=SimpleNamespace(url=_given["url"]),
        private_pem=_given["key"],
        caller=lambda *_, **__: SimpleNamespace(email=_given["email"]),
        new_email=lambda: f"unknown{next(_numbers)}@flows.example",
    )


@pytest.fixture(scope="session")
def operations() -> list[tuple[str, str, str]]:
    """Name, method and path of every operation."""
    return [(name, method, path) for name, method, path in _given["operations"]]


@pytest.fixture(scope="session")
def weather_model() -> str:
    """A model that no test asks in earnest."""
    return "NONE"
