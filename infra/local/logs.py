"""Writes the log lines of the local stack: one rotated file for each process in the state folder.

`python -m infra.accounts audit` reads these files.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from chalicelib import log
from infra.local.state import State

# Size of one file.
MAX_BYTES = 16 * 1024 * 1024
# Number of full files per process.
ROTATED_FILES = 15
SUFFIX = ".jsonl"


class _File(logging.Handler):
    """A log handler that rotates its file at a maximum size. It is faster than Python's handler."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._descriptor = -1
        self._size = 0
        self._has_failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; called by one thread at a time."""
        line = f"{record.getMessage()}\n".encode()
        try:
            if self._descriptor < 0 or self._size + len(line) > MAX_BYTES:
                self._rotate(len(line))
            self._size += os.write(self._descriptor, line)
        except OSError as error:
            # Reported only once, because a full disk must neither stop the stack nor fill the
            # terminal.
            if not self._has_failed:
                self._has_failed = True
                with suppress(OSError):  # the terminal may be a file on the same full disk
                    print(f"log lines are lost: {error}", file=sys.stderr, flush=True)

    def _rotate(self, new_bytes: int) -> None:
        """Open the file; rotate it first if it would get too large with `new_bytes` more bytes."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._path.exists() and self._path.stat().st_size + new_bytes > MAX_BYTES:
            for number in range(ROTATED_FILES, 0, -1):
                older = self._rotated_path(number)
                newer = self._rotated_path(number - 1) if number > 1 else self._path
                if newer.exists():
                    newer.replace(older)
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._size = os.fstat(self._descriptor).st_size

    def _rotated_path(self, number: int) -> Path:
        """Return the path of a full log file, given its number; number 1 is the latest."""
        return self._path.with_name(f"{self._path.name}.{number}")


def write_logs(state: State, process: str) -> None:
    """Write this process's log lines to its file, and severe lines also to the terminal.

    PRESAGE_LOG_LEVEL sets the lowest level for the terminal; by default, this is WARNING.
    """
    state.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = _File(state.logs / f"{process}{SUFFIX}")
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(os.environ.get("PRESAGE_LOG_LEVEL") or "WARNING")
    log.write_to(file, terminal)
    log.capture_libraries()


def archive_logs(state: State) -> None:
    """Move the previous run's logs to `logs.former`, because the new run has none of its data."""
    # The audit compares log lines with counters, so both must belong to the same data.
    if state.logs.exists():
        former = state.logs.with_name("logs.former")
        shutil.rmtree(former, ignore_errors=True)
        state.logs.rename(former)


def log_files(folder: Path) -> list[Path]:
    """Return all log files of a folder, the one with the oldest last line first."""
    found = [path for path in folder.glob(f"*{SUFFIX}*") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime)
