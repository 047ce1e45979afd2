"""Sizes of tests that are small at every change, and full in `make growth`."""

from __future__ import annotations

import os

IS_FULL = bool(os.environ.get("PRESAGE_FULL_SIZE"))


def size(usual: int, full: int) -> int:
    """Choose how many of something a test makes."""
    return full if IS_FULL else usual
