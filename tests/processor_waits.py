"""Measures how long the processes of a test waited for a free processor (Linux)."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

_NANOSECOND = 1e-9


@dataclass(frozen=True)
class ProcessorWaits:
    """Times for which the threads of child processes were ready but had no processor."""

    nanoseconds: dict[tuple[int, str], int]
    """Total time of each thread since its start, by the ids of its process and of the thread."""

    @classmethod
    def measure(cls) -> ProcessorWaits:
        """Read the times of all children of this process, of their children, and so on.

        The kernel counts them in the second field of `schedstat`. Systems without this file have
        no times.
        """
        found: dict[tuple[int, str], int] = {}
        for process in _descendants(os.getpid()):
            for thread in _threads(process):
                fields = _fields(f"/proc/{process}/task/{thread}/schedstat")
                found[process, thread] = int(fields[1]) if fields else 0
        return cls(found)

    def seconds_since(self, earlier: ProcessorWaits) -> float:
        """Return the waiting time after `earlier` was measured, of the process that waited longest.

        The waits of its threads are added; threads that have ended are left out.
        """
        waits: Counter[int] = Counter()
        for thread, total in self.nanoseconds.items():
            waits[thread[0]] += max(0, total - earlier.nanoseconds.get(thread, 0))
        return _NANOSECOND * max(waits.values(), default=0)


def _descendants(process: int) -> list[int]:
    """Return the ids of the child processes, of their children, and so on."""
    found = [process]
    for parent in found:
        for thread in _threads(parent):
            found += map(int, _fields(f"/proc/{parent}/task/{thread}/children"))
    return found[1:]


def _threads(process: int) -> list[str]:
    """Return the ids of the threads of a process, or none if it has ended."""
    try:
        return os.listdir(f"/proc/{process}/task")
    except OSError:
        return []


def _fields(path: str) -> list[bytes]:
    """Return the fields of a line, or none if the process has ended."""
    # Read without a file object: a test measures hundreds of files twenty times a second.
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return []
    try:
        return os.read(file, 4096).split()
    except OSError:
        return []
    finally:
        os.close(file)
