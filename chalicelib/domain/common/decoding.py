"""Prepares types, so that several threads can decode JSON to these types at the same time."""

from __future__ import annotations

import threading
from functools import cache

import msgspec

_lock = threading.Lock()


@cache
def prepare(kind: type) -> None:
    """Make msgspec inspect a struct or dataclass type before several threads decode JSON to it."""
    # msgspec 0.22.0 inspects a type at its first decoding, and two threads that do so at once crash
    # the process with a segmentation fault.
    with _lock:
        msgspec.json.Decoder(kind)
