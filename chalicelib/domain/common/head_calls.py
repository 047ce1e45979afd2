"""HEAD requests, which are answered like GET without any effect.

They write nothing, count nothing and issue no URL. Code with such an effect first checks
`current_head_call`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class HeadCall:
    """A HEAD request that is being answered."""

    has_length: bool = True
    """False when the length of GET's answer cannot be known without writing something."""


_CURRENT: ContextVar[HeadCall | None] = ContextVar("presage_head_call", default=None)


@contextmanager
def head_call() -> Iterator[HeadCall]:
    """Answer a HEAD request within the block."""
    call = HeadCall()
    token = _CURRENT.set(call)
    try:
        yield call
    finally:
        _CURRENT.reset(token)


def current_head_call() -> HeadCall | None:
    """Return the HEAD request that this thread answers; None for any other method."""
    return _CURRENT.get()
