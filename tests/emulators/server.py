"""An emulator's process on the loopback address: started, waited for, stopped whole.

Whatever ends our process ends the emulator. Each emulator says how it is installed and started:
tests/emulators/localstack.py.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from infra.local.process import die_with_parent
from tests.emulators.environment import say
from tests.emulators.errors import EmulatorError
from tests.emulators.listening import Address, descendants, listeners, open_to_others

READY_SECONDS = 90.0
"""Longest wait for an answer, in seconds."""
STOP_SECONDS = 10.0
"""How long a stop may take, in seconds."""
_PAUSE = 0.1
_SHOWN_LINES = 15


class EmulatorServer(ABC):
    """One running emulator with a separate, empty disk.

    Args:
        port: on 127.0.0.1; 0 takes a free one.
        progress: takes lines for the user.
    """

    name: str
    """Of the emulator; of its environment, log and errors too."""
    health: str
    """Path that answers 200 when it is ready."""
    variables: Mapping[str, str] = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
    }
    """What another process needs to reach the emulated account, besides the endpoint."""
    stop_seconds = STOP_SECONDS
    """How long it may take to stop before it is killed, in seconds."""

    def __init__(self, port: int = 0, progress: Callable[[str], None] = say) -> None:
        self.port = port or _free_port()
        self._progress = progress
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def install(self) -> list[str]:
        """Install what is missing and return the command that starts the emulator.

        Raises:
            EmulatorError: something cannot be installed; the text names the remedy.
        """

    @abstractmethod
    def process_environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Compose the emulator's environment, and prepare its disk.

        Args:
            given: the environment of the command; none of its settings for AWS may remain.
        """

    @property
    def url(self) -> str:
        """Address of every service, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which another process reaches the emulated account."""
        return {**self.variables, "AWS_ENDPOINT_URL": self.url}

    @property
    def folder(self) -> Path:
        """Its disk, which goes with it: state, log, and whatever it writes.

        Raises:
            EmulatorError: it has never run.
        """
        if self._folder is None:
            raise EmulatorError(f"{self.name} does not run; enter its context first.")
        return self._folder

    @property
    def pid(self) -> int:
        """Its process.

        Raises:
            EmulatorError: it does not run.
        """
        if self._process is None:
            raise EmulatorError(f"{self.name} does not run; enter its context first.")
        return self._process.pid

    def __enter__(self) -> Self:
        """Install what is missing, start the emulator and wait until it answers.

        Raises:
            EmulatorError: something cannot be installed, it did not start, or it can be reached
                from other machines; the text names the remedy.
        """
        command = self.install()
        self._folder = Path(tempfile.mkdtemp(prefix=f"presage-{self.name}-"))
        try:
            self._start(command)
            self._wait_until_ready()
            self.check_addresses()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the emulator."""
        self.stop()

    def log(self) -> str:
        """Everything that it has written so far."""
        return (self.folder / "log.txt").read_text("utf-8", "replace")

    def addresses(self) -> list[Address]:
        """Return where it and all that it has started listen."""
        return listeners(descendants(self.pid))

    def check_addresses(self) -> None:
        """Make sure that no other machine can reach the emulator.

        Raises:
            EmulatorError: it can.
        """
        found = open_to_others(self.addresses())
        if found:
            addresses = ", ".join(f"{host}:{port}" for host, port in found)
            raise EmulatorError(
                f"{self.name} listens beyond this machine, on {addresses}, and was stopped: "
                "see the settings in tests/emulators/"
            )

    def stop(self) -> None:
        """Stop it and all that it has started, and remove its disk."""
        process, self._process = self._process, None
        if process is not None:
            below = descendants(process.pid)[1:]
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.stop_seconds)
            process.kill()
            process.wait()
            for pid in below:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            _await_end(below)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def wait_for(self, what: str, *request: Any) -> None:
        """Ask until there is an answer of 200.

        Args:
            what: it is to do, for the error.
            request: as http.client takes it.

        Raises:
            EmulatorError: it has ended or there is none in time.
        """
        process = self._process
        deadline = time.monotonic() + READY_SECONDS
        while process is not None and process.poll() is None and time.monotonic() < deadline:
            if _is_answered(self.port, *request):
                return
            time.sleep(_PAUSE)
        last = "\n".join(self.log().splitlines()[-_SHOWN_LINES:])
        raise EmulatorError(
            f"{self.name} did not {what}: stop what else keeps this machine busy and start again. "
            f"Its last lines:\n{last}"
        )

    def _wait_until_ready(self) -> None:
        """Wait for the first answer."""
        self.wait_for("answer", "GET", self.health)
        self._progress(f"{self.name}: answers on {self.url}")

    def _start(self, command: list[str]) -> None:
        """Start the process."""
        with (self.folder / "log.txt").open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.process_environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C reaches the whole group of a terminal; the emulator is stopped by us.
                start_new_session=True,
                preexec_fn=die_with_parent,
            )


def _is_answered(port: int, *request: Any) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_SECONDS)
    try:
        connection.request(*request)
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _await_end(pids: list[int]) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    while any(_exists(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
