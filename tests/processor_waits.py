"""Measures how long the processes of a test waited for a free processor (Linux)."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

_PROCESSES = Path("/proc")
_NANOSECOND = 1e-9


@dataclass(frozen=True)
class ProcessorWaits:
    """Times for which the threads of child processes were ready but had no processor."""

    nanoseconds: dict[Path, int]
    """Total time of each thread since its start."""

    @classmethod
    def measure(cls) -> ProcessorWaits:
        """Read the times of all children of this process, of their children, and so on.

        The kernel counts them in the second field of `schedstat`. Systems without this file have
        no times.
        """
        threads = (
            thread
            for process in _descendants(os.getpid())
            for thread in _PROCESSES.glob(f"{process}/task/*/schedstat")
        )
        return cls({thread: int(_fields(thread)[1]) for thread in threads})

    def seconds_since(self, earlier: ProcessorWaits) -> float:
        """Return the waiting time after `earlier` was measured, of the process that waited longest.

        The waits of its threads are added; threads that have ended are left out.
        """
        waits: Counter[str] = Counter()
        for thread, total in self.nanoseconds.items():
            waits[thread.parts[2]] += max(0, total - earlier.nanoseconds.get(thread, 0))
        return _NANOSECOND * max(waits.values(), default=0)


def _descendants(process: int) -> list[int]:
    """Return the ids of the child processes, of their children, and so on."""
    children = defaultdict(list)
    for status in _PROCESSES.glob("[0-9]*/stat"):
        # The name before the last parenthesis may contain spaces; the parent is two fields later.
        parent = _fields(status, after=")")[1]
        children[int(parent)].append(int(status.parent.name))
    found = list(children[process])
    for child in found:
        found.extend(children[child])
    return found


def _fields(file: Path, after: str = "") -> list[str]:
    """Return the fields of a line, or zeros if the process has ended."""
    try:
        line = file.read_text()
    except OSError:
        return ["0", "0"]
    return (line.rpartition(after)[2] if after else line).split()
