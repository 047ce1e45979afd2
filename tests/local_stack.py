"""The whole local stack for tests and benchmarks, on free ports with a separate folder.

Example: `with LocalStack() as stack: urllib.request.urlopen(stack.url + "/v2/health")`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from chalicelib.config import Settings
from infra.local.environment import ROOT
from infra.local.state import AWS_KEY_NAMES, State
from tests.aws_keys import KEYS

READY = "Presage is ready on "
WORKERS = ("ingest", "train")
ENDPOINT = "PRESAGE_TEST_ENDPOINT"
"""Variable of an emulated AWS that runs already; every stack uses it, under separate names."""


_MAKING = Lock()


class LocalStack:
    """Starts `python -m infra.local`, and gives tests access to its processes and data.

    Args:
        app: application as `module:attribute`.
        arguments: of the command; `--bare` leaves models, demo account and demo out,
            `--forget` saves no data.
        environment: variables that differ from this process's environment.
        ready_seconds: longest wait for the ready line, in seconds.
    """

    def __init__(
        self,
        app: str = "app:app",
        arguments: Sequence[str] = ("--bare", "--forget"),
        environment: Mapping[str, str] | None = None,
        ready_seconds: float = 240.0,
    ) -> None:
        self._arguments = list(arguments)
        self._folder = Path(tempfile.mkdtemp(prefix="presage-stack-"))
        self._ready_seconds = ready_seconds
        self._state = State(self._folder / "state")
        aws = ("AWS_ENDPOINT_URL", *AWS_KEY_NAMES)
        self._given = {
            **{name: value for name, value in os.environ.items() if name not in aws},
            "PRESAGE_APP": app,
            "PRESAGE_PORT": "0",
            "PRESAGE_AWS_PORT": "0",
            "PRESAGE_STATE_DIR": str(self._state.folder),
            "PRESAGE_DIE_WITH_PARENT": "1",
            "PYTHONPATH": str(ROOT),
            **_elsewhere(os.environ.get(ENDPOINT)),
            **(environment or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LocalStack:
        """Start the stack and wait until it is ready."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the stack."""
        self.stop()

    def start(self, *more_arguments: str) -> None:
        """Start the stack and wait until it is ready.

        Args:
            more_arguments: of the command, for this start alone.

        Raises:
            RuntimeError: it ended or was not ready in time; the text holds its log.
        """
        if not os.environ.get(ENDPOINT):
            self._state.prepare()
            # All stacks have the keys of this process, so that stores made here reach each of them.
            self._state.write_aws_keys(KEYS)
            os.environ.update(KEYS)
        with (self._folder / "stack.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "infra.local", *self._arguments, *more_arguments],
                cwd=ROOT,
                env=self._given,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + self._ready_seconds
        while READY not in self.log():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The local stack did not start:\n{self.log()}")
            time.sleep(0.01)

    def log(self) -> str:
        """All output of the stack so far."""
        return (self._folder / "stack.log").read_text("utf-8", "replace")

    @property
    def description(self) -> dict[str, Any]:
        """The current content of `stack.json`.

        Raises:
            RuntimeError: the stack does not run.
        """
        found = self._state.read_stack()
        if found is None:
            raise RuntimeError("The local stack does not run.")
        return found

    @property
    def url(self) -> str:
        """The address of the HTTP front, without a final slash."""
        return str(self.description["url"])

    @property
    def state(self) -> State:
        """The state folder."""
        return self._state

    @property
    def pid(self) -> int:
        """The process id of the supervisor."""
        return int(self.description["pid"])

    @property
    def processes(self) -> dict[str, int]:
        """Processes by name: aws, front, ingest and train."""
        return dict(self.description["processes"])

    @property
    def given(self) -> dict[str, str]:
        """The variables with which the command is started."""
        return dict(self._given)

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which another process reaches the stack's data."""
        found = self._state.stack_environment()
        if found is None:
            raise RuntimeError("The local stack does not run.")
        return found

    @property
    def settings(self) -> Settings:
        """Settings with which the stack's data can be reached."""
        return Settings.from_environment(self.environment)

    def client(self, service: str, **options: Any) -> Any:
        """Create a boto3 client of the emulated AWS."""
        environment = self.environment
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")
        with _MAKING:  # a session cannot create two clients at the same time
            session = _session(*(environment[name] for name in names))
            return session.client(service, endpoint_url=environment["AWS_ENDPOINT_URL"], **options)

    def kill_worker(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a worker (`train` or `ingest`) and return its process id."""
        pid = self.processes[name]
        os.kill(pid, number)
        return pid

    def pause_workers(self) -> None:
        """Suspend the workers, so that jobs stay in the queues."""
        for name in WORKERS:
            self.kill_worker(name, signal.SIGSTOP)

    def resume_workers(self) -> None:
        """Let paused workers continue."""
        for name in WORKERS:
            self.kill_worker(name, signal.SIGCONT)

    @contextmanager
    def workers_paused(self) -> Iterator[None]:
        """Suspend the workers in a `with` block."""
        self.pause_workers()
        try:
            yield
        finally:
            self.resume_workers()

    def crash(self) -> None:
        """Kill the supervisor and all of its children; `start` starts them again."""
        if self._process is None:
            raise RuntimeError("The local stack does not run.")
        children = self.processes.values()
        self._process.kill()
        self._process.wait(240)
        self._process = None
        while any(_is_alive(pid) for pid in children):
            time.sleep(0.01)

    def pause(self, number: int = signal.SIGTERM) -> int:
        """Stop the stack without deleting its folder, with which `start` continues."""
        if self._process is None:
            raise RuntimeError("The local stack does not run.")
        self._process.send_signal(number)
        status = self._process.wait(240)
        self._process = None
        return status

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop the stack, remove its folder and return the exit status."""
        status = 0
        if self._process is not None:
            self._process.send_signal(number)
            status = self._process.wait(240)
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)
        return status


@cache
def _session(key: str, secret: str, region: str) -> Any:
    """Return the session of a key, which reads the service descriptions once."""
    import boto3

    return boto3.session.Session(
        aws_access_key_id=key, aws_secret_access_key=secret, region_name=region
    )


def _elsewhere(endpoint: str | None) -> dict[str, str]:
    """Return the variables with which a stack uses an emulated AWS that others share."""
    if not endpoint:
        return {}
    name = f"stack-{secrets.token_hex(4)}"
    return {"AWS_ENDPOINT_URL": endpoint, "PRESAGE_NAME": name, "PRESAGE_BUCKET": f"{name}-data"}


def _is_alive(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
