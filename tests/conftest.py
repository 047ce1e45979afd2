"""Fixtures for all tests: AWS in memory, settings, a movable clock, a closed network."""

from __future__ import annotations

import gc
import io
import ipaddress
import json
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.aws_keys import KEYS

if TYPE_CHECKING:
    from chalicelib.config import Settings
    from chalicelib.stores.aws.clients import Clients
    from tests.receiver import Receiver

# Fixtures import what they need: a test of a pure function pays neither for AWS nor for engines.

# A large suite makes far more objects than it drops: with Python's own 700, a tenth of its time
# goes into looking for circles among them.
gc.set_threshold(20_000, 10, 10)

# Before any client is made: no test may reach a real account, whatever the shell has set.
for _name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE"):
    os.environ.pop(_name, None)
os.environ.update(
    KEYS,
    AWS_DEFAULT_REGION="us-east-1",
    AWS_EC2_METADATA_DISABLED="true",
    # The same encoders on every machine, whether the accurate ones are installed or not.
    PRESAGE_TEXT_PROFILE="fast",
)
# What Hypothesis does on a build server, it does everywhere: the same examples in each run, and no
# limit of 200 ms for one, which a busy machine exceeds.
os.environ.setdefault("CI", "true")


# They need what a target of the Makefile of their own installs and starts.
collect_ignore = [
    folder
    for folder, variable in (
        ("localstack", "PRESAGE_TEST_ENDPOINT"),
        ("deployed", "PRESAGE_PACKAGE"),
        ("generated", "PRESAGE_GENERATOR"),
        ("browser", "PRESAGE_BROWSER"),
        ("proxies", "PRESAGE_PROXIES"),
    )
    if not os.environ.get(variable)
]


EMULATOR = frozenset({"aws_in_memory", "stack", "live"})
"""Fixtures that give an AWS in memory or a running stack."""
EMULATED = (
    "bad_input",
    "corpus",
    "faults",
    "schemathesis",
    "services/accounts",
    "services/datasets",
    "services/exports",
    "services/training",
    "services/uploads",
    "spec/conformance",
    "stores/accounts",
)
"""Where every test needs the emulator: a fast run does not even import these, which takes long."""
MODELS = Path(os.environ.get("PRESAGE_MODEL_DIR") or Path(__file__).parents[1] / ".models")
LANGUAGE_DATA = ".traineddata"
"""Ends the name of Tesseract's network, a model's file as well."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--fast`, which selects tests without emulator and model files."""
    parser.addoption("--fast", action="store_true", help="neither emulator nor model files")


def close_models() -> None:
    """Skip whatever looks into the folder of models from now on, or starts the local stack.

    So no list of fast tests is needed, and none can become slow unnoticed.
    """
    inside = f"{MODELS}{os.sep}"
    stat = os.stat

    def skip_models(path: object) -> None:
        """Skip a test that reads a model's file."""
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        if isinstance(name, str) and (name.startswith(inside) or name.endswith(LANGUAGE_DATA)):
            pytest.skip("needs model files")

    def guarded_stat(path: Any, **options: Any) -> os.stat_result:
        """Return the status of a file; skip the test if it is a model's file."""
        skip_models(path)
        return stat(path, **options)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        """Skip a test that opens a model's file or starts the local stack."""
        if event == "open":
            skip_models(arguments[0])
        elif event == "subprocess.Popen" and "infra.local" in map(str, arguments[1]):
            pytest.skip("needs the local stack")

    os.stat = guarded_stat
    sys.addaudithook(audit)


_EMULATED_FOLDERS = tuple(str(Path(__file__).parent / name) + os.sep for name in EMULATED)


def _is_emulated(path: Path) -> bool:
    """Return whether all tests of a file or folder need the emulator."""
    return f"{path}{os.sep}".startswith(_EMULATED_FOLDERS)  # asked for each test: no path is built


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """In a fast run, do not collect files whose tests are all left out."""
    return True if config.getoption("fast") and _is_emulated(collection_path) else None


def pytest_collection() -> None:
    """Look for no garbage while tests are collected, because there is none."""
    gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a fast run, deselect tests that need the emulator or model files."""
    slow = {item for item in items if EMULATOR & set(getattr(item, "fixturenames", ()))}
    pure = [item.nodeid for item in items if item not in slow and _is_emulated(item.path)]
    if pure:
        raise pytest.UsageError(f"A fast run would miss tests, see EMULATED: {pure}")
    if config.getoption("fast"):
        close_models()
        config.hook.pytest_deselected(items=[item for item in items if item in slow])
        items[:] = [item for item in items if item not in slow]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin to collect garbage, but not modules and tests, because they stay until the end."""
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    if providers and session.config.getoption("fast"):
        # Now and then Hypothesis draws a constant of our code; for that each part
        # would read every module that it has loaded. The whole suite does.
        vars(providers)["_get_local_constants"] = providers.Constants
    gc.freeze()
    gc.enable()


class MovableClock:
    """A clock that only moves when a test moves it; it is called like other clocks."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the current time of the test."""
        return self.now

    def advance(self, **duration: float) -> None:
        """Move the clock by a duration given as `timedelta` takes it, such as `days=1`."""
        self.now += timedelta(**duration)


def _is_local(host: object) -> bool:
    """Return whether an address or host name stays on this machine."""
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def closed_network() -> Iterator[None]:
    """Refuse every connection and look-up that would leave this machine."""
    connect, connect_ex, look_up = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def check(host: object) -> None:
        """Fail a test that connects to another machine."""
        if not _is_local(host):
            raise RuntimeError(f"Tests have no network; this one asked for {host!r}.")

    def guarded(original, is_ip):
        """Return a method that checks an address before it connects."""

        def call(self, address, *rest):
            if is_ip(self):
                check(address[0])
            return original(self, address, *rest)

        return call

    def guarded_look_up(host, *args, **kwargs):
        """Return a resolver that checks a host name first."""
        check(host.decode() if isinstance(host, bytes) else host)
        return look_up(host, *args, **kwargs)

    def is_ip(sock: socket.socket) -> bool:
        """Return whether a socket is an internet socket."""
        return sock.family in (socket.AF_INET, socket.AF_INET6)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(connect, is_ip))
        patch.setattr(socket.socket, "connect_ex", guarded(connect_ex, is_ip))
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


@pytest.fixture(scope="session")
def aws_in_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start the emulated AWS once; `clients` empties it for each test.

    A test that asks for it when it runs would be in a fast run, which goes by what is declared.

    A session reads megabytes of service descriptions, so all tests share one.
    """
    import boto3
    from botocore.session import Session
    from moto import mock_aws

    from infra.local.aws import item_calls
    from tests import quick_aws

    assert not request.config.getoption("fast"), "Declare this fixture as an argument."
    item_calls.install()
    # With the keys of this process, because stacks of the same process check them.
    keeps_keys: Any = {"core": {"mock_credentials": False}}
    with mock_aws(config=keeps_keys), pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3.session, "Session", cache(boto3.session.Session))
        patch.setattr("chalicelib.stores.aws.clients.Session", cache(Session))
        quick_aws.install(patch)
        yield


@pytest.fixture
def settings() -> Settings:
    """Settings of the emulated AWS, with a test signing key."""
    from chalicelib.config import Settings

    secret = "a signing key of the tests, longer than 32 bytes"
    return Settings(token_secret=secret, text_profile="fast")


@pytest.fixture
def clients(aws_in_memory: None, settings: Settings) -> Clients:
    """Clients of an emulated AWS that has only the empty tables, queues and bucket."""
    from chalicelib.stores.aws.clients import Clients
    from tests.fresh_aws import provide

    provide(settings)
    made = Clients(settings)
    made.bind_tables()
    return made


@pytest.fixture
def clock() -> MovableClock:
    """A clock that tests move; it starts in the middle of a month."""
    return MovableClock(datetime(2026, 11, 21, 9, 30, tzinfo=UTC))


@pytest.fixture(scope="session")
def private_pem() -> str:
    """An account's private key, made once because that is slow."""
    from chalicelib.formats.tokens.rsa_key import new_private_pem

    return new_private_pem()


@pytest.fixture(scope="session")
def other_private_pem() -> str:
    """Another account's private key."""
    from chalicelib.formats.tokens.rsa_key import new_private_pem

    return new_private_pem()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """An HTTP server that receives webhooks."""
    from tests.receiver import Receiver

    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Returns the log lines that this test wrote."""
    from chalicelib import log

    written = io.StringIO()
    log.write_to(logging.StreamHandler(written))
    log.configure("INFO")
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    log.write_to(log.STREAM)
