"""Samples the memory of a running stack's processes during an operation."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.local_stack import LocalStack

PROCESSES = ("aws", "front", "ingest", "train")
MEGABYTE = 1_000_000
LOOK_SECONDS = 0.02
"""Pause between two looks, in seconds."""


@dataclass
class Memory:
    """Resident memory of the stack's processes, in bytes."""

    before: dict[str, int]
    """When the watch began."""
    most: dict[str, int]
    """The most that was seen."""

    def grown(self, name: str) -> float:
        """Return by how much a process grew, in megabytes; 0 for one that runs elsewhere."""
        return (self.most.get(name, 0) - self.before.get(name, 0)) / MEGABYTE


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, shared pages included."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


@contextmanager
def watched(stack: LocalStack) -> Iterator[Memory]:
    """Sample the memory of every process during a block."""
    pids = {name: pid for name, pid in stack.processes.items() if name in PROCESSES}
    before = {name: resident_bytes(pid) for name, pid in pids.items()}
    memory, is_over = Memory(before, dict(before)), threading.Event()

    def look() -> None:
        """Sample until stopped."""
        while not is_over.wait(LOOK_SECONDS):
            for name, pid in pids.items():
                memory.most[name] = max(memory.most[name], resident_bytes(pid))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield memory
    finally:
        is_over.set()
        thread.join()
