"""Addresses of processes are reported, and the command around LocalStack ends as it should."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from infra.packaging.lock import pins
from infra.packaging.target import RUNTIMES
from tests.emulators import __main__ as command
from tests.emulators import ministack
from tests.emulators.errors import EmulatorError
from tests.emulators.listening import descendants, listeners, open_to_others
from tests.emulators.localstack import LOCK, LocalStackServer
from tests.emulators.locking import PYTHONS, lock_of, make_locks, packages_of
from tests.local_stack import ENDPOINT, LocalStack

ROOT = Path(__file__).parents[2]


def test_addresses_of_a_process_and_its_children_are_found():
    """Loopback of both families is safe, also as Java writes it; every other address is not."""
    code = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); "
    code += "print(s.getsockname()[1], flush=True); time.sleep(30)"
    mapped = socket.socket(socket.AF_INET6)
    mapped.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    mapped.bind(("::ffff:127.0.0.1", 0))
    mapped.listen()
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with mapped, child, socket.create_server(("0.0.0.0", 0)) as everywhere:  # noqa: S104
        port = int(child.stdout.readline())
        as_java, other = mapped.getsockname()[1], everywhere.getsockname()[1]
        found = listeners(descendants(os.getpid()))
        child.kill()

    assert {("127.0.0.1", port), ("127.0.0.1", as_java)} <= set(found)
    assert open_to_others(found) == [("0.0.0.0", other)]  # noqa: S104


class Fake:
    """Stands for LocalStack where only the command around it is looked at."""

    url = "http://127.0.0.1:1"
    environment = {"AWS_ENDPOINT_URL": url}
    stopped = 0

    def __init__(self, port: int) -> None:
        self.port = port

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        Fake.stopped += 1

    def check_addresses(self) -> None:
        """Find nothing wrong."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch):
    """Put the stand-in there."""
    monkeypatch.setattr(command, "LocalStackServer", Fake)
    Fake.stopped = 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        monkeypatch.setattr(command.signal, "signal", lambda *_: None)
        assert number
    return Fake


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit(3)", 3),
        ("os.kill(os.getpid(), 9)", 137),
        (f"sys.exit(os.environ['{ENDPOINT}'] != os.environ['AWS_ENDPOINT_URL'])", 0),
    ],
)
def test_it_ends_as_its_command_ended(fake, code: str, status: int):
    """The command's exit status is that of the tests, and the emulator is stopped."""
    asked = ["run", "--port", "4", sys.executable, "-c", f"import os, sys; {code}"]

    assert command.main(asked) == status
    assert fake.stopped == 1


def test_a_missing_emulator_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys):
    """What cannot be installed ends the command with its remedy."""

    def refuse(port: int) -> None:
        """Fail as an installation fails."""
        raise EmulatorError("install it like this")

    monkeypatch.setattr(command, "LocalStackServer", refuse)
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)

    assert command.main(["run", "true"]) == 1
    assert capsys.readouterr().err == "error: install it like this\n"


class LatePopen(subprocess.Popen[bytes]):
    """Comes back a while after the command has begun, as on a busy machine."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        time.sleep(0.5)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_stops_everything(tmp_path: Path, number: int):
    """When the command inside ends, even one that only starts, the emulator stops."""
    inside = tmp_path / "inside.py"
    inside.write_text(
        "import time\nfrom pathlib import Path\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "try:\n    (folder / 'began').touch()\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    (folder / 'cleaned').touch()\n"
    )
    code = (
        "import sys\nfrom tests.emulators import __main__ as command\n"
        "from tests.emulators.test_server import Fake, LatePopen\n"
        "command.LocalStackServer = Fake\n"
        "command.subprocess.Popen = LatePopen\n"
        f"status = command.main(['run', sys.executable, {str(inside)!r}])\n"
        "print(status, Fake.stopped)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        # A shell lets what it starts in the background ignore Ctrl-C, tests as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "began").exists() and time.monotonic() < deadline:
        time.sleep(0.01)

    run.send_signal(number)

    assert run.communicate(timeout=60)[0] == "1 1\n"
    assert (tmp_path / "cleaned").exists()


def test_environment_is_localstacks_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing of the caller's account reaches LocalStack, and it listens on loopback only."""
    monkeypatch.setattr("tests.emulators.dynamodb.arrange", lambda *arguments: None)
    server = LocalStackServer(4600)
    server._folder = server._database = server._java = tmp_path
    given = {"PATH": "/bin", "AWS_PROFILE": "mine", "LOCALSTACK_AUTH_TOKEN": "mine", "DEBUG": "1"}

    found = server.process_environment(given)

    assert {name: found.get(name) for name in given} == {
        "PATH": "/bin",
        "AWS_PROFILE": None,
        "LOCALSTACK_AUTH_TOKEN": None,
        "DEBUG": None,
    }
    assert found["GATEWAY_LISTEN"] == found["LOCALSTACK_HOST"] == "127.0.0.1:4600"
    assert found["S3_SKIP_SIGNATURE_VALIDATION"] == "0"


def test_stacks_share_an_emulator_under_names_of_their_own(monkeypatch: pytest.MonkeyPatch):
    """With an endpoint each stack of a test keeps its data there; without one it has its own."""
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:4600")
    first, second = LocalStack(), LocalStack()
    monkeypatch.delenv(ENDPOINT)
    alone = LocalStack()
    for stack in (first, second, alone):
        stack.stop()

    given = [stack._given for stack in (first, second, alone)]
    shared = "http://127.0.0.1:4600"
    assert [each.get("AWS_ENDPOINT_URL") for each in given] == [shared, shared, None]
    assert given[0]["PRESAGE_NAME"] != given[1]["PRESAGE_NAME"]
    assert given[0]["PRESAGE_BUCKET"] == f"{given[0]['PRESAGE_NAME']}-data"
    assert "PRESAGE_NAME" not in given[2]


def test_locks_hold_what_is_asked_for():
    """Every emulator's lock has its roots, and a digest for each package."""
    locks = [(name, LOCK.with_name(f"{name}-lock.txt")) for name in ("localstack", "java")]
    locks += [("ministack", ministack.lock(runtime)) for runtime in RUNTIMES.values()]
    assert {name for name, _ in locks} == set(PYTHONS)
    for name, path in locks:
        text = path.read_text()
        wanted = pins(LOCK.with_name(f"{name}-requirements.txt").read_text())
        assert wanted
        assert {key: pins(text)[key] for key in wanted} == wanted
        assert len(pins(text)) == text.count("--hash=sha256:")


def test_a_lock_is_written_from_what_pip_says(tmp_path: Path):
    """Names are spelt one way and sorted; an unknown emulator is refused."""
    entries = [
        {
            "metadata": {"name": name, "version": "1"},
            "download_info": {"archive_info": {"hashes": {"sha256": digest}}},
        }
        for name, digest in (("Zope.Interface", "aa"), ("attrs", "bb"))
    ]

    text = lock_of("localstack", "3.11", packages_of(entries))

    assert text.splitlines()[1].endswith("python -m tests.emulators lock localstack")
    assert text.splitlines()[2:] == [
        "attrs==1 \\",
        "    --hash=sha256:bb",
        "zope-interface==1 \\",
        "    --hash=sha256:aa",
    ]
    with pytest.raises(EmulatorError, match="Unknown emulator 'other'"):
        make_locks("other", tmp_path)
