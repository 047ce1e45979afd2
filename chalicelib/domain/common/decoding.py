"""Prepares types before several threads decode them at the same time."""

from __future__ import annotations

import threading
from functools import cache

import msgspec

_lock = threading.Lock()


@cache
def prepare(kind: type) -> None:
    """Make msgspec inspect a struct or dataclass type before several threads decode it at once."""
    # msgspec 0.22.0 inspects a type at its first decoding, and two threads that do so at once crash
    # the process with a segmentation fault.
    with _lock:
        msgspec.json.Decoder(kind)
