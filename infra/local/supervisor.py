"""Starts the processes of the local stack, restarts workers that die, and stops everything.

The supervisor binds the ports itself, so that a used port is reported in one line and a restarted
process loses no connection. Each process is a fork of the supervisor.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from chalicelib.config import Settings, SettingsError
from infra.local import process
from infra.local.children import (
    provision,
    repair_data,
    restore_data,
    run_aws,
    run_demo,
    run_front,
    run_models,
    run_worker,
    save_snapshots,
    say,
)
from infra.local.environment import SHARED, process_environment
from infra.local.http.listening import CannotStart, address, bind, is_loopback
from infra.local.logs import archive_logs
from infra.local.options import MOTO, Options
from infra.local.saving import SavingState
from infra.local.state import State
from infra.local.telemetry.setup import Telemetry, serve_metrics

# Seconds that children have to stop before they are killed.
STOP_SECONDS = 3.0
# Seconds that the front has to exit after its last call.
_EXIT_SECONDS = 0.5
# Pause in seconds before a child that ended right after its start is started again.
RESTART_SECONDS = 1.0
# Seconds that the last save of the data may take.
SAVE_SECONDS = 60.0
AWS_PROCESS = "aws"
SNAPSHOTS_PROCESS = "keeper"
# Imported before the forks, so that children share them. None loads an engine or starts a thread.
# The emulated AWS shares only the first, because it starts while the application is imported.
AWS_MODULES = ("infra.resources", "infra.local.worker")
SHARED_MODULES = ("chalicelib.workers",)


def _remedy(error: OSError) -> str:
    """Return what to do if the state folder cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "Free some space there, then start again."
    return "Set PRESAGE_STATE_DIR to a folder that this user may write to, or fix its permissions."


@dataclass
class ChildProcess:
    """One long-lived child process."""

    work: Callable[[], None]
    pid: int
    started: float
    """Start of the process on the monotonic clock, in seconds."""


class Supervisor:
    """Runs the stack until Ctrl-C or SIGTERM."""

    def __init__(self, options: Options, environment: Mapping[str, str]) -> None:
        self._options = options
        self._given = dict(environment)
        self._state = State(options.state_dir)
        self._saving = SavingState()
        self._processes: dict[str, ChildProcess] = {}
        self._tasks: dict[int, int | None] = {}
        self._is_stopping = False
        self._is_ready = False
        self._status = 0
        self._has_saved = True
        self._was_cut_off = False

    def run(self) -> int:
        """Run the stack and return the exit status: 0, 1 for a failure, 2 if a port is in use."""
        try:
            self._bind()
        except CannotStart as error:
            print(f"Presage cannot start: {error}", file=sys.stderr)
            return 2
        self._watch_signals()
        if self._options.is_offline:
            process.refuse_network()
        try:
            self._start()
            while not self._is_stopping:
                self._wait(1.0)
            if not self._is_ready and not self._status:
                say("stopped before the service was ready.")
        except SettingsError as error:
            self._fail(str(error))
        finally:
            self._stop()
        return self._status

    def _bind(self) -> None:
        self._claim_folder()
        self._front = bind(self._options.port, "PRESAGE_PORT", self._options.host)
        options = self._options
        self._telemetry = Telemetry.read(options, self._given)
        self._telemetry.prepare()
        if options.metrics_port:
            self._scraped = bind(options.metrics_port, "PRESAGE_METRICS_PORT", options.metrics_host)
        self._endpoint_url = self._options.endpoint_url
        if self._options.backend == MOTO:
            self._aws = bind(self._options.aws_port, "PRESAGE_AWS_PORT")
            self._endpoint_url = address(self._aws)

    def _claim_folder(self) -> None:
        """Create the state folder and check that this stack can write to it."""
        folder = self._state.folder
        try:
            self._state.prepare()
            other = self._state.read_stack()
            # In a container every stack has process id 1, also one that was killed before.
            if other is not None and other["pid"] == os.getpid():
                other = None
            if other is None:
                self._state.check_space()
                self._was_cut_off = self._state.has_description()
        except OSError as error:
            raise CannotStart(
                f"the state folder {folder} cannot be written ({error.strerror}); nothing in it "
                f"has changed. {_remedy(error)}"
            ) from error
        if other is not None:
            raise CannotStart(
                f"process {other['pid']} runs a stack on {other['url']} with the state folder "
                f"{folder}; stop it or set PRESAGE_STATE_DIR to another folder."
            )

    def _start(self) -> None:
        """Start the processes one after the other, and print that the stack is ready."""
        options = self._options
        was_broken = self._state.has_broken_secret()
        os.environ.clear()
        os.environ.update(
            process_environment(self._given, options, self._state, self._endpoint_url),
        )
        if was_broken and not self._state.has_broken_secret():
            say("token.secret was empty or incomplete: a new key signs tokens from now on, and "
                "earlier tokens are invalid.")  # fmt: skip
        settings = Settings.from_environment(os.environ)
        port = self._front.getsockname()[1]
        process.pause_collections()
        import_modules(AWS_MODULES)
        if options.backend == MOTO:
            data, saving = self._state.data, self._saving
            self._add(AWS_PROCESS, lambda: run_aws(self._aws, port, settings, data, saving))
        app = load(options.app)
        process.resume_collections()
        if not self._task("provision", lambda: provision(settings, options, port)):
            self._fail_start("the tables, queues and bucket could not be created.")
            return
        if not self._restore(settings) or self._is_stopping:
            return
        measured, saving = self._telemetry, self._saving
        self._add("front", lambda: run_front(app, self._front, settings, options, saving, measured))
        self._add("ingest", lambda: run_worker(app, settings, False, options, measured))
        self._add("train", lambda: run_worker(app, settings, True, options, measured))
        if options.metrics_port:
            self._add(
                "metrics", lambda: serve_metrics(app, self._scraped, settings, options, saving)
            )
        self._describe(settings)
        self._settings = settings
        self._welcome(settings)

    def _restore(self, settings: Settings) -> bool:
        """Restore the data of the previous run and start to save it; return False on failure."""
        options, folder = self._options, self._state.data
        if options.backend == MOTO and not (options.keeps_data and folder.exists()):
            archive_logs(self._state)
        if not options.keeps_data:
            return True
        tasks = {
            "repair": lambda: repair_data(settings, self._state),
            "restore": lambda: restore_data(settings, self._was_cut_off),
        }
        for name in ("repair", "restore") if options.repairs_data else ("restore",):
            if not self._task(name, tasks[name]):
                self._fail_start()
                return False
        self._saving.note_saved(datetime.now(UTC))
        save = partial(save_snapshots, settings, self._state, options, self._saving)
        self._add(SNAPSHOTS_PROCESS, save)
        return True

    def _welcome(self, settings: Settings) -> None:
        url = address(self._front)
        welcomed = self._options.is_bare or self._task(
            "demo", lambda: run_demo(settings, self._state, self._options, url)
        )
        if self._is_stopping:
            return
        if not welcomed:
            say("the demo failed; the service runs anyway.")
        self._is_ready = True
        self._describe(settings)
        public = self._options.public
        if public and public.scheme == "http" and not is_loopback(self._options.host):
            say(f"{public.url} is not encrypted: others can read keys and data. Use https.")
        print(f"Presage is ready on {public.url if public else url}", flush=True)
        if not (self._options.is_bare or self._options.is_offline):
            self._tasks[process.fork("presage-models", lambda: run_models(settings))] = None

    def _add(self, name: str, work: Callable[[], None]) -> None:
        # The last save must happen even if the stop comes before its process has begun.
        pid = process.fork(f"presage-{name}", work, holds_stop=name == SNAPSHOTS_PROCESS)
        self._processes[name] = ChildProcess(work, pid, time.monotonic())

    def _task(self, name: str, work: Callable[[], None]) -> bool:
        """Run one child to its end, and return whether it succeeded.

        Other children that die meanwhile are restarted.
        """
        pid = process.fork(f"presage-{name}", work)
        self._tasks[pid] = None
        while self._tasks[pid] is None and not self._is_stopping:
            self._wait(1.0)
        return self._tasks[pid] == 0

    def _wait(self, seconds: float) -> None:
        select.select([self._signals], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self._signals, 4096)
        for pid, status in _ended():
            if self._tasks.get(pid, status) is None:  # the system may reuse the id of an ended task
                self._tasks[pid] = status
            elif not self._is_stopping:
                self._replace(pid, status)

    def _replace(self, pid: int, status: int) -> None:
        """Restart a process that has ended; if it was the emulated AWS, stop the stack."""
        name = next((n for n, child in self._processes.items() if child.pid == pid), None)
        if name is None:
            return
        if name == AWS_PROCESS:
            self._fail(
                f"the emulated AWS ended ({_describe_end(status)}); changes since the last save "
                "are lost."
            )
            return
        old = self._processes[name]
        if time.monotonic() - old.started < RESTART_SECONDS:
            time.sleep(RESTART_SECONDS)
        self._add(name, old.work)
        say(f"{name} (process {pid}) ended ({_describe_end(status)}); it was started again as "
            f"process {self._processes[name].pid}.")  # fmt: skip
        self._describe(self._settings)

    def _describe(self, settings: Settings) -> None:
        """Write the file that tells other commands how to reach the stack."""
        description = {
            "pid": os.getpid(),
            "url": address(self._front),
            "aws_endpoint": self._endpoint_url,
            "name": settings.name,
            "region": settings.region,
            "backend": self._options.backend,
            "is_ready": self._is_ready,
            "processes": {name: child.pid for name, child in self._processes.items()},
            "environment": {n: os.environ[n] for n in SHARED if n in os.environ},
        }
        try:
            self._state.write_stack(description)
        except OSError as error:
            say(f"{self._state.folder} cannot be written ({error.strerror}); stack.json is "
                "out of date.")  # fmt: skip

    def _fail(self, text: str) -> None:
        say(text)
        self._status = 1
        self._is_stopping = True

    def _fail_start(self, text: str = "") -> None:
        """End the start with a failure, unless the start was interrupted by a stop."""
        if self._is_stopping:
            return
        if text:
            say(text)
        self._status, self._is_stopping = 1, True

    def _watch_signals(self) -> None:
        self._signals, written = os.pipe()
        for end in (self._signals, written):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_stop)

    def _on_stop(self, *_: Any) -> None:
        self._is_stopping = True

    def _stop(self) -> None:
        """Stop all processes, and kill processes that take too long."""
        self._is_stopping = True
        # The data is saved after the last write, and this needs the emulated AWS.
        last = (SNAPSHOTS_PROCESS, AWS_PROCESS)
        others = {child.pid for name, child in self._processes.items() if name not in last}
        others |= {pid for pid, status in self._tasks.items() if status is None}
        # The front ends without a signal after its last calls.
        longest = max(STOP_SECONDS, self._options.drain_seconds + _EXIT_SECONDS)
        _end(others, time.monotonic() + longest)
        for name, seconds in zip(last, (SAVE_SECONDS, STOP_SECONDS), strict=True):
            if name in self._processes:
                pid = self._processes[name].pid
                statuses = _end({pid}, time.monotonic() + seconds)
                if name == SNAPSHOTS_PROCESS and statuses.get(pid):
                    self._saving_failed(statuses[pid])
        if self._has_saved:
            self._state.remove_stack()

    def _saving_failed(self, status: int) -> None:
        """End with a failure, but keep stack.json, so that the next start notices the failure."""
        self._status, self._has_saved = 1, False
        if os.WIFSIGNALED(status):
            since = f"{self._saving.saved_at.astimezone():%Y-%m-%d %H:%M:%S}"
            say(f"NOT SAVED: changes since {since} are lost. The cause: the last save was ended by "
                f"{_describe_end(status)}; it has {SAVE_SECONDS:g} seconds.")  # fmt: skip


def import_modules(names: Sequence[str]) -> None:
    """Import modules by name."""
    for name in names:
        importlib.import_module(name)


def load(place: str) -> Any:
    """Import an application given as `module:attribute`, and modules that all children use."""
    import_modules(SHARED_MODULES)
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _ended() -> list[tuple[int, int]]:
    """Return the process id and the wait status of each child that has ended."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found.append((pid, status))


def _end(pids: set[int], deadline: float) -> dict[int, int]:
    """Stop children, and kill them at the deadline; return their wait statuses by process id."""
    statuses: dict[int, int] = {}
    left = {pid for pid in pids if _send(pid, signal.SIGTERM)}
    for pid in left:
        _send(pid, signal.SIGCONT)  # A paused process would not receive the signal otherwise.
    while left:
        if time.monotonic() > deadline:
            for pid in left:
                _send(pid, signal.SIGKILL)
        statuses |= _ended()
        left -= set(statuses)
        left = {pid for pid in left if _send(pid, 0)}
        time.sleep(0.01)
    return statuses


def _send(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def _describe_end(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"status {os.waitstatus_to_exitcode(status)}"
