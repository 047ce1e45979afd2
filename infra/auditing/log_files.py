"""Log lines out of files: those of the local stack, or any that were copied from a log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TextIO

from infra.local.logs import log_files
from infra.target import CommandError

_MAX_LINE = 64 * 1024
"""Characters of a line that are looked at together; ours are far shorter."""
_TRIES = 5
"""How often a folder is opened anew when its files were rotated meanwhile."""


@contextmanager
def opened(path: Path) -> Iterator[list[TextIO]]:
    """Open a file, or all files of a folder as they are at one moment.

    Raises:
        CommandError: there is none, or one cannot be read.
    """
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(file) for file in _open(path)]
            if not files:
                raise CommandError(
                    f"there are no log lines in {path}; name a file or folder of them by --log, "
                    "or pass --aws for the log group of a deployed stack"
                )
            yield files
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from error


def lines_of(files: Sequence[TextIO]) -> Iterator[str]:
    """Yield the lines of all files from their beginnings."""
    for file in files:
        file.seek(0)
        while line := file.readline(_MAX_LINE):
            yield line


def first_time(files: Sequence[TextIO]) -> datetime | None:
    """Return the time of the oldest line, None when no file begins with a line of ours."""
    found = []
    for file in files:
        file.seek(0)
        try:
            found.append(datetime.fromisoformat(json.loads(file.readline(_MAX_LINE))["time"]))
        except (ValueError, KeyError, TypeError):
            continue
    return min(found, default=None)


def _open(path: Path) -> list[TextIO]:
    """Open what is meant; a folder whose files are rotated meanwhile is opened again."""
    if not path.is_dir():
        return [_text(path)]
    for _ in range(_TRIES):
        before = _inodes(path)
        try:
            files = [_text(file) for file in before]
        except FileNotFoundError:
            continue
        if _inodes(path) == before:
            return files
        for file in files:
            file.close()
    raise CommandError(f"the files of {path} are being rotated; try again")


def _text(path: Path) -> TextIO:
    return path.open(encoding="utf-8", errors="replace")


def _inodes(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_ino for path in log_files(folder)}
