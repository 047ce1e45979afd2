"""How pieces of a stack are killed."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from infra.backups.folder import BackupFolder
from tests.local_stack import LocalStack

PATIENCE = 60.0
"""Longest wait for work that was killed, in seconds."""


def kill(stack: LocalStack, name: str) -> None:
    """Kill a piece and wait until the supervisor has started it again."""
    old = stack.kill_worker(name)
    while stack.processes[name] == old:
        time.sleep(0.02)


def wait(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def has_saved(stack: LocalStack) -> bool:
    """Tell whether data was saved, and not only the folder made."""
    manifest = BackupFolder(stack.state.data).manifest()
    return manifest is not None and bool(manifest.tables)


def saved_at(stack: LocalStack) -> float:
    """When the last whole copy of the data was begun, in seconds since 1970; 0 for never."""
    manifest = BackupFolder(stack.state.data).manifest()
    return datetime.fromisoformat(manifest.created_at).timestamp() if manifest else 0.0


def wait_for_saves(stack: LocalStack, every_seconds: float) -> None:
    """Wait until a copy has been begun, ended, and begun again since now."""
    begun = time.time()
    while saved_at(stack) <= begun + every_seconds:
        assert time.time() - begun < PATIENCE, "nothing was saved"
        time.sleep(0.05)


def set_room(stack: LocalStack, size: int) -> None:
    """Let the process that saves write no larger files, whatever room the disk has."""
    pid = stack.processes["keeper"]
    hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


def flip(path: Path) -> None:
    """Change one byte in the middle of a file."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
