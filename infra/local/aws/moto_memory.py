"""Lets the emulated AWS keep in memory what it stores, and nothing else.

Moto keeps every instance of its models for its dashboard and its reset: each object and message
that was deleted, the state of a row before each write, each row of a query's answer, and a copy of
every table for each transaction. Neither dashboard nor reset is used here.
"""

from __future__ import annotations

import ctypes
from typing import Any

from moto.core.common_models import BaseModel

_M_MMAP_THRESHOLD = -3  # an option of glibc's mallopt
# Blocks above this size go back to the system as soon as they are free: glibc's first value.
_BLOCK_BYTES = 128 * 1024


def bound_memory() -> None:
    """Keep no instances in this process, and return the memory of deleted objects at once."""
    setattr(BaseModel, "__new__", _make)  # noqa: B010 - a method of another package
    # Without this call glibc raises the limit to the largest block freed so far: objects then lie
    # between small blocks, and what they leave behind stays with the process.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _BLOCK_BYTES)


def _make(model: type[BaseModel], *_: Any, **__: Any) -> BaseModel:
    """Make an instance that nobody takes note of."""
    return super(BaseModel, model).__new__(model)
