"""Types that several threads decode at once."""

from __future__ import annotations

import threading
from functools import cache

import msgspec

_lock = threading.Lock()


@cache
def prepare(kind: type) -> None:
    """Have msgspec examine a struct or dataclass, before several threads decode it.

    It does so when it first decodes one, and two threads that come to it at the same time end the
    process with a segmentation fault (seen with 0.22.0).
    """
    with _lock:
        msgspec.json.Decoder(kind)
