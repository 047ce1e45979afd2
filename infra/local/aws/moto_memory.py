"""Limits the memory of the emulated AWS to the data that it stores.

Moto keeps every instance of its models for its dashboard and its reset: deleted objects and
messages, earlier states of rows, rows of query results, and a copy of every table for each
transaction. Neither dashboard nor reset is used here.
"""

from __future__ import annotations

import ctypes
from typing import Any

from moto.core.common_models import BaseModel

_M_MMAP_THRESHOLD = -3  # an option of glibc's mallopt
# Larger blocks are returned to the system as soon as they are free: glibc's initial value.
_BLOCK_BYTES = 128 * 1024


def bound_memory() -> None:
    """Stop moto from listing its instances, and return the memory of deleted objects at once."""
    setattr(BaseModel, "__new__", _make)  # noqa: B010 - a method of another package
    # Without this call glibc raises the limit to the largest block freed so far. Objects would then
    # be between small blocks, and their memory would stay with the process.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _BLOCK_BYTES)


def _make(model: type[BaseModel], *_: Any, **__: Any) -> BaseModel:
    """Create an instance that moto does not add to its list."""
    return super(BaseModel, model).__new__(model)
