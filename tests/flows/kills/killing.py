"""Helpers that kill processes of a stack at chosen moments.

`make test` kills once in each test, when the stack shows that the work has begun. `make kills` sets
PRESAGE_KILL_ROUNDS and kills that often, at random moments.
"""

from __future__ import annotations

import os
import random
import resource
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from infra.backups.folder import BackupFolder
from tests.flows.client import LANGUAGE, Client
from tests.local_stack import LocalStack

IS_LONG = "PRESAGE_KILL_ROUNDS" in os.environ
"""Whether the kills come at random moments."""
ROUNDS = int(os.environ.get("PRESAGE_KILL_ROUNDS", "1"))
"""Kills in a row."""
PATIENCE = 240.0
"""Longest wait for work that was killed, in seconds."""


def kill(stack: LocalStack, name: str) -> None:
    """Kill a process and wait until the supervisor has restarted it."""
    old = stack.kill_worker(name)
    wait(lambda: stack.processes[name] != old)


def wait(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: it did not happen in time.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing happened for {seconds:g} s")
        time.sleep(0.05)


def wait_for_moment(
    has_begun: Callable[[], bool], chance: random.Random, least: float, most: float
) -> None:
    """Wait for the moment of a kill: an event, or a random time in the long tier.

    Args:
        has_begun: returns whether the work that the kill is to interrupt has begun.
        chance: draws the time.
        least: shortest time, in seconds.
        most: longest time, in seconds.
    """
    if IS_LONG:
        time.sleep(chance.uniform(least, most))
    else:
        wait(has_begun)


def has_lines_done(client: Client, batch_id: str, base: str = LANGUAGE) -> bool:
    """Return whether a part of a batch has been answered."""
    return bool(client.get(f"{base}/batches/{batch_id}").ok["counts"]["done"])


def saved_at(stack: LocalStack) -> float:
    """Return when the latest complete save began, in seconds since 1970; 0 if there is none."""
    manifest = BackupFolder(stack.state.data).manifest()
    return datetime.fromisoformat(manifest.created_at).timestamp() if manifest else 0.0


def wait_for_saves(stack: LocalStack, every_seconds: float) -> None:
    """Wait until a save that began at least one interval from now is complete."""
    begun = time.time()
    wait(lambda: saved_at(stack) > begun + every_seconds)


def limit_saves(stack: LocalStack, size: int) -> None:
    """Limit the files that the saving process writes, as a full disk does, to a size in bytes."""
    pid = stack.processes["keeper"]
    hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


def flip_byte(path: Path) -> None:
    """Change one byte in the middle of a file."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
