"""The package, deployed once for all tests of this folder, and accounts that call it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from infra.models import default_directory
from tests.deployed.client import StageClient
from tests.deployed.stage import Deployment
from tests.deployed.unproved import UNPROVED
from tests.emulators.ministack import Ministack

PACKAGE = Path(os.environ.get("PRESAGE_PACKAGE", ""))
"""Folder of what is deployed. Without the variable nothing here is collected: tests/conftest.py."""


@pytest.fixture(scope="session")
def package() -> Path:
    """What `make package` has built."""
    assert (PACKAGE / "deployment.zip").is_file(), f"{PACKAGE} has no package: make test-deploy"
    return PACKAGE


@pytest.fixture(scope="session")
def stage(closed_network: None, package: Path) -> Iterator[Deployment]:
    """The whole stack, deployed by the command that users run."""
    with Ministack() as server:
        made = Deployment(server, package, default_directory())
        made.deploy()
        made.set_gateway_answers()
        yield made
        made.close()


@pytest.fixture
def anonymous(stage: Deployment) -> Iterator[StageClient]:
    """A caller without a token."""
    with StageClient(stage.url) as made:
        yield made


@pytest.fixture(scope="session")
def new_client(
    stage: Deployment, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., StageClient]]:
    """Makes an account by the administrator's command and signs it in over the gateway."""
    numbers, made = count(1), list[StageClient]()
    place = {"PRESAGE_NAME": stage.name, "PRESAGE_BUCKET": stage.bucket}

    def make(plan: str = "GOLD") -> StageClient:
        """Make one of a plan."""
        email = f"caller{next(numbers)}@deployed.example"
        key = str(tmp_path_factory.mktemp("keys") / "key.pem")
        asked = [("create", email, "--plan", plan), ("token", email)]
        for number, words in enumerate(asked):
            more = place if number == 0 else place | {"PRESAGE_URL": stage.url}
            done = stage.command("infra.accounts", *words, "--key-file", key, **more)
            assert done.returncode == 0, done.stderr
        client = StageClient(stage.url, done.stdout.strip())
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture(scope="session")
def client(new_client: Callable[..., StageClient]) -> StageClient:
    """The caller that most tests share."""
    return new_client()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what this run cannot have proved."""
    terminalreporter.write_line("Not proved by this emulator, but asserted on the template:")
    for name in UNPROVED:
        terminalreporter.write_line(f"  {name}")
