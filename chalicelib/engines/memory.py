"""Limits the memory that glibc keeps after large arrays are freed; has no effect without glibc.

Networks that read a page allocate and free hundreds of megabytes in blocks of all sizes. By
default, the heap of each thread stays at its largest size. If each block were returned to the
system at once, half of the time would be spent on allocating memory again.
"""

from __future__ import annotations

import ctypes
from mmap import PAGESIZE
from pathlib import Path

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # options of glibc's mallopt
# Maximum memory of an idle process with all networks loaded, in bytes.
ROOMY_BYTES = 480 * 2**20
# By default, glibc gives each thread a heap, which never shrinks.
_HEAPS = 2
_LARGE_BYTES = 24 * 2**20
_IDLE_BYTES = 64 * 2**20


def bound_memory() -> None:
    """Let threads share two heaps. Freed blocks above 24 MB are returned to the system at once."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _HEAPS)
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _IDLE_BYTES)


def release_memory_beyond(resident_bytes: int = ROOMY_BYTES) -> None:
    """Return free heap memory to the system if the process uses more than `resident_bytes`."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return  # no such file on this system, and no such heaps either
    if pages * PAGESIZE > resident_bytes:
        release_memory()


def release_memory() -> None:
    """Return free heap memory to the system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
