"""Log lines of the local stack: a file for each process, rotated, below the state folder.

`python -m infra.accounts audit` reads them.
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

# Of one file.
MAX_BYTES = 16 * 1024 * 1024
# Files of a process that are kept besides the one that is written.
FORMER_FILES = 15
SUFFIX = ".jsonl"


class _File(logging.Handler):
    """A file of lines that turns over when it is full.

    Python's own rotating handler takes three times as long for a line. When the file cannot be
    written that is said once, and the stack goes on.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._descriptor = -1
        self._size = 0
        self._has_failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line whole; called by one thread at a time."""
        line = f"{record.getMessage()}\n".encode()
        try:
            if self._descriptor < 0 or self._size + len(line) > MAX_BYTES:
                self._turn(len(line))
            self._size += os.write(self._descriptor, line)
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                with suppress(OSError):  # the terminal may be a file on the same full disk
                    print(f"log lines are lost: {error}", file=sys.stderr, flush=True)

    def _turn(self, needed: int) -> None:
        """Open the file; one without room for so many bytes becomes a former one first."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._path.exists() and self._path.stat().st_size + needed > MAX_BYTES:
            for number in range(FORMER_FILES, 0, -1):
                older = self._former(number)
                newer = self._former(number - 1) if number > 1 else self._path
                if newer.exists():
                    newer.replace(older)
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._size = os.fstat(self._descriptor).st_size

    def _former(self, number: int) -> Path:
        """Return the path of a former file, 1 being the latest."""
        return self._path.with_name(f"{self._path.name}.{number}")


def write_logs(state: State, process: str) -> None:
    """Send this process's lines to its file, and to the terminal those that were asked for.

    Without PRESAGE_LOG_LEVEL the terminal shows warnings and errors.

    Args:
        state: the state folder.
        process: name of the process.
    """
    state.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = _File(state.logs / f"{process}{SUFFIX}")
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(os.environ.get("PRESAGE_LOG_LEVEL") or "WARNING")
    log.write_to(file, terminal)
    log.capture_libraries()


def archive_logs(state: State) -> None:
    """Move the lines of former data away: whoever compares lines with counters needs one world."""
    if state.logs.exists():
        former = state.logs.with_name("logs.former")
        shutil.rmtree(former, ignore_errors=True)
        state.logs.rename(former)


def log_files(folder: Path) -> list[Path]:
    """List the files of lines in a folder, rotated ones included, by time of the last line."""
    found = [path for path in folder.glob(f"*{SUFFIX}*") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime)
