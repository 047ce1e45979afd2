"""Marks HEAD requests, which are answered like GET but must not change anything.

Before code stores data, counts a call or issues a URL, it checks with `current_head_call` that the
request is not a HEAD request.
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
    """False if the length of the answer is unknown, because GET would write something first."""


_CURRENT: ContextVar[HeadCall | None] = ContextVar("presage_head_call", default=None)


@contextmanager
def head_call() -> Iterator[HeadCall]:
    """Mark the request that is answered in the `with` block as a HEAD request."""
    call = HeadCall()
    token = _CURRENT.set(call)
    try:
        yield call
    finally:
        _CURRENT.reset(token)


def current_head_call() -> HeadCall | None:
    """Return the HEAD request that this thread answers; None for any other method."""
    return _CURRENT.get()
