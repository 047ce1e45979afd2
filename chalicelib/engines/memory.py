"""Bounds the memory that the C library keeps behind large arrays; glibc only, harmless elsewhere.

Called by chalicelib/services/ocr.py. Networks that read a page allocate and free hundreds of
megabytes in blocks of all sizes: left alone, each thread's heap keeps the most it ever held;
returned block by block, half of the time goes into fetching the same memory again.
"""

from __future__ import annotations

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # options of glibc's mallopt
_HEAPS = 2
_LARGE_BYTES = 24 * 2**20
_IDLE_BYTES = 64 * 2**20


def bound_memory() -> None:
    """Let threads share two heaps, and return only blocks above 24 MB at once."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _HEAPS)
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _IDLE_BYTES)


def give_back() -> None:
    """Return what is free in the heaps to the system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
