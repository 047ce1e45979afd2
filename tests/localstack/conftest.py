"""An emulated account that runs already, and the names of what it cannot prove.

`python -m tests.emulators run` starts it. A test marked `not_proved` asserts on the template, or on
what we send, because LocalStack answers without checking that.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.deploying.account import Target
from tests.infra.template.conftest import data, template  # noqa: F401 - fixtures
from tests.local_stack import ENDPOINT
from tests.localstack.stack import Made, make

REGION = "us-east-1"
_NOT_PROVED = pytest.StashKey[list[str]]()
_ELSEWHERE = "deployed functions and their API (`make test-deploy` runs them)"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", "not_proved(name): LocalStack does not check it")
    config.stash[_NOT_PROVED] = [_ELSEWHERE]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Gather the names of what is asserted without LocalStack."""
    for item in items:
        for mark in item.iter_markers("not_proved"):
            config.stash[_NOT_PROVED].append(mark.args[0])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print at the end what a green run does not prove."""
    for name in sorted(set(config.stash[_NOT_PROVED])):
        terminalreporter.write_line(f"Not proved by LocalStack: {name}")


@pytest.fixture(scope="session", autouse=True)
def owner_credentials() -> Iterator[None]:
    """Be the owner of the emulated account, with whose secret LocalStack checks signatures."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        yield


@pytest.fixture(scope="session")
def made(
    owner_credentials: None,
    data: dict[str, Any],  # noqa: F811 - the fixture
    template: dict[str, Any],  # noqa: F811 - the fixture
    tmp_path_factory: pytest.TempPathFactory,
) -> Made:
    """A stage that change sets made of the deployment's templates."""
    target = Target(f"t{secrets.token_hex(4)}", REGION, os.environ[ENDPOINT])
    return make(target, data, template, tmp_path_factory.mktemp("package"))


@pytest.fixture
def settings() -> Settings:
    """Settings of resources that `provision` makes, under a name of their own."""
    name = f"own-{secrets.token_hex(4)}"
    return Settings(
        name=name, bucket=f"{name}-data", region=REGION, endpoint_url=os.environ[ENDPOINT]
    )


@pytest.fixture
def clients(settings: Settings) -> Clients:
    """Clients of the emulated account."""
    return Clients(settings)
